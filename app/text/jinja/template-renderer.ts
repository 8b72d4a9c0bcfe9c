import { createRequestProcess } from '../../process/request-process.ts';
import { LonghandError } from '../../protocol/errors.ts';
import { TEMPLATE_LIMITS, type TemplateLimits } from './meter.ts';
import type { RenderRequest } from './template-process.ts';

/** Renders templates in a separate process, so that none can block or crash the engine. Requests run one by one. */
export type TemplateRenderer = {
  /** @throws LonghandError `template-failed` */
  render(source: string, variables: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts the process, so that the first rendering need not wait for it. */
  warm(): void;
  close(): Promise<void>;
};

export type RendererOptions = {
  /** Entry file of template-worker. */
  readonly worker: string;
  readonly timeLimitMs?: number;
  /** Heap limit of the rendering thread. */
  readonly memoryLimitMb?: number;
  readonly limits?: TemplateLimits;
};

/** Additional memory of the process: Node itself, young generation, stacks. */
const BESIDES_MB = 160;

export function createTemplateRenderer(options: RendererOptions): TemplateRenderer {
  const { worker: file, timeLimitMs = 30_000, memoryLimitMb = 192, limits = TEMPLATE_LIMITS } = options;
  const { ask, warm, close } = createRequestProcess<RenderRequest, string>({
    file,
    args: [String(memoryLimitMb), String(memoryLimitMb + BESIDES_MB)],
    timeLimitMs,
    silentEnd: `used more than ${memoryLimitMb} MB, or ended by itself`,
    failed: (reason) => new LonghandError('template-failed', `[template] ${reason}`),
  });
  return { render: (source, variables) => ask({ source, variables, limits }), warm, close };
}
