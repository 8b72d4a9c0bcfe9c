import { createSupervisor, type SupervisorOptions, type SupervisorStatus } from '../../process/supervisor.ts';
import {
  type EngineStatus,
  type Failure,
  failureOf,
  guarded,
  LonghandError,
  type PauseAction,
  type Report,
  type TurnId,
} from '../../protocol/index.ts';
import {
  type AskName,
  type Asks,
  answerOf,
  type FromEngine,
  type Generation,
  type InnerStatus,
  isFromEngine,
  type Loaded,
  type LoadTarget,
  type StartEngine,
  type ToEngine,
  type TurnUpdate,
} from '../ipc-protocol.ts';
import { createHeartbeat, type HeartbeatLimits } from './heartbeat.ts';

export type Engine = {
  status(): EngineStatus;
  /** Waits for the process if it is starting. @throws LonghandError from the engine, or `engine-lost` */
  ask<Name extends AskName>(name: Name, input: Asks[Name]['input']): Promise<Asks[Name]['output']>;
  /** Loads this model, and reloads it after a restart of the process. Resolves at once if it is already loaded. */
  load(target: LoadTarget): Promise<Loaded>;
  /** Cancels the load in progress; its callers get `cancelled`. */
  cancelLoad(): void;
  unload(): Promise<void>;
  /** The model that is loaded or loading. */
  target(): LoadTarget | null;
  /** Loads the model if necessary. Exactly one `finished` or `failed` comes last, whatever happens, even if `onUpdates`
   *  throws; then generation stops. */
  generate(generation: Generation, onUpdates: (updates: TurnUpdate[]) => void): void;
  cancel(turnId: TurnId): void;
  answerNow(turnId: TurnId): void;
  decide(turnId: TurnId, choice: PauseAction): void;
  restart(): Promise<void>;
  close(): Promise<void>;
};

type Waiting = { name: AskName; resolve: (value: never) => void; reject: (error: unknown) => void };

export type EngineOptions = {
  startEngine: StartEngine;
  onStatus: (status: EngineStatus) => void;
  /** Receives what a listener threw; printed by default. */
  report?: Report;
  heartbeat?: Partial<HeartbeatLimits>;
} & Pick<SupervisorOptions<ToEngine, FromEngine>, 'waits' | 'quitWaitMs' | 'now'>;

export function createEngine(options: EngineOptions): Engine {
  const { onStatus, startEngine, report = console.error, heartbeat: limits, ...supervision } = options;
  const told = guarded(report, onStatus);
  let status: EngineStatus = { phase: 'idle' };
  let outer: SupervisorStatus = { phase: 'starting' };
  let up = deferred();
  let wanted: LoadTarget | null = null;
  let loading: { key: string; done: Promise<Loaded> } | null = null;
  let lastId = 0;
  const asks = new Map<number, Waiting>();
  /** Turns waiting for the process to start. */
  const unsent = new Set<TurnId>();
  const turns = new Map<TurnId, (updates: TurnUpdate[]) => void>();

  const supervisor = createSupervisor<ToEngine, FromEngine>({
    ...supervision,
    start: startEngine,
    quit: { quit: true },
    onStatus: guarded(report, outerChanged),
    onMessage: guarded(report, receive),
    onLost: guarded(report, lost),
  });

  const heartbeat = createHeartbeat(
    () => tell({ beat: true }),
    (seen) => hung(seen),
    limits,
  );

  const hung = (seen: string) => abandon(`the process hung (${seen}) and was ended`, { reason: 'hung' });

  /** Gives up the process. The model it failed with is not reloaded automatically. */
  function abandon(why: string, details?: Failure['details']) {
    wanted = null;
    supervisor.abandon({ code: 'engine-lost', message: `[engine] ${why}`, ...(details && { details }) });
  }

  const watch = () => heartbeat.needed(asks.size > 0 || turns.size > unsent.size);

  function show(next: EngineStatus) {
    status = next;
    told(next);
  }

  function outerChanged(next: SupervisorStatus) {
    if (outer.phase === 'stopped') up = deferred();
    outer = next;
    if (next.phase === 'up') {
      up.resolve();
      show({ phase: 'idle' });
      // Reload the model that was in memory. A failure surfaces on its next use.
      if (wanted) load(wanted).catch(() => {});
    } else if (next.phase === 'restarting' || next.phase === 'stopped') {
      show(next);
      if (next.phase === 'stopped') up.reject(lostError());
    }
  }

  function receive(message: FromEngine) {
    // Messages are forwarded to the page, so a process that sends malformed ones is given up.
    if (!isFromEngine(message)) return abandon('the process sent what is no message, and was ended');
    if ('status' in message) return innerChanged(message.status);
    if ('turnId' in message) return updateTurn(message.turnId, message.updates);
    if ('pulse' in message) return heartbeat.answered(message.pulse);
    const waiting = asks.get(message.id);
    asks.delete(message.id);
    watch();
    if (!waiting) return;
    if ('failure' in message) {
      const { code, message: text, details } = message.failure;
      waiting.reject(new LonghandError(code, text, details ? { details } : {}));
    } else {
      try {
        waiting.resolve(answerOf(waiting.name, message.value) as never);
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  function innerChanged(inner: InnerStatus) {
    if (outer.phase === 'up') show(inner);
  }

  function updateTurn(turnId: TurnId, updates: TurnUpdate[]) {
    const listener = turns.get(turnId);
    if (!listener) return;
    const ended = updates.some(({ event }) => event.type === 'finished' || event.type === 'failed');
    if (ended) turns.delete(turnId);
    watch();
    try {
      listener(updates);
    } catch (error) {
      report(error);
      if (!ended && turns.delete(turnId)) giveUp(turnId, listener, failureOf(error));
    }
  }

  function giveUp(turnId: TurnId, listener: (updates: TurnUpdate[]) => void, failure: Failure) {
    unsent.delete(turnId);
    tell({ cancel: turnId });
    guarded(report, listener)([{ event: { type: 'failed', failure } }]);
  }

  function lost(failure: Failure) {
    up.reject(lostError(failure));
    up = deferred();
    loading = null;
    for (const waiting of asks.values()) waiting.reject(lostError(failure));
    asks.clear();
    unsent.clear();
    for (const turnId of [...turns.keys()]) updateTurn(turnId, [{ event: { type: 'failed', failure } }]);
    watch();
  }

  async function ask<Name extends AskName>(name: Name, input: Asks[Name]['input']): Promise<Asks[Name]['output']> {
    if (outer.phase === 'stopped') throw lostError();
    await up.promise;
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      asks.set(id, { name, resolve, reject });
      watch();
      try {
        supervisor.send({ id, ask: name, input } as ToEngine);
      } catch (error) {
        asks.delete(id);
        reject(error);
      }
    });
  }

  function load(target: LoadTarget): Promise<Loaded> {
    const key = JSON.stringify(target);
    wanted = target;
    if (loading?.key === key) return loading.done;
    const done = ask('load', target);
    const mine = { key, done };
    loading = mine;
    done.catch(() => {
      // A model that failed to load is not retried automatically. (If the engine was lost, `loading` is already null.)
      if (loading !== mine) return;
      loading = null;
      wanted = null;
    });
    return done;
  }

  function tell(message: ToEngine) {
    try {
      supervisor.send(message);
    } catch {
      // The process is gone, and every turn was told when it ended.
    }
  }

  supervisor.start();
  return {
    status: () => status,
    ask,
    load,
    target: () => wanted,
    cancelLoad() {
      if (status.phase !== 'loading') return;
      wanted = null;
      loading = null;
      tell({ cancelLoad: true });
    },
    async unload() {
      wanted = null;
      loading = null;
      await ask('unload', null);
    },
    generate(generation, onUpdates) {
      const { turnId } = generation;
      turns.set(turnId, onUpdates);
      wanted = generation.target;
      loading = null;
      if (outer.phase === 'stopped') return updateTurn(turnId, [lostUpdate()]);
      // Wait for a process that is starting or restarting.
      unsent.add(turnId);
      const send = () => {
        if (!unsent.delete(turnId)) return;
        supervisor.send({ generate: generation });
        watch();
      };
      up.promise.then(send).catch(() => updateTurn(turnId, [lostUpdate()]));
    },
    cancel(turnId) {
      if (unsent.delete(turnId)) updateTurn(turnId, [cancelledUpdate]);
      else tell({ cancel: turnId });
    },
    answerNow: (turnId) => tell({ answerNow: turnId }),
    decide: (turnId, choice) => tell({ decide: turnId, choice }),
    restart: supervisor.restart,
    async close() {
      wanted = null;
      await supervisor.close();
    },
  };
}

const lostError = (failure: Partial<Failure> = {}) =>
  new LonghandError('engine-lost', failure.message ?? '[engine] the process ended', {
    ...(failure.details && { details: failure.details }),
  });
const lostUpdate = (): TurnUpdate => ({
  event: { type: 'failed', failure: { code: 'engine-lost', message: '[engine] the process ended' } },
});

const cancelledUpdate: TurnUpdate = {
  event: {
    type: 'finished',
    reason: 'cancelled',
    usage: { promptTokens: 0, cachedTokens: 0, thinkingTokens: 0, answerTokens: 0 },
    timings: { firstTokenMs: 0, prefillMs: 0, decodeMs: 0, thinkingMs: 0, totalMs: 0, tokensPerSecond: null },
  },
};

function deferred() {
  let resolve = () => {};
  let reject = (_: Error) => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // It may fail while nobody is waiting.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
