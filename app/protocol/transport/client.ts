import { guarded } from '../background.ts';
import { type CallName, calls, type RequestInput, type Response } from '../calls.ts';
import { firstProblem, LonghandError } from '../errors.ts';
import { type EventName, type EventPayload, events } from '../events.ts';
import { protocolFingerprint } from './fingerprint.ts';
import { AnyCoreFrame, type CallFrame, type ClientFrame, type CoreFrame } from './frames.ts';
import type { Pipe } from './transport.ts';

/** `signal`: once it aborts the call is refused with `cancelled`, and the core is told that nobody waits for its answer. */
export type CallOptions = { signal?: AbortSignal };

/** Calls whose request is `void` need no second argument. */
export type CallArguments<Name extends CallName> =
  undefined extends RequestInput<Name>
    ? [input?: RequestInput<Name>, options?: CallOptions]
    : [input: RequestInput<Name>, options?: CallOptions];

export type Client = {
  /** @throws LonghandError with the code the core answered; `core-lost` when there is no connection, or it closed before the
   *  answer came, or its answer does not fit the table; `cancelled` when it was taken back. */
  call<Name extends CallName>(name: Name, ...input: CallArguments<Name>): Promise<Response<Name>>;
  /** Hears an event until the returned function is called; goes on over reconnections. */
  on<Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>) => void): () => void;
  /** Takes a (new) pipe. Calls made before the first one are sent now; calls made after one was lost were refused, since
   *  another core may be at the end of the next. */
  attach(pipe: Pipe<ClientFrame, CoreFrame>): void;
};

type Waiting = { name: CallName; resolve: (value: never) => void; reject: (error: Error) => void };

export type ClientOptions = {
  /** Hears what a listener threw, and what the core sent that does not fit the table. */
  onFault?: (fault: unknown) => void;
  /** The core speaks another protocol than this client: only the page of its own build understands it. The pipe is closed. */
  onOutdated?: () => void;
};

/** The caller's side of the protocol, for any pipe: preload port, WebSocket or memory. What comes is parsed like requests are.
 *  A listener that throws takes no event from the others. */
export function createClient({ onFault = console.error, onOutdated = () => {} }: ClientOptions = {}): Client {
  const listeners = new Map<EventName, Set<(payload: never) => void>>();
  const waiting = new Map<number, Waiting>();
  /** Calls made before there was any pipe; null from the first one on. */
  let unsent: CallFrame[] | null = [];
  let pipe: Pipe<ClientFrame, CoreFrame> | null = null;
  let lastId = 0;

  function receive(sent: unknown) {
    const parsed = AnyCoreFrame.safeParse(sent);
    if (!parsed.success)
      return onFault(new LonghandError('bad-request', '[client] the core sent something that is not a frame'));
    const frame = parsed.data;
    if ('hello' in frame) {
      if (frame.hello === protocolFingerprint()) return;
      pipe?.close();
      return onOutdated();
    }
    if ('event' in frame) hear(frame.event, frame.payload);
    else settle(frame);
  }

  function hear(name: string, sent: unknown) {
    if (!isEventName(name)) return onFault(new LonghandError('bad-request', `[client] no event "${name}"`));
    const known = listeners.get(name);
    if (!known || known.size === 0) return;
    const payload = events[name].safeParse(sent);
    if (!payload.success) return onFault(new LonghandError('bad-request', `[${name}] ${firstProblem(payload.error)}`));
    for (const listener of [...known]) {
      try {
        listener(payload.data as never);
      } catch (fault) {
        onFault(fault);
      }
    }
  }

  function settle(frame: Extract<AnyCoreFrame, { id: number }>) {
    const call = waiting.get(frame.id);
    if (!call) return;
    waiting.delete(frame.id);
    if ('failure' in frame) {
      const { code, message, hint, details } = frame.failure;
      call.reject(new LonghandError(code, message, { ...(hint && { hint }), ...(details && { details }) }));
      return;
    }
    const value = calls[call.name].response.safeParse(frame.value);
    if (value.success) call.resolve(value.data as never);
    else call.reject(new LonghandError('internal', `[${call.name}] answer: ${firstProblem(value.error)}`));
  }

  function lost(from: Pipe<ClientFrame, CoreFrame>) {
    if (pipe !== from) return;
    pipe = null;
    for (const call of waiting.values()) call.reject(new LonghandError('core-lost', '[client] the connection closed'));
    waiting.clear();
  }

  function send(frame: CallFrame) {
    if (unsent) return unsent.push(frame);
    if (!pipe) throw new LonghandError('core-lost', '[client] there is no connection');
    return pipe.send(frame);
  }

  return {
    call: (name, ...[input, { signal } = {}]) =>
      new Promise((resolve, reject) => {
        const cancelled = () => new LonghandError('cancelled', `[${name}] taken back`);
        if (signal?.aborted) return reject(cancelled());
        const id = ++lastId;
        waiting.set(id, { name, resolve, reject });
        try {
          send({ id, call: name, input } as CallFrame);
        } catch (error) {
          waiting.delete(id);
          reject(error);
          return;
        }
        const takeBack = () => {
          if (!waiting.delete(id)) return;
          reject(cancelled());
          pipe?.send({ cancel: id });
        };
        signal?.addEventListener('abort', guarded(onFault, takeBack), { once: true });
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

const isEventName = (name: string): name is EventName => Object.hasOwn(events, name);
