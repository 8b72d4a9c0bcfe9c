import { z } from 'zod';
import type { AnswerRequest } from '../../../core/inference.ts';
import { biasOf, LogitBias, MAX_CHOICES, Stops, samplingFields, samplingOf, stopsOf } from './openai-body.ts';

//  Text completions: https://platform.openai.com/docs/api-reference/completions

const NOT_READ = 'has to be a text or a list of texts; token ids are not read';

export const CompletionsBody = z
  .looseObject({
    model: z.string().min(1).max(500),
    prompt: z.union([z.string(), z.array(z.string(NOT_READ)).min(1).max(MAX_CHOICES)], NOT_READ).nullish(),
    suffix: z.string().nullish(),
    echo: z.boolean().nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    ...samplingFields,
    stop: Stops,
    n: z.number().int().min(1).max(MAX_CHOICES).nullish(),
    best_of: z.number().int().nullish(),
    logit_bias: LogitBias,
    logprobs: z.number().int().min(0).max(20).nullish(),
  })
  .refine(({ prompt, n }) => textsOf(prompt).length * (n ?? 1) <= MAX_CHOICES, {
    path: ['n'],
    error: `asks for more than ${MAX_CHOICES} texts together with the number of prompts`,
  })
  .refine(({ best_of, n }) => best_of == null || best_of === (n ?? 1), {
    path: ['best_of'],
    error: 'is not supported: every text that is written is sent; leave it out or set it to n',
  })
  .refine(({ echo, logprobs }) => !echo || logprobs == null, {
    path: ['echo'],
    error: 'cannot be combined with logprobs: only what is written has log probabilities',
  })
  .refine(({ echo, suffix }) => !echo || !suffix, { path: ['echo'], error: 'cannot be combined with suffix' });
export type CompletionsBody = z.infer<typeof CompletionsBody>;

/** The API's default limit. */
const USUAL_TOKENS = 16;

const textsOf = (prompt: string | string[] | null | undefined): string[] =>
  Array.isArray(prompt) ? prompt : [prompt ?? ''];

export type Choice = { prompt: string; request: AnswerRequest };

/** One per requested choice, in order of their indexes. */
export function choicesOf(body: CompletionsBody): Choice[] {
  const { suffix, n, seed } = body;
  const again = [...Array(n ?? 1).keys()];
  return textsOf(body.prompt).flatMap((prompt) =>
    again.map((number) => ({
      prompt: body.echo ? prompt : '',
      request: {
        model: body.model,
        messages: [],
        raw: { text: prompt, suffix: suffix == null || suffix === '' ? null : suffix },
        tools: [],
        thinking: false,
        thinkingTokens: null,
        sampling: samplingOf({
          ...body,
          max_tokens: body.max_tokens ?? USUAL_TOKENS,
          // The same seed would generate the same text again.
          seed: seed == null ? null : seed + number,
        }),
        stops: stopsOf(body.stop),
        logprobs: body.logprobs ?? null,
        bias: biasOf(body.logit_bias),
      },
    })),
  );
}
