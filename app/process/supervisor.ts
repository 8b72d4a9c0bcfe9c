import { type EngineStatus, type Failure, failureOf, guarded, LonghandError, type Pipe } from '../protocol/index.ts';

//                       ┌────────── waiting ◀──────────┐
//                       ▼  0.5, 2, 8 s                 │ ended by itself
//  start() ──▶ starting ──▶ up ────────────────────────┤
//                       ▲    │ restart(): kill         └─▶ stopped   third end in five minutes
//                       └────┘                             │ restart()
//                       ▲──────────────────────────────────┘
//  abandon(): a hung process is given up and killed; callers get their error at once.
//  close(): sends quit, then kills the process after two seconds. A process is started only when the previous one has
//  ended, so there are never two.

/** A child process as seen by its supervisor. */
export type Supervised<Out, In> = {
  pipe: Pipe<Out, In>;
  /** Ends it at once. */
  kill(): void;
  /** Resolves when the process is gone. */
  ended: Promise<Ending>;
};

/** How a process ended: "signal SIGSEGV" or "code 1", and the end of its error output. */
export type Ending = { how: string; lastWords: string };

export type SupervisorStatus =
  | Extract<EngineStatus, { phase: 'restarting' | 'stopped' }>
  | { phase: 'starting' | 'up' };

export type Supervisor<Out> = {
  start(): void;
  restart(): Promise<void>;
  /** Gives up a process that runs but does not respond. */
  abandon(failure: Failure): void;
  /** Sends to the running process. @throws LonghandError `engine-lost` when there is none */
  send(message: Out): void;
  close(): Promise<void>;
};

export type SupervisorOptions<Out, In> = {
  start: () => Promise<Supervised<Out, In>>;
  /** Its name in failures; `engine` by default. */
  name?: 'engine' | 'core';
  /** Asks the process to end. */
  quit: Out;
  onStatus: (status: SupervisorStatus) => void;
  onMessage: (message: In) => void;
  /** The process is gone or was given up, and all its pending requests with it. */
  onLost: (failure: Failure) => void;
  waits?: readonly number[];
  quitWaitMs?: number;
  now?: () => number;
};

const windowMs = 5 * 60 * 1000;
const maxCrashes = 3;

export function createSupervisor<Out, In>(options: SupervisorOptions<Out, In>): Supervisor<Out> {
  const { name = 'engine', waits = [500, 2000, 8000], quitWaitMs = 2000, now = () => performance.now() } = options;
  let running: Supervised<Out, In> | null = null;
  /** Set while a process is being started, runs or is ending. */
  let life: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let starting = false;
  let asked = false;
  let ends: number[] = [];
  let last = lostFailure(name, { how: 'never started', lastWords: '' });

  function start() {
    if (closed || life) return;
    clearTimeout(timer);
    options.onStatus({ phase: 'starting' });
    life = live().finally(() => {
      life = null;
      afterEnd();
    });
  }

  async function live(): Promise<void> {
    starting = true;
    try {
      running = await options.start();
    } catch (error) {
      last = failureOf(error);
      return;
    } finally {
      starting = false;
    }
    const mine = running;
    const hear = (message: In) => {
      // Messages of a process that was given up are ignored.
      if (running === mine) options.onMessage(message);
    };
    mine.pipe.onMessage(guarded(console.error, hear));
    if (closed) mine.kill();
    else options.onStatus({ phase: 'up' });
    const ending = await mine.ended;
    if (!running) return;
    running = null;
    last = lostFailure(name, ending);
    options.onLost(last);
  }

  function afterEnd() {
    if (closed) return;
    if (asked) {
      asked = false;
      ends = [];
      start();
      return;
    }
    ends = [...ends.filter((at) => now() - at < windowMs), now()];
    if (ends.length >= maxCrashes) {
      options.onStatus({ phase: 'stopped', failure: last });
      return;
    }
    const waitMs = waits[ends.length - 1] ?? 0;
    options.onStatus({ phase: 'restarting', attempt: ends.length, waitMs });
    timer = setTimeout(guarded(console.error, start), waitMs);
  }

  return {
    start,
    async restart() {
      ends = [];
      if (!life) return start();
      // It has only just been started; if it ends now, that counts as its own failure.
      if (starting) return;
      asked = true;
      const ending = life;
      running?.kill();
      await ending;
    },
    abandon(failure) {
      if (!running) return;
      const hung = running;
      running = null;
      last = failure;
      hung.kill();
      options.onLost(failure);
    },
    send(message) {
      if (!running) throw new LonghandError('engine-lost', `[${name}] the process is not running`);
      running.pipe.send(message);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      running?.pipe.send(options.quit);
      const kill = setTimeout(
        guarded(console.error, () => running?.kill()),
        quitWaitMs,
      );
      await life;
      clearTimeout(kill);
    },
  };
}

const lostFailure = (name: 'engine' | 'core', { how, lastWords }: Ending): Failure => ({
  code: `${name}-lost`,
  message: `[${name}] the process ended: ${how}`,
  ...(lastWords !== '' && { details: { lastWords } }),
});

const MAX_STDERR_CHARACTERS = 4000;

/** Keeps the end of an error output, and passes all of it on. */
export function listenToErrors(output: NodeJS.ReadableStream | null | undefined): () => string {
  let text = '';
  const hear = guarded(console.error, (chunk: Buffer | string) => {
    text = (text + String(chunk)).slice(-MAX_STDERR_CHARACTERS);
    process.stderr.write(chunk);
  });
  output?.on('data', hear);
  return () => text;
}
