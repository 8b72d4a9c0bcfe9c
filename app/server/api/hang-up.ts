import type { Context } from 'hono';
import { guarded } from '../../protocol/index.ts';

/** Why a request is given up. Made once: an error keeps alive what was on the stack where it was made, which here is the request; and the
 *  request's signal keeps the reason for as long as the request lives. */
const givenUp = new DOMException('The request was given up', 'AbortError');

export const giveUp = (request: AbortController): void => request.abort(givenUp);

/** Aborts if the client disconnects before the response is complete. */
export function hangUpOf(context: Context): AbortController {
  const controller = new AbortController();
  context.req.raw.signal.addEventListener(
    'abort',
    guarded(console.error, () => giveUp(controller)),
  );
  return controller;
}
