import { type ChildProcess, fork } from 'node:child_process';
import { LonghandError } from '../../protocol/errors.ts';
import { TEMPLATE_LIMITS, type TemplateLimits } from './meter.ts';
import type { FromRenderer, RenderRequest } from './template-process.ts';

/** Renders templates in a process of its own, so that none can hold or kill the engine. Requests run one by one.
 *
 *    no process ──first request──▶ running ──time or memory used up──▶ no process (the request fails)
 */
export type TemplateRenderer = {
  /** @throws LonghandError `template-failed` */
  render(source: string, variables: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts the process, so that the first rendering need not wait for it. */
  warm(): void;
  close(): Promise<void>;
};

export type RendererOptions = {
  /** The file of template-worker. */
  readonly worker: string;
  readonly timeLimitMs?: number;
  /** Of the heap of the thread that renders. */
  readonly memoryLimitMb?: number;
  readonly limits?: TemplateLimits;
};

/** What the process may take besides: Node itself, young values, stacks. */
const BESIDES_MB = 160;

export function createTemplateRenderer(options: RendererOptions): TemplateRenderer {
  const { worker: file, timeLimitMs = 30_000, memoryLimitMb = 192, limits = TEMPLATE_LIMITS } = options;
  let running: ChildProcess | null = null;
  let queue: Promise<unknown> = Promise.resolve();
  let next = 0;

  const start = (): ChildProcess => {
    const started = fork(file, [String(memoryLimitMb), String(memoryLimitMb + BESIDES_MB)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: environment(),
    });
    const gone = () => {
      if (running === started) running = null;
    };
    started.once('exit', gone).once('error', gone);
    // Only a rendering is waited for.
    started.unref();
    started.channel?.unref();
    running = started;
    return started;
  };
  const stop = () => {
    running?.kill('SIGKILL');
    running = null;
  };

  const once = (source: string, variables: Readonly<Record<string, unknown>>): Promise<string> =>
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
        const told = message as FromRenderer;
        if ('ended' in told) return giveUp(told.ended);
        if (told.id !== id) return;
        detach();
        if ('text' in told) resolve(told.text);
        else reject(failed(told.error));
      };
      const onError = (error: Error) => giveUp(error.message);
      // V8 ends the process at once when a single value is larger than all it may have.
      const onExit = () => giveUp(`used more than ${memoryLimitMb} MB, or ended by itself`);
      const timer = setTimeout(() => giveUp(`took longer than ${timeLimitMs} ms`), timeLimitMs);
      current.on('message', onMessage).on('error', onError).on('exit', onExit);
      current.send({ id, source, variables, limits } satisfies RenderRequest, (error) => {
        if (error) giveUp(error.message);
      });
    });

  return {
    render(source, variables) {
      const result = queue.then(() => once(source, variables));
      queue = result.catch(() => {});
      return result;
    },
    warm: () => void (running ?? start()),
    close: async () => stop(),
  };
}

/** The binary of Electron is Node when it is told so. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...(process.versions.electron !== undefined && { ELECTRON_RUN_AS_NODE: '1' }),
});

const failed = (reason: string) => new LonghandError('template-failed', `[template] ${reason}`);
