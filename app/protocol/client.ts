import { guarded } from './background.ts';
import type { CallName, RequestInput, Response } from './calls.ts';
import { LonghandError } from './errors.ts';
import type { EventName, EventPayload } from './events.ts';
import type { CallFrame, CoreFrame } from './frames.ts';
import type { Pipe } from './transport.ts';

/** Calls whose request is `void` take no second argument. */
export type CallArguments<Name extends CallName> =
  undefined extends RequestInput<Name> ? [input?: RequestInput<Name>] : [input: RequestInput<Name>];

export type Client = {
  /** @throws LonghandError with the code the core answered; `core-lost` when there is no connection, or it closed before the
   *  answer came. */
  call<Name extends CallName>(name: Name, ...input: CallArguments<Name>): Promise<Response<Name>>;
  /** Hears an event until the returned function is called; goes on over reconnections. */
  on<Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>) => void): () => void;
  /** Takes a (new) pipe. Calls made before the first one are sent now; calls made after one was lost were refused, since
   *  another core may be at the end of the next. */
  attach(pipe: Pipe<CallFrame, CoreFrame>): void;
};

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** The caller's side of the protocol, for any pipe: preload port, WebSocket or memory. A listener that throws takes no event
 *  from the others; `onFault` hears of it. */
export function createClient(onFault: (fault: unknown) => void = console.error): Client {
  const listeners = new Map<EventName, Set<(payload: never) => void>>();
  const waiting = new Map<number, Waiting>();
  /** Calls made before there was any pipe; null from the first one on. */
  let unsent: CallFrame[] | null = [];
  let pipe: Pipe<CallFrame, CoreFrame> | null = null;
  let lastId = 0;

  function receive(frame: CoreFrame) {
    if ('event' in frame) {
      for (const listener of [...(listeners.get(frame.event) ?? [])]) {
        try {
          listener(frame.payload as never);
        } catch (fault) {
          onFault(fault);
        }
      }
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

  function send(frame: CallFrame) {
    if (unsent) return unsent.push(frame);
    if (!pipe) throw new LonghandError('core-lost', `[client] ${frame.call}: there is no connection`);
    return pipe.send(frame);
  }

  return {
    call: (name, ...[input]) =>
      new Promise((resolve, reject) => {
        const frame = { id: ++lastId, call: name, input } as CallFrame;
        waiting.set(frame.id, { resolve, reject });
        try {
          send(frame);
        } catch (error) {
          waiting.delete(frame.id);
          reject(error);
        }
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
      next.onMessage(guarded(console.error, receive));
      next.onClose(guarded(console.error, () => lost(next)));
      const early = unsent ?? [];
      unsent = null;
      for (const frame of early) next.send(frame);
    },
  };
}
