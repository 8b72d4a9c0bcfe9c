import { addressInfoOf, baseOf } from '../../engine/elsewhere/address.ts';
import { type Reach, TIMEOUTS, type Timeouts } from '../../engine/elsewhere/connection.ts';
import { listModels } from '../../engine/elsewhere/models.ts';
import type { LoadTarget } from '../../engine/ipc-protocol.ts';
import {
  type Elsewhere,
  type ElsewhereId,
  type Emit,
  type Handlers,
  type ListedModel,
  LonghandError,
  type ModelId,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { newId } from '../../store/database/uuid.ts';
import {
  forgetPassagesTo,
  getElsewhere,
  listElsewhere,
  putElsewhere,
  removeElsewhere,
  type StoredElsewhere,
} from '../../store/models/elsewhere.ts';
import {
  addModel,
  listModels as listRows,
  type ModelRow,
  removeModel,
  setModelElsewhere,
} from '../../store/models/models.ts';
import { asFailure } from '../network/error-mapping.ts';
import type { Via } from '../network/request-purpose.ts';
import type { AddressInfo } from '../registry/elsewhere-models.ts';
import type { Cipher } from '../sources/access-tokens.ts';

export type ElsewhereService = {
  handlers: Pick<Handlers, Extract<keyof Handlers, `elsewhere.${string}`>>;
  /** How to reach the engine of a model. @throws LonghandError `not-found` */
  reach(target: NonNullable<LoadTarget['elsewhere']>): Promise<Reach>;
  addressInfo: AddressInfo;
};

export type ElsewhereOptions = {
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

export function createElsewhere({
  db,
  emit,
  cipher,
  via,
  listChanged,
  now,
  timeouts = TIMEOUTS,
}: ElsewhereOptions): ElsewhereService {
  /** Cache of the database rows; only this process writes them. */
  let known: StoredElsewhere[] | null = null;
  const stored = () => {
    known ??= listElsewhere(db);
    return known;
  };

  function changed() {
    known = null;
    listChanged();
    emit('elsewhere.changed', stored().map(shownOf));
  }

  const fetchFor =
    (about: string): typeof fetch =>
    (input, init) =>
      via({ reason: 'engine', about })
        .fetch(input, init)
        .catch((error) => {
          throw asFailure(error);
        });

  async function keyOf({ key, sealed }: StoredElsewhere): Promise<string | null> {
    if (key === null || sealed === 0) return key;
    const opened = await cipher?.open(key).catch(() => null);
    if (opened != null) return opened;
    throw new LonghandError(
      'elsewhere-failed',
      '[elsewhere] the keychain does not give its key; it has to be entered again',
      {
        details: { reason: 'engine-key', said: '', host: '' },
      },
    );
  }

  async function sealed(given: string | null): Promise<Pick<StoredElsewhere, 'key' | 'sealed'>> {
    const key = cleanKey(given);
    if (key === null) return { key, sealed: 0 };
    return cipher ? { key: await cipher.seal(key), sealed: 1 } : { key, sealed: 0 };
  }

  function freeName(name: string, but: ElsewhereId | null): string {
    const taken = stored().flatMap((one) => (one.id === but ? [] : [one.name.toLowerCase()]));
    let free = name;
    for (let number = 2; taken.includes(free.toLowerCase()); number++) free = `${name} ${number}`;
    return free;
  }

  const rowsOf = (id: ElsewhereId): ModelRow[] => listRows(db).filter(({ elsewhere }) => elsewhere?.engineId === id);

  /** Replaces the models of an engine. Settings of models that stay are preserved. */
  function keepModels(id: ElsewhereId, wanted: readonly ListedModel[]) {
    const rows = rowsOf(id);
    for (const { model, contextLength, pictures } of wanted) {
      const before = rows.filter(({ elsewhere }) => elsewhere?.model === model);
      for (const row of before) {
        const sees = row.elsewhere?.pictures ?? false;
        setModelElsewhere(db, row.id, { engineId: id, model, contextLength, pictures: pictures ?? sees });
      }
      if (before.length > 0) continue;
      const elsewhere = { engineId: id, model, contextLength, pictures: pictures ?? false };
      addModel(db, { id: newId(now()) as ModelId, name: nameOf(model), path: null, metadata: null, elsewhere }, now());
    }
    const names = new Set(wanted.map(({ model }) => model));
    for (const row of rows) if (!names.has(row.elsewhere?.model ?? '')) removeModel(db, row.id);
  }

  return {
    reach: async ({ engineId }) => {
      const one = getElsewhere(db, engineId);
      return { address: one.address, key: await keyOf(one), fetch: fetchFor(one.name) };
    },
    addressInfo(model) {
      const engine = model && stored().find(({ id }) => id === model.engineId);
      if (!model || !engine) return null;
      const { host, here } = addressInfoOf(engine.address);
      return { ...model, engine: engine.name, host, here };
    },
    handlers: {
      'elsewhere.engines': () => stored().map(shownOf),
      async 'elsewhere.test'({ address, key, engineId }, signal) {
        const base = baseOf(address);
        const before = engineId === undefined ? null : getElsewhere(db, engineId);
        const same = before !== null && new URL(before.address).origin === new URL(base).origin;
        const opened = key === null && same ? await keyOf(before) : cleanKey(key);
        const reach = { address: base, key: opened, fetch: fetchFor(before?.name ?? addressInfoOf(base).host) };
        const models = await listModels(reach, signal ?? new AbortController().signal, timeouts);
        const { host, here } = addressInfoOf(base);
        return { address: base, host, here, models };
      },
      async 'elsewhere.add'({ name, address, key, models }) {
        const base = baseOf(address);
        const secret = await sealed(key);
        const one = {
          id: newId(now()) as ElsewhereId,
          name: freeName(name, null),
          address: base,
          ...secret,
          createdAt: now(),
        };
        db.transaction(() => {
          putElsewhere(db, one);
          keepModels(one.id, models);
        });
        changed();
        return shownOf(one);
      },
      async 'elsewhere.change'({ engineId, name, address, key, models }) {
        const base = address === undefined ? undefined : baseOf(address);
        const secret = key === undefined ? null : await sealed(key);
        // Read only after all awaits.
        const before = getElsewhere(db, engineId);
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
          putElsewhere(db, one);
          if (moved) forgetPassagesTo(db, engineId);
          if (models) keepModels(engineId, models);
        });
        changed();
        return shownOf(one);
      },
      'elsewhere.remove'({ engineId }) {
        getElsewhere(db, engineId);
        db.transaction(() => {
          for (const { id } of rowsOf(engineId)) removeModel(db, id);
          removeElsewhere(db, engineId);
        });
        changed();
      },
      'elsewhere.setPictures'({ modelId, pictures }) {
        const row = listRows(db).find(({ id }) => id === modelId);
        if (!row?.elsewhere) throw new LonghandError('not-found', `[elsewhere] no model ${modelId} runs elsewhere`);
        setModelElsewhere(db, modelId, { ...row.elsewhere, pictures });
        changed();
      },
    },
  };
}

const shownOf = ({ id, name, address, key, createdAt }: StoredElsewhere): Elsewhere => ({
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
      '[elsewhere] a character that no key has; letters, digits and signs are allowed',
    );
  return key === '' ? null : key;
}

/** The name without owner or folder. */
const nameOf = (model: string): string => model.replace(/^.*\/(?=[^/]*[^/\s])/, '').slice(0, 200);
