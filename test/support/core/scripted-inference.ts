import type { AnswerPart, AnswerRequest, Inference, ServedModel } from '../../../app/core/inference.ts';
import { noTimings } from '../../../app/engine/process/generation/generation-metrics.ts';

//  What the server asks for answers, as the test wrote them: for figures and events that no small model gives every time.

export const usage = { promptTokens: 9, cachedTokens: 4, thinkingTokens: 2, answerTokens: 3 };
export const end = (more: Partial<Extract<AnswerPart, { type: 'end' }>> = {}): AnswerPart => ({
  type: 'end',
  reason: 'stop',
  stop: null,
  usage,
  timings: { ...noTimings, totalMs: 30, prefillMs: 7.5, decodeMs: 20 },
  ...more,
});
export const says = (text: string, kind: 'thinking' | 'answer' = 'answer'): AnswerPart => ({
  type: 'text',
  kind,
  text,
});

/** A question as it is when nothing else was asked for. */
export const plainRequest = (more: Partial<AnswerRequest> = {}): AnswerRequest => ({
  model: 'm',
  messages: [{ role: 'user', text: 'Hello', thinking: '' }],
  tools: [],
  thinking: null,
  thinkingTokens: null,
  sampling: {},
  stops: [],
  ...more,
});

/** `script`: the parts of every answer; an error is thrown where it stands. */
export function scriptedInference(script: readonly (AnswerPart | Error)[], models: ServedModel[] = []) {
  const asked: AnswerRequest[] = [];
  const done: unknown[][] = [];
  const note =
    (name: string) =>
    async (...given: unknown[]) => {
      done.push([name, ...given]);
    };
  const inference = {
    models: async () => models,
    inMemory: async () => null,
    load: note('load'),
    unload: note('unload'),
    abilities: async () => ({ tools: true, thinking: false }),
    count: async (request: AnswerRequest) => {
      asked.push(request);
      return 42;
    },
    async *answer(request: AnswerRequest) {
      asked.push(request);
      for (const part of script) {
        if (part instanceof Error) throw part;
        yield part;
      }
    },
  } as unknown as Inference;
  return { inference, asked, done };
}

export const post = (body: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
