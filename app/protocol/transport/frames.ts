import { z } from 'zod';
import type { CallName, RequestInput } from '../calls.ts';
import { Failure } from '../errors.ts';
import type { EventName, EventPayload } from '../events.ts';

/** Client to core. */
export type CallFrame<Name extends CallName = CallName> = { id: number; call: Name; input: RequestInput<Name> };

/** Client to core: nobody waits any more for the answer to a call. It is not answered itself. */
export type CancelFrame = { cancel: number };

/** What a client sends. */
export type ClientFrame = CallFrame | CancelFrame;

export type EventFrame<Name extends EventName = EventName> = { event: Name; payload: EventPayload<Name> };

/** Core to client: which protocol it speaks (`protocolFingerprint`, once, before anything else), the answer to one call, or
 *  something unasked. */
export type CoreFrame =
  | { hello: string }
  | { id: number; value: unknown }
  | { id: number; failure: Failure }
  | EventFrame;

/** What the client makes of a frame before it looks at the value or the payload in it. */
export const AnyCoreFrame = z.union([
  z.object({ hello: z.string().max(100) }),
  z.object({ event: z.string().max(100), payload: z.unknown() }),
  z.object({ id: z.number(), failure: Failure }),
  // A value of nothing is left out where frames are JSON.
  z.object({ id: z.number(), value: z.unknown().optional() }),
]);
export type AnyCoreFrame = z.infer<typeof AnyCoreFrame>;

export const frameOfEvent = <Name extends EventName>(event: Name, payload: EventPayload<Name>): EventFrame =>
  ({ event, payload }) as EventFrame;
