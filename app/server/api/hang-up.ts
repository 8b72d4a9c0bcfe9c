import type { Context } from 'hono';
import { guarded } from '../../protocol/index.ts';

/** Aborts when the client goes away before its answer is whole. */
export function hangUpOf(context: Context): AbortController {
  const controller = new AbortController();
  context.req.raw.signal.addEventListener(
    'abort',
    guarded(console.error, () => controller.abort()),
  );
  return controller;
}
