import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { TemplateLimits } from './meter.ts';
import { renderJinja } from './render.ts';

//  Entry of the process that renders templates: node template-worker.ts HEAP_MB PROCESS_MB. A template is somebody else's
//  program: one thread runs it, the other watches what the process has grown to and whether anybody still waits.

export type RenderRequest = {
  readonly id: number;
  readonly source: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly limits: TemplateLimits;
};
export type RenderReply = { readonly id: number } & ({ readonly text: string } | { readonly error: string });
/** `ended`: why the process is about to end. */
export type FromRenderer = RenderReply | { readonly ended: string };

const WATCH_MS = 20;

if (isMainThread) watch();
else render();

function watch(): void {
  const [, file = '', heap = '', most = ''] = process.argv;
  const worker = new Worker(file, {
    resourceLimits: { maxOldGenerationSizeMb: Number(heap), maxYoungGenerationSizeMb: 32 },
  });
  const die = () => process.kill(process.pid, 'SIGKILL');
  const end = (ended: string) => process.send?.({ ended } satisfies FromRenderer, undefined, {}, die);

  process.on('disconnect', die);
  process.on('message', (request) => worker.postMessage(request));
  worker.on('message', (reply: RenderReply) => process.send?.(reply));
  worker.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `used more than ${heap} MB` : error.message),
  );
  worker.on('exit', () => end('its thread ended'));
  setInterval(() => {
    if (process.memoryUsage.rss() > Number(most) * 2 ** 20) end(`used more than ${most} MB`);
  }, WATCH_MS);
}

function render(): void {
  parentPort?.on('message', ({ id, source, variables, limits }: RenderRequest) => {
    try {
      parentPort?.postMessage({ id, text: renderJinja(source, variables, limits) } satisfies RenderReply);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      parentPort?.postMessage({ id, error: reason } satisfies RenderReply);
    }
  });
}
