import type { CallName, RequestInput, Response } from './calls.ts';
import { LonghandError } from './errors.ts';
import type { EventName, EventPayload } from './events.ts';
import type { Pipe } from './pipe.ts';
import type { CallFrame, CoreFrame } from './wire.ts';

/** Calls whose request is `void` take no second argument. */
export type CallArguments<Name extends CallName> =
  undefined extends RequestInput<Name> ? [input?: RequestInput<Name>] : [input: RequestInput<Name>];

export type Client = {
  /** @throws LonghandError with the code the core answered; `core-lost` when the pipe closed before the answer came. */
  call<Name extends CallName>(name: Name, ...input: CallArguments<Name>): Promise<Response<Name>>;
  /** Hears an event until the returned function is called; goes on over reconnections. */
  on<Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>) => void): () => void;
  /** Takes a (new) pipe. Calls made while there was none are sent now. */
  attach(pipe: Pipe<CallFrame, CoreFrame>): void;
};

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** The caller's side of the protocol, for any pipe: preload port, WebSocket or memory. */
export function createClient(): Client {
  const listeners = new Map<EventName, Set<(payload: never) => void>>();
  const waiting = new Map<number, Waiting>();
  let unsent: CallFrame[] = [];
  let pipe: Pipe<CallFrame, CoreFrame> | null = null;
  let lastId = 0;

  function receive(frame: CoreFrame) {
    if ('event' in frame) {
      for (const listener of listeners.get(frame.event) ?? []) listener(frame.payload as never);
      return;
    }
    const call = waiting.get(frame.id);
    if (!call) return;
    waiting.delete(frame.id);
    if ('failure' in frame) {
      const { code, message, hint, details } = frame.failure;
      call.reject(new LonghandError(code, message, { ...(hint && { hint }), ...(details && { details }) }));
    } else {
      call.resolve(frame.value as never);
    }
  }

  function lost(from: Pipe<CallFrame, CoreFrame>) {
    if (pipe !== from) return;
    pipe = null;
    for (const call of waiting.values()) call.reject(new LonghandError('core-lost', '[client] the connection closed'));
    waiting.clear();
  }

  return {
    call: (name, ...[input]) =>
      new Promise((resolve, reject) => {
        const frame = { id: ++lastId, call: name, input } as CallFrame;
        waiting.set(frame.id, { resolve, reject });
        if (pipe) pipe.send(frame);
        else unsent.push(frame);
      }),
    on(name, listener) {
      const known = listeners.get(name) ?? new Set();
      listeners.set(name, known.add(listener));
      return () => known.delete(listener);
    },
    attach(next) {
      const previous = pipe;
      if (previous) {
        lost(previous);
        previous.close();
      }
      pipe = next;
      next.onMessage(receive);
      next.onClose(() => lost(next));
      for (const frame of unsent) next.send(frame);
      unsent = [];
    },
  };
}
