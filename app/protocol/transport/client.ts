import { guarded } from '../background.ts';
import { type CallName, calls, type RequestInput, type Response } from '../calls.ts';
import { firstProblem, LonghandError } from '../errors.ts';
import { type EventName, type EventPayload, events } from '../events.ts';
import { protocolFingerprint } from './fingerprint.ts';
import { AnyCoreFrame, type CallFrame, type ClientFrame, type CoreFrame } from './frames.ts';
import type { Pipe } from './transport.ts';

/** `signal`: on abort the call is rejected with `cancelled`, and the core is told that nobody waits for its response. */
export type CallOptions = { signal?: AbortSignal };

/** Calls whose request is `void` need no second argument. */
export type CallArguments<Name extends CallName> =
  undefined extends RequestInput<Name>
    ? [input?: RequestInput<Name>, options?: CallOptions]
    : [input: RequestInput<Name>, options?: CallOptions];

export type Client = {
  /** @throws LonghandError with the core's code; `core-lost` if there is no connection, it closed before the
   *  response, or the response does not match its schema; `cancelled` if aborted. */
  call<Name extends CallName>(name: Name, ...input: CallArguments<Name>): Promise<Response<Name>>;
  /** Listens to an event until the returned function is called, across reconnections. */
  on<Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>) => void): () => void;
  /** Attaches a (new) pipe. Calls made before the first pipe are sent now; calls made after a loss were rejected, since
   *  the next pipe may lead to another core. */
  attach(pipe: Pipe<ClientFrame, CoreFrame>): void;
};

type Waiting = { name: CallName; resolve: (value: never) => void; reject: (error: Error) => void };

export type ClientOptions = {
  /** Receives exceptions of listeners, and malformed messages of the core. */
  onFault?: (fault: unknown) => void;
  /** The core is of another build, whose protocol this client does not understand. The pipe is closed. */
  onOutdated?: () => void;
};

/** The client side of the protocol, for any pipe: preload port, WebSocket or memory. Responses are validated like requests.
 *  A throwing listener does not keep others from getting the event. */
export function createClient({ onFault = console.error, onOutdated = () => {} }: ClientOptions = {}): Client {
  const listeners = new Map<EventName, Set<(payload: never) => void>>();
  const waiting = new Map<number, Waiting>();
  /** Calls made before the first pipe; null afterwards. */
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
