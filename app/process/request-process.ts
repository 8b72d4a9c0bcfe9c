import { type ChildProcess, fork } from 'node:child_process';

//  Work on untrusted input in a separate process that may crash. Requests run one by one.
//
//    no process ──first request──▶ running ──time or memory used up──▶ no process (the request fails)

export type RequestProcess<Request, Reply> = {
  /** @throws the error that `failed` makes of the reason */
  ask(request: Request): Promise<Reply>;
  /** Starts the process, so that the first request need not wait for it. */
  warm(): void;
  close(): Promise<void>;
};

export type RequestProcessOptions = {
  readonly file: string;
  readonly args?: readonly string[];
  readonly timeLimitMs: number;
  /** The reason when the process dies silently: V8 does so if a single value exceeds its heap limit. */
  readonly silentEnd: string;
  readonly failed: (reason: string) => Error;
};

/** Messages: a numbered request one way; a numbered reply, or the reason the process is about to end, the other way. */
export type Numbered<Request> = { readonly id: number; readonly request: Request };
export type NumberedReply<Reply> = { readonly id: number } & ({ readonly reply: Reply } | { readonly error: string });
export type FromRequestProcess<Reply> = NumberedReply<Reply> | { readonly ended: string };

export function createRequestProcess<Request, Reply>(options: RequestProcessOptions): RequestProcess<Request, Reply> {
  const { file, args = [], timeLimitMs, silentEnd, failed } = options;
  let running: ChildProcess | null = null;
  let queue: Promise<unknown> = Promise.resolve();
  let next = 0;

  const start = (): ChildProcess => {
    const started = fork(file, [...args], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: environment(),
    });
    const gone = () => {
      if (running === started) running = null;
    };
    started.once('exit', gone).once('error', gone);
    // Only a pending request keeps us alive.
    started.unref();
    started.channel?.unref();
    running = started;
    return started;
  };
  const stop = () => {
    running?.kill('SIGKILL');
    running = null;
  };

  const once = (request: Request): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const current = running ?? start();
      const id = next++;
      const detach = () => {
        clearTimeout(timer);
        current.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const giveUp = (reason: string) => {
        detach();
        if (running === current) stop();
        reject(failed(reason));
      };
      const onMessage = (message: unknown) => {
        const told = message as FromRequestProcess<Reply>;
        if ('ended' in told) return giveUp(told.ended);
        if (told.id !== id) return;
        detach();
        if ('reply' in told) resolve(told.reply);
        else reject(failed(told.error));
      };
      const onError = (error: Error) => giveUp(error.message);
      const onExit = () => giveUp(silentEnd);
      const timer = setTimeout(() => giveUp(`took longer than ${timeLimitMs} ms`), timeLimitMs);
      current.on('message', onMessage).on('error', onError).on('exit', onExit);
      current.send({ id, request } as Numbered<never>, (error) => {
        if (error) giveUp(error.message);
      });
    });

  return {
    ask(request) {
      const result = queue.then(() => once(request));
      queue = result.catch(() => {});
      return result;
    },
    warm: () => void (running ?? start()),
    close: async () => stop(),
  };
}

/** Electron's binary acts as Node when told to. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...(process.versions.electron !== undefined && { ELECTRON_RUN_AS_NODE: '1' }),
});

const WATCH_MS = 20;

/** Runs in the process itself: ends it, with a reason, once it has grown beyond `megabytes` or its parent is gone. */
export function watchMemory(megabytes: number): { end(reason: string): void } {
  const die = () => process.kill(process.pid, 'SIGKILL');
  const end = (ended: string) => process.send?.({ ended }, undefined, {}, die);
  process.on('disconnect', die);
  setInterval(() => {
    if (process.memoryUsage.rss() > megabytes * 2 ** 20) end(`used more than ${megabytes} MB`);
  }, WATCH_MS);
  return { end };
}
