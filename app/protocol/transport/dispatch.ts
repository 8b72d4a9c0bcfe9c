import { z } from 'zod';
import { guarded } from '../background.ts';
import { type CallName, calls, type Request, type Response } from '../calls.ts';
import { failureOf, firstProblem, LonghandError } from '../errors.ts';
import type { EventName, EventPayload } from '../events.ts';
import { protocolFingerprint } from './fingerprint.ts';
import { type ClientFrame, type CoreFrame, frameOfEvent } from './frames.ts';
import type { Pipe } from './transport.ts';

/** One function per call of the table; a missing or mistyped one is a type error. `signal` aborts when the caller cancels
 *  or disconnects, so that expensive work can stop. */
export type Handlers = {
  readonly [Name in CallName]: (input: Request<Name>, signal?: AbortSignal) => Response<Name> | Promise<Response<Name>>;
};

const Frame = z.object({
  id: z.number().int().nonnegative(),
  call: z.string().max(100),
  input: z.unknown().optional(),
});

const Cancel = z.object({ cancel: z.number().int().nonnegative() });

/** Answers one call. Never throws: errors become failures with a code. Null if `frame` is not a
 *  call that can be answered. */
export async function dispatch(
  handlers: Handlers,
  frame: unknown,
  // A separate signal per call, so that its listeners are released with it.
  signal: AbortSignal = new AbortController().signal,
): Promise<CoreFrame | null> {
  const parsed = Frame.safeParse(frame);
  if (!parsed.success) return null;
  const { id, call, input } = parsed.data;
  try {
    return { id, value: await answer(handlers, call, input, signal) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

async function answer(handlers: Handlers, name: string, input: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isCallName(name)) throw new LonghandError('bad-request', `[protocol] no call "${name}"`);
  const request = calls[name].request.safeParse(input);
  if (!request.success) throw new LonghandError('bad-request', `[${name}] ${firstProblem(request.error)}`);
  const handler = handlers[name] as (input: unknown, signal: AbortSignal) => unknown;
  return handler(request.data, signal);
}

const isCallName = (name: string): name is CallName => Object.hasOwn(calls, name);

export type Emit = <Name extends EventName>(name: Name, payload: EventPayload<Name>) => void;

export type Switchboard = ReturnType<typeof createSwitchboard>;

/** The clients of a core: each added pipe may call, and gets every event until it closes. */
export function createSwitchboard(handlers: Handlers) {
  const pipes = new Set<Pipe<CoreFrame, ClientFrame>>();
  const emit: Emit = (name, payload) => {
    const frame = frameOfEvent(name, payload);
    for (const pipe of pipes) {
      try {
        pipe.send(frame);
      } catch {
        // A client that cannot be reached reconnects and queries; the others still get the event.
        pipe.close();
      }
    }
  };
  return {
    emit,
    clients: () => pipes.size,
    add(pipe: Pipe<CoreFrame, ClientFrame>) {
      pipes.add(pipe);
      const running = new Map<number, AbortController>();
      const left = () => {
        pipes.delete(pipe);
        for (const call of running.values()) call.abort();
      };
      pipe.onClose(guarded(console.error, left));
      const answer = async (frame: ClientFrame) => {
        const cancel = Cancel.safeParse(frame);
        if (cancel.success) return running.get(cancel.data.cancel)?.abort();
        const call = new AbortController();
        const { data } = Frame.safeParse(frame);
        if (data) running.set(data.id, call);
        const reply = await dispatch(handlers, frame, call.signal);
        if (data) running.delete(data.id);
        if (reply === null) pipe.close();
        else if (pipes.has(pipe) && !call.signal.aborted) pipe.send(reply);
      };
      // A client that cannot be answered reconnects and asks again.
      pipe.onMessage(guarded(() => pipe.close(), answer));
      pipe.send({ hello: protocolFingerprint() });
    },
    close() {
      for (const pipe of [...pipes]) pipe.close();
    },
  };
}
