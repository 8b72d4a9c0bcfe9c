import { randomUUID } from 'node:crypto';
import type { AnswerPart, TokenScore } from '../../../core/inference.ts';
import type { Usage } from '../../../protocol/index.ts';
import { type Answers, allOrNone, merged, type Whole } from '../answers.ts';
import { problemOf } from '../problems.ts';
import { serverSentEvents, sse, streamed } from '../stream.ts';
import { chatLogprobs } from './logprobs.ts';
import { type ChatBody, requestsOf } from './openai-body.ts';
import { callObject, finishReason, problemObject, sumOf, usageObject } from './openai-objects.ts';

//  Chat completions. Several choices of a request are generated concurrently.

export async function chatCompletions(body: ChatBody, answers: Answers, hungUp: AbortController): Promise<Response> {
  const requests = requestsOf(body);
  const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model };
  if (body.stream) {
    const inPieces = requests.map((request) => ({ ...request, callsInPieces: true }));
    const parts = merged(inPieces, answers, hungUp);
    // Errors before the first chunk determine the HTTP status, which is sent with that chunk.
    const first = await parts.next();
    const frames = chunks(base, requests.length, first, parts, body.stream_options?.include_usage ?? false);
    return streamed(serverSentEvents, frames, hungUp);
  }
  const written = await allOrNone(requests, answers, hungUp);
  return Response.json({
    ...base,
    object: 'chat.completion',
    choices: written.map(choiceObject),
    usage: usageObject(usageOf(written.map(({ end }) => end.usage))),
  });
}

const choiceObject = ({ thinking, text, scores, calls, end }: Whole, index: number) => ({
  index,
  message: {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls.map(callObject) }),
    ...(thinking !== '' && { reasoning_content: thinking }),
    refusal: null,
  },
  logprobs: chatLogprobs(scores),
  finish_reason: finishReason(end.reason),
});

/** All choices share the prompt, which counts once. */
const usageOf = (usages: readonly Usage[]): Usage => {
  const { promptTokens = 0, cachedTokens = 0, miss } = usages[0] ?? {};
  return { ...sumOf(usages), promptTokens, cachedTokens, ...(miss && { miss }) };
};

type Numbered = { index: number; value: AnswerPart };

async function* chunks(
  base: object,
  count: number,
  first: IteratorResult<Numbered, void>,
  parts: AsyncGenerator<Numbered, void>,
  withUsage: boolean,
): AsyncGenerator<string, void> {
  const chunk = (index: number, delta: object, finish_reason: string | null = null, scores?: TokenScore[]) => {
    const choice = { index, delta, logprobs: chatLogprobs(scores), finish_reason };
    return sse({ ...base, object: 'chat.completion.chunk', choices: [choice] });
  };
  const calls: number[] = Array(count).fill(0);
  const usages: Usage[] = [];
  try {
    for (let index = 0; index < count; index++) yield chunk(index, { role: 'assistant', content: '' });
    for (let next = first; !next.done; next = await parts.next()) {
      const { index, value: part } = next.value;
      if (part.type === 'text') {
        yield part.kind === 'answer'
          ? chunk(index, { content: part.text }, null, part.scores)
          : chunk(index, { reasoning_content: part.text });
      } else if (part.type === 'call-begin') {
        const number = calls[index] ?? 0;
        calls[index] = number + 1;
        yield chunk(index, { tool_calls: [{ index: number, ...callObject({ ...part, arguments: '' }) }] });
      } else if (part.type === 'call-arguments') {
        const number = (calls[index] ?? 1) - 1;
        yield chunk(index, { tool_calls: [{ index: number, function: { arguments: part.text } }] });
      } else if (part.type === 'end') {
        usages[index] = part.usage;
        yield chunk(index, {}, finishReason(part.reason));
      }
    }
    if (withUsage) {
      yield sse({ ...base, object: 'chat.completion.chunk', choices: [], usage: usageObject(usageOf(usages)) });
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // The status has already been sent: the error becomes an event, and the stream ends without [DONE].
    yield sse(problemObject(problemOf(error)));
  } finally {
    await parts.return();
  }
}
