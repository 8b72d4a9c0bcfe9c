import { z } from 'zod';
import type { CallName, RequestInput } from '../calls.ts';
import { Failure } from '../errors.ts';
import type { EventName, EventPayload } from '../events.ts';

/** Client to core. */
export type CallFrame<Name extends CallName = CallName> = { id: number; call: Name; input: RequestInput<Name> };

/** Client to core: cancels a call. Not answered. */
export type CancelFrame = { cancel: number };

/** What a client sends. */
export type ClientFrame = CallFrame | CancelFrame;

export type EventFrame<Name extends EventName = EventName> = { event: Name; payload: EventPayload<Name> };

/** Core to client: its protocol (`protocolFingerprint`, once, before anything else), the response to a call, or
 *  an event. */
export type CoreFrame =
  | { hello: string }
  | { id: number; value: unknown }
  | { id: number; failure: Failure }
  | EventFrame;

/** The envelope of a frame, checked before its value or payload. */
export const AnyCoreFrame = z.union([
  z.object({ hello: z.string().max(100) }),
  z.object({ event: z.string().max(100), payload: z.unknown() }),
  z.object({ id: z.number(), failure: Failure }),
  // JSON omits undefined values.
  z.object({ id: z.number(), value: z.unknown().optional() }),
]);
export type AnyCoreFrame = z.infer<typeof AnyCoreFrame>;

export const frameOfEvent = <Name extends EventName>(event: Name, payload: EventPayload<Name>): EventFrame =>
  ({ event, payload }) as EventFrame;
