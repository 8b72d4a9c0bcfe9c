import type { LoadTarget } from '../../engine/ipc-protocol.ts';
import { addressInfoOf, baseOf } from '../../engine/remote/address.ts';
import { type Reach, TIMEOUTS, type Timeouts } from '../../engine/remote/connection.ts';
import { listModels } from '../../engine/remote/models.ts';
import {
  type Emit,
  type Handlers,
  type ListedModel,
  LonghandError,
  type ModelId,
  type RemoteEngine,
  type RemoteEngineId,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { newId } from '../../store/database/uuid.ts';
import type { Cipher } from '../../store/folder/private-file.ts';
import {
  addModel,
  listModels as listRows,
  type ModelRow,
  removeModel,
  setRemoteModel,
} from '../../store/models/models.ts';
import {
  forgetPassagesTo,
  getRemoteEngine,
  listRemoteEngines,
  putRemoteEngine,
  removeRemoteEngine,
  type StoredRemoteEngine,
} from '../../store/models/remote-engines.ts';
import { asFailure } from '../network/error-mapping.ts';
import type { Via } from '../network/request-purpose.ts';
import type { AddressInfo } from '../registry/remote-models.ts';

export type RemoteEngineService = {
  handlers: Pick<Handlers, Extract<keyof Handlers, `remoteEngines.${string}`>>;
  /** How to reach the engine of a model. @throws LonghandError `not-found` */
  reach(target: NonNullable<LoadTarget['remote']>): Promise<Reach>;
  addressInfo: AddressInfo;
};

export type RemoteEngineOptions = {
  db: Database;
  emit: Emit;
  /** Encrypts keys with the system keychain, if there is one. */
  cipher: Cipher | null;
  /** The network, logged on the Privacy page. */
  via: Via;
  /** Called when the list of models has changed. */
  listChanged: () => void;
  now: () => number;
  timeouts?: Timeouts | undefined;
};

export function createRemoteEngines({
  db,
  emit,
  cipher,
  via,
  listChanged,
  now,
  timeouts = TIMEOUTS,
}: RemoteEngineOptions): RemoteEngineService {
  /** Cache of the database rows; only this process writes them. */
  let known: StoredRemoteEngine[] | null = null;
  const stored = () => {
    known ??= listRemoteEngines(db);
    return known;
  };

  function changed() {
    known = null;
    listChanged();
    emit('remoteEngines.changed', stored().map(shownOf));
  }

  const fetchFor =
    (about: string): typeof fetch =>
    (input, init) =>
      via({ reason: 'engine', about })
        .fetch(input, init)
        .catch((error) => {
          throw asFailure(error);
        });

  async function keyOf({ key, sealed }: StoredRemoteEngine): Promise<string | null> {
    if (key === null || sealed === 0) return key;
    const opened = await cipher?.open(key).catch(() => null);
    if (opened != null) return opened;
    throw new LonghandError(
      'remote-failed',
      '[remote] the keychain does not give its key; it has to be entered again',
      {
        details: { reason: 'engine-key', said: '', host: '' },
      },
    );
  }

  async function sealed(given: string | null): Promise<Pick<StoredRemoteEngine, 'key' | 'sealed'>> {
    const key = cleanKey(given);
    if (key === null) return { key, sealed: 0 };
    return cipher ? { key: await cipher.seal(key), sealed: 1 } : { key, sealed: 0 };
  }

  function freeName(name: string, but: RemoteEngineId | null): string {
    const taken = stored().flatMap((one) => (one.id === but ? [] : [one.name.toLowerCase()]));
    let free = name;
    for (let number = 2; taken.includes(free.toLowerCase()); number++) free = `${name} ${number}`;
    return free;
  }

  const rowsOf = (id: RemoteEngineId): ModelRow[] => listRows(db).filter(({ remote }) => remote?.engineId === id);

  /** Replaces the models of an engine. Settings of models that stay are preserved. */
  function keepModels(id: RemoteEngineId, wanted: readonly ListedModel[]) {
    const rows = rowsOf(id);
    for (const { model, contextLength, pictures } of wanted) {
      const before = rows.filter(({ remote }) => remote?.model === model);
      for (const row of before) {
        const sees = row.remote?.pictures ?? false;
        setRemoteModel(db, row.id, { engineId: id, model, contextLength, pictures: pictures ?? sees });
      }
      if (before.length > 0) continue;
      const remote = { engineId: id, model, contextLength, pictures: pictures ?? false };
      addModel(db, { id: newId(now()) as ModelId, name: nameOf(model), path: null, metadata: null, remote }, now());
    }
    const names = new Set(wanted.map(({ model }) => model));
    for (const row of rows) if (!names.has(row.remote?.model ?? '')) removeModel(db, row.id);
  }

  return {
    reach: async ({ engineId }) => {
      const one = getRemoteEngine(db, engineId);
      return { address: one.address, key: await keyOf(one), fetch: fetchFor(one.name) };
    },
    addressInfo(model) {
      const engine = model && stored().find(({ id }) => id === model.engineId);
      if (!model || !engine) return null;
      const { host, here } = addressInfoOf(engine.address);
      return { ...model, engine: engine.name, host, here };
    },
    handlers: {
      'remoteEngines.list': () => stored().map(shownOf),
      async 'remoteEngines.test'({ address, key, engineId }, signal) {
        const base = baseOf(address);
        const before = engineId === undefined ? null : getRemoteEngine(db, engineId);
        const same = before !== null && new URL(before.address).origin === new URL(base).origin;
        const opened = key === null && same ? await keyOf(before) : cleanKey(key);
        const reach = { address: base, key: opened, fetch: fetchFor(before?.name ?? addressInfoOf(base).host) };
        const models = await listModels(reach, signal ?? new AbortController().signal, timeouts);
        const { host, here } = addressInfoOf(base);
        return { address: base, host, here, models };
      },
      async 'remoteEngines.add'({ name, address, key, models }) {
        const base = baseOf(address);
        const secret = await sealed(key);
        const one = {
          id: newId(now()) as RemoteEngineId,
          name: freeName(name, null),
          address: base,
          ...secret,
          createdAt: now(),
        };
        db.transaction(() => {
          putRemoteEngine(db, one);
          keepModels(one.id, models);
        });
        changed();
        return shownOf(one);
      },
      async 'remoteEngines.change'({ engineId, name, address, key, models }) {
        const base = address === undefined ? undefined : baseOf(address);
        const secret = key === undefined ? null : await sealed(key);
        // Read only after all awaits.
        const before = getRemoteEngine(db, engineId);
        const moved = base !== undefined && new URL(base).origin !== new URL(before.address).origin;
        const one = {
          ...before,
          ...(name !== undefined && { name: freeName(name, engineId) }),
          ...(base !== undefined && { address: base }),
          // A key entered for one host is never sent to another.
          ...(moved && { key: null, sealed: 0 }),
          ...secret,
        };
        db.transaction(() => {
          putRemoteEngine(db, one);
          if (moved) forgetPassagesTo(db, engineId);
          if (models) keepModels(engineId, models);
        });
        changed();
        return shownOf(one);
      },
      'remoteEngines.remove'({ engineId }) {
        getRemoteEngine(db, engineId);
        db.transaction(() => {
          for (const { id } of rowsOf(engineId)) removeModel(db, id);
          removeRemoteEngine(db, engineId);
        });
        changed();
      },
      'remoteEngines.setPictures'({ modelId, pictures }) {
        const row = listRows(db).find(({ id }) => id === modelId);
        if (!row?.remote) throw new LonghandError('not-found', `[remote] no model ${modelId} runs elsewhere`);
        setRemoteModel(db, modelId, { ...row.remote, pictures });
        changed();
      },
    },
  };
}

const shownOf = ({ id, name, address, key, createdAt }: StoredRemoteEngine): RemoteEngine => ({
  id,
  name,
  address,
  ...addressInfoOf(address),
  key: key !== null,
  createdAt,
});

/** @throws LonghandError `bad-request` */
function cleanKey(given: string | null): string | null {
  const key = given?.trim() ?? '';
  if (/[^\x21-\x7e]/.test(key))
    throw new LonghandError(
      'bad-request',
      '[remote] a character that no key has; letters, digits and signs are allowed',
    );
  return key === '' ? null : key;
}

/** The name without owner or folder. */
const nameOf = (model: string): string => model.replace(/^.*\/(?=[^/]*[^/\s])/, '').slice(0, 200);
