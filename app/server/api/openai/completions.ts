import { randomUUID } from 'node:crypto';
import type { AnswerPart, TokenScore } from '../../../core/inference.ts';
import type { Usage } from '../../../protocol/index.ts';
import { type Answers, allOrNone, merged } from '../answers.ts';
import { problemOf } from '../problems.ts';
import { serverSentEvents, sse, streamed } from '../stream.ts';
import { type Choice, type CompletionsBody, choicesOf } from './completions-body.ts';
import { textLogprobs } from './logprobs.ts';
import { finishReason, problemObject, sumOf, usageObject } from './openai-objects.ts';

//  Text completions. Several choices of a request are generated concurrently.

export async function completions(body: CompletionsBody, answers: Answers, hungUp: AbortController): Promise<Response> {
  const choices = choicesOf(body);
  const requests = choices.map(({ request }) => request);
  const base = {
    id: `cmpl-${randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: body.model,
  };
  if (body.stream) {
    const parts = merged(requests, answers, hungUp);
    const first = await parts.next();
    const frames = chunks(base, choices, first, parts, body.stream_options?.include_usage ?? false);
    return streamed(serverSentEvents, frames, hungUp);
  }
  const written = await allOrNone(requests, answers, hungUp);
  return Response.json({
    ...base,
    choices: written.map(({ text, scores, end }, index) => ({
      index,
      text: (choices[index]?.prompt ?? '') + text,
      logprobs: body.logprobs == null ? null : textLogprobs(scores, 0),
      finish_reason: finishReason(end.reason),
    })),
    usage: usageObject(sumOf(written.map(({ end }) => end.usage))),
  });
}

type Numbered = { index: number; value: AnswerPart };

async function* chunks(
  base: object,
  choices: readonly Choice[],
  first: IteratorResult<Numbered, void>,
  parts: AsyncGenerator<Numbered, void>,
  withUsage: boolean,
): AsyncGenerator<string, void> {
  const offsets = choices.map(() => 0);
  const usages: Usage[] = [];
  const logprobsOf = (index: number, text: string, scores: readonly TokenScore[] | undefined) => {
    const begin = offsets[index] ?? 0;
    offsets[index] = begin + text.length;
    return scores ? textLogprobs(scores, begin) : null;
  };
  const chunk = (index: number, text: string, more: object = {}) =>
    sse({ ...base, choices: [{ index, text, logprobs: null, finish_reason: null, ...more }] });
  try {
    for (const [index, { prompt }] of choices.entries()) if (prompt !== '') yield chunk(index, prompt);
    for (let next = first; !next.done; next = await parts.next()) {
      const { index, value: part } = next.value;
      if (part.type === 'text') yield chunk(index, part.text, { logprobs: logprobsOf(index, part.text, part.scores) });
      if (part.type !== 'end') continue;
      usages.push(part.usage);
      yield chunk(index, '', { finish_reason: finishReason(part.reason) });
    }
    if (withUsage) yield sse({ ...base, choices: [], usage: usageObject(sumOf(usages)) });
    yield 'data: [DONE]\n\n';
  } catch (error) {
    yield sse(problemObject(problemOf(error)));
  } finally {
    await parts.return();
  }
}
