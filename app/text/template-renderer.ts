import { Worker } from 'node:worker_threads';
import { LonghandError } from '../protocol/errors.ts';
import { TEMPLATE_LIMITS, type TemplateLimits } from './jinja.ts';
import type { RenderReply, RenderRequest } from './template-worker.ts';

/** Renders templates in a worker of their own, so that none can hold or kill the engine. Requests run one by one.
 *
 *    no worker ──first request──▶ running ──time or memory used up──▶ no worker (the request fails)
 */
export type TemplateRenderer = {
  /** @throws LonghandError `template-failed` */
  render(source: string, variables: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts the worker, so that the first rendering need not wait for it. */
  warm(): void;
  close(): Promise<void>;
};

export type RendererOptions = {
  /** The file of template-worker. */
  readonly worker: string | URL;
  readonly timeLimitMs?: number;
  readonly memoryLimitMb?: number;
  readonly limits?: TemplateLimits;
};

export function createTemplateRenderer(options: RendererOptions): TemplateRenderer {
  const { worker: file, timeLimitMs = 30_000, memoryLimitMb = 256, limits = TEMPLATE_LIMITS } = options;
  let worker: Worker | null = null;
  let queue: Promise<unknown> = Promise.resolve();
  let next = 0;

  const start = (): Worker => {
    const started = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb }, stderr: true });
    started.unref();
    worker = started;
    return started;
  };
  const stop = async (): Promise<void> => {
    const stopped = worker;
    worker = null;
    await stopped?.terminate();
  };

  const once = (source: string, variables: Readonly<Record<string, unknown>>): Promise<string> =>
    new Promise((resolve, reject) => {
      const current = worker ?? start();
      const id = next++;
      const detach = () => {
        clearTimeout(timer);
        current.off('message', onReply).off('error', onError).off('exit', onExit);
      };
      // Not waited for: a thread that collects garbage may take its time to end, and a new one can begin.
      const giveUp = (reason: string) => {
        detach();
        void stop();
        reject(failed(reason));
      };
      const onReply = (reply: RenderReply) => {
        if (reply.id !== id) return;
        detach();
        if ('text' in reply) resolve(reply.text);
        else reject(failed(reply.error));
      };
      const onError = (error: Error & { code?: string }) =>
        giveUp(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `used more than ${memoryLimitMb} MB` : error.message);
      const onExit = () => giveUp('the worker ended');
      const timer = setTimeout(() => giveUp(`took longer than ${timeLimitMs} ms`), timeLimitMs);
      current.on('message', onReply).on('error', onError).on('exit', onExit);
      current.postMessage({ id, source, variables, limits } satisfies RenderRequest);
    });

  return {
    render(source, variables) {
      const result = queue.then(() => once(source, variables));
      queue = result.catch(() => {});
      return result;
    },
    warm: () => void (worker ?? start()),
    close: stop,
  };
}

const failed = (reason: string) => new LonghandError('template-failed', `[template] ${reason}`);
