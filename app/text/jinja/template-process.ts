import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { type Numbered, type NumberedReply, watchMemory } from '../../process/request-process.ts';
import type { TemplateLimits } from './meter.ts';
import { renderJinja } from './render.ts';

//  Entry of the process that renders templates: node template-worker.ts HEAP_MB PROCESS_MB. Templates are untrusted
//  programs: one thread renders, the other watches memory and whether the parent is still alive.

export type RenderRequest = {
  readonly source: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly limits: TemplateLimits;
};

if (isMainThread) watch();
else render();

function watch(): void {
  const [, file = '', heap = '', most = ''] = process.argv;
  const worker = new Worker(file, {
    resourceLimits: { maxOldGenerationSizeMb: Number(heap), maxYoungGenerationSizeMb: 32 },
  });
  const { end } = watchMemory(Number(most));
  process.on('message', (request) => worker.postMessage(request));
  worker.on('message', (reply: NumberedReply<string>) => process.send?.(reply));
  worker.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `used more than ${heap} MB` : error.message),
  );
  worker.on('exit', () => end('its thread ended'));
}

function render(): void {
  parentPort?.on('message', ({ id, request }: Numbered<RenderRequest>) => {
    try {
      const reply = renderJinja(request.source, request.variables, request.limits);
      parentPort?.postMessage({ id, reply } satisfies NumberedReply<string>);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      parentPort?.postMessage({ id, error: reason } satisfies NumberedReply<string>);
    }
  });
}
