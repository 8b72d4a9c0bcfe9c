import type { CallName, RequestInput } from './calls.ts';
import type { Failure } from './errors.ts';
import type { EventName, EventPayload } from './events.ts';

/** Client to core. */
export type CallFrame<Name extends CallName = CallName> = { id: number; call: Name; input: RequestInput<Name> };

export type EventFrame<Name extends EventName = EventName> = { event: Name; payload: EventPayload<Name> };

/** Core to client: the answer to one call, or something unasked. */
export type CoreFrame = { id: number; value: unknown } | { id: number; failure: Failure } | EventFrame;

export const frameOfEvent = <Name extends EventName>(event: Name, payload: EventPayload<Name>): EventFrame =>
  ({ event, payload }) as EventFrame;
