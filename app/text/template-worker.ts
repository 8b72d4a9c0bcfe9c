import { parentPort } from 'node:worker_threads';
import { renderJinja, type TemplateLimits } from './jinja.ts';

/** Entry of the worker that renders templates: a template is somebody else's program. */
export type RenderRequest = {
  readonly id: number;
  readonly source: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly limits: TemplateLimits;
};
export type RenderReply = { readonly id: number } & ({ readonly text: string } | { readonly error: string });

parentPort?.on('message', ({ id, source, variables, limits }: RenderRequest) => {
  try {
    parentPort?.postMessage({ id, text: renderJinja(source, variables, limits) } satisfies RenderReply);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ id, error: reason } satisfies RenderReply);
  }
});
