import { z } from 'zod';
import { guarded } from './background.ts';
import { type CallName, calls, type Request, type Response } from './calls.ts';
import { failureOf, LonghandError } from './errors.ts';
import type { EventName, EventPayload } from './events.ts';
import { type CallFrame, type CoreFrame, frameOfEvent } from './frames.ts';
import type { Pipe } from './transport.ts';

/** One function a row of the table; a missing or misshapen one is a type error. */
export type Handlers = {
  readonly [Name in CallName]: (input: Request<Name>) => Response<Name> | Promise<Response<Name>>;
};

const Frame = z.object({
  id: z.number().int().nonnegative(),
  call: z.string().max(100),
  input: z.unknown().optional(),
});

/** Answers one call. Never throws: whatever goes wrong becomes a failure with a code. Null when `frame` is not even a
 *  call that could be answered. */
export async function dispatch(handlers: Handlers, frame: unknown): Promise<CoreFrame | null> {
  const parsed = Frame.safeParse(frame);
  if (!parsed.success) return null;
  const { id, call, input } = parsed.data;
  try {
    return { id, value: await answer(handlers, call, input) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

async function answer(handlers: Handlers, name: string, input: unknown): Promise<unknown> {
  if (!isCallName(name)) throw new LonghandError('bad-request', `[protocol] no call "${name}"`);
  const request = calls[name].request.safeParse(input);
  if (!request.success) throw new LonghandError('bad-request', `[${name}] ${firstProblem(request.error)}`);
  const handler = handlers[name] as (input: unknown) => unknown;
  return handler(request.data);
}

const isCallName = (name: string): name is CallName => Object.hasOwn(calls, name);

function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `"${issue.path.join('.')}": ${issue.message}` : 'does not fit its schema';
}

export type Emit = <Name extends EventName>(name: Name, payload: EventPayload<Name>) => void;

export type Switchboard = ReturnType<typeof createSwitchboard>;

/** All clients of one core: each pipe that is added may call, and hears every event until it closes. */
export function createSwitchboard(handlers: Handlers) {
  const pipes = new Set<Pipe<CoreFrame, CallFrame>>();
  const emit: Emit = (name, payload) => {
    const frame = frameOfEvent(name, payload);
    for (const pipe of pipes) {
      try {
        pipe.send(frame);
      } catch {
        // A client that cannot be told anything connects anew and asks; the others are told all the same.
        pipe.close();
      }
    }
  };
  return {
    emit,
    clients: () => pipes.size,
    add(pipe: Pipe<CoreFrame, CallFrame>) {
      pipes.add(pipe);
      pipe.onClose(() => pipes.delete(pipe));
      const answer = async (frame: CallFrame) => {
        const reply = await dispatch(handlers, frame);
        if (reply === null) pipe.close();
        else if (pipes.has(pipe)) pipe.send(reply);
      };
      // A client that cannot be answered connects anew and asks again.
      pipe.onMessage(guarded(() => pipe.close(), answer));
    },
    close() {
      for (const pipe of [...pipes]) pipe.close();
    },
  };
}
