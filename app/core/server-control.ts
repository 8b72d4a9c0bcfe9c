import { randomBytes } from 'node:crypto';
import {
  type EventName,
  type EventPayload,
  type Handlers,
  LonghandError,
  type NetworkState,
  type Report,
  type ServerKey,
  type ServerState,
  type Settings,
  type SettingsPatch,
  type TurnId,
} from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import {
  addServerKey,
  knownServerKeys,
  listServerKeys,
  noteServerKeyUse,
  removeServerKey,
} from '../store/server-keys.ts';
import { createInference, type Inference, type InferenceOptions } from './inference.ts';
import { createRequestLog, digestOf, type KnownKey, type RequestLog } from './server-log.ts';

/** Opens the server for other programs; implemented in app/server and passed in by the shell.
 *  @throws LonghandError `conflict` where the port is taken, `permission` where it may not be opened */
export type StartServer = (options: {
  inference: Inference;
  version: string;
  port: number;
  keys: () => readonly KnownKey[];
  refused(refused: { status: number; reason: string; method: string; path: string; host: string }): void;
  follow: RequestLog['follow'];
  origins: () => readonly string[];
  network: { port: number; dataFolder: string; certificate: Settings['serverCertificate'] } | null;
}) => Promise<{ address: string; port: number; network: NetworkState; close(): Promise<void> }>;

export type ServerControlOptions = {
  db: Database;
  dataFolder: string;
  emit: <Name extends EventName>(name: Name, payload: EventPayload<Name>) => void;
  engine: InferenceOptions['engine'];
  library: InferenceOptions['library'];
  builtIn: InferenceOptions['builtIn'];
  keepAlive: InferenceOptions['keepAlive'];
  pictures: InferenceOptions['pictures'];
  /** null: the core of a single command, without a server. */
  start: StartServer | null;
  version: string;
  settings: () => Settings;
  /** Shown on the Privacy page. */
  turnedAway: (visitor: { host: string; about: string }) => void;
  newId: () => string;
  now: () => number;
  report: Report;
};

const maxKeys = 50;
/** How many ports after a taken one are tried. */
const portsTried = 20;
/** Minimum interval between writes of a key's last use. */
const usedMs = 60_000;

/** The settings that it is started with. */
const APPLIED = ['serverOn', 'serverPort', 'serverNetwork', 'serverNetworkPort', 'serverCertificate'] as const;

type ServerCalls = Pick<Handlers, Extract<keyof Handlers, `server.${string}`>>;

export type ServerControl = {
  handlers: ServerCalls;
  /** Inference for other programs, without the server in front. */
  inference: Inference;
  settingsChanged(patch: SettingsPatch): void;
  close(): Promise<void>;
};

/** The server for other programs: on or off as in Settings, its keys, and its request log. */
export function createServerControl(options: ServerControlOptions): ServerControl {
  const {
    db,
    dataFolder,
    emit,
    engine,
    library,
    builtIn,
    keepAlive,
    pictures,
    start,
    settings,
    turnedAway,
    newId,
    now,
    report,
  } = options;
  const inference = createInference({
    engine,
    library,
    builtIn,
    keepAlive,
    settings,
    newTurnId: () => newId() as TurnId,
    pictures,
    report,
  });
  const log = createRequestLog({
    inference,
    inspecting: () => settings().serverInspector,
    changed: (requests) => emit('server.requests', requests),
    now,
    report,
  });
  let keys = knownServerKeys(db);
  let state: ServerState = { phase: 'off' };
  let server: Awaited<ReturnType<StartServer>> | null = null;
  /** Its network, as it was asked for. */
  let served = '';
  let closed = false;
  // Changes are applied one after another: a switch toggled twice ends where it was left.
  let last = Promise.resolve();

  function say(next: ServerState): void {
    state = next;
    emit('server.state', next);
  }

  const networkOf = ({ serverNetwork, serverNetworkPort, serverCertificate }: Settings) =>
    serverNetwork ? { port: serverNetworkPort, dataFolder, certificate: serverCertificate } : null;

  const open = (port: number, network: ReturnType<typeof networkOf>) =>
    start?.({
      inference: log.inference,
      version: options.version,
      port,
      network,
      keys: () => keys,
      origins: () => settings().serverOrigins,
      refused(refused) {
        log.refused(refused);
        turnedAway({ host: refused.host, about: refused.path });
      },
      follow(asked, handle) {
        if (asked.key && noteServerKeyUse(db, asked.key.id, now(), usedMs)) emit('server.keys', listServerKeys(db));
        return log.follow(asked, handle);
      },
    });

  async function follow(): Promise<void> {
    const { serverOn, serverPort } = settings();
    const network = networkOf(settings());
    const wanted = serverOn && !closed && start !== null;
    if (server && (!wanted || server.port !== serverPort || JSON.stringify(network) !== served)) {
      await server.close();
      server = null;
    }
    if (!wanted) return state.phase === 'off' ? undefined : say({ phase: 'off' });
    if (server) return;
    say({ phase: 'starting' });
    try {
      server = (await open(serverPort, network)) ?? null;
      served = JSON.stringify(network);
      if (server)
        say({
          phase: 'on',
          address: server.address,
          port: server.port,
          network: server.network,
          since: now(),
        });
    } catch (error) {
      say(await failedAt(serverPort, error));
    }
  }

  async function failedAt(port: number, error: unknown): Promise<ServerState> {
    const code = error instanceof LonghandError ? error.code : null;
    const reason = code === 'conflict' ? 'taken' : code === 'permission' ? 'forbidden' : 'other';
    const free = reason === 'other' ? null : await freeAfter(port);
    return {
      phase: 'failed',
      reason,
      port,
      free,
      message: error instanceof Error ? error.message : String(error),
    };
  }

  async function freeAfter(port: number): Promise<number | null> {
    for (let next = port + 1; next <= Math.min(65_535, port + portsTried); next++) {
      const tried = await open(next, null)?.catch(() => null);
      await tried?.close();
      if (tried) return next;
    }
    return null;
  }

  const apply = () => {
    last = last.then(follow).catch(report);
  };

  function addKey(name: string): { key: string; added: ServerKey } {
    const there = listServerKeys(db);
    if (there.length >= maxKeys)
      throw new LonghandError('too-large', `[key] there are already ${maxKeys} keys, which is the limit`);
    if (there.some((one) => one.name.toLowerCase() === name.toLowerCase())) {
      throw new LonghandError('conflict', `[key] "${name}" is the name of another key`);
    }
    const key = `lh-${randomBytes(24).toString('base64url')}`;
    const added = {
      id: newId(),
      name,
      hint: `${key.slice(0, 7)}…${key.slice(-4)}`,
      createdAt: now(),
      usedAt: null,
    };
    addServerKey(db, added, digestOf(key));
    changedKeys();
    return { key, added };
  }

  function changedKeys(): void {
    keys = knownServerKeys(db);
    emit('server.keys', listServerKeys(db));
  }

  apply();
  return {
    inference,
    handlers: {
      'server.state': () => state,
      'server.retry': apply,
      'server.keys': () => listServerKeys(db),
      'server.addKey': ({ name }) => addKey(name),
      'server.revokeKey': ({ id }) => {
        removeServerKey(db, id);
        changedKeys();
        log.stopKey(id);
      },
      'server.requests': log.list,
      'server.texts': ({ id }) => log.texts(id),
      'server.stop': ({ id }) => log.stop(id),
      'server.clear': log.clear,
    },
    settingsChanged(patch) {
      if (APPLIED.some((name) => patch[name] !== undefined)) apply();
      if (patch.serverInspector === false) log.forgetTexts();
    },
    async close() {
      closed = true;
      apply();
      await last;
      log.close();
    },
  };
}
