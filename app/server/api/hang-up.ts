import type { Context } from 'hono';
import { guarded } from '../../protocol/index.ts';

/** Aborts if the client disconnects before the response is complete. */
export function hangUpOf(context: Context): AbortController {
  const controller = new AbortController();
  context.req.raw.signal.addEventListener(
    'abort',
    guarded(console.error, () => controller.abort()),
  );
  return controller;
}
