import type { AnswerPart, ServedModel } from '../../../core/inference.ts';
import type { FinishReason, Usage } from '../../../protocol/index.ts';
import { headOf, type Problem } from '../problems.ts';

//  Objects used by several endpoints of OpenAI's API.

const FINISH: Partial<Record<FinishReason, string>> = { length: 'length', context: 'length', tool: 'tool_calls' };
export const finishReason = (reason: FinishReason): string => FINISH[reason] ?? 'stop';

type CallObject = Omit<Extract<AnswerPart, { type: 'call' }>, 'type'>;

export const callObject = ({ id, name, arguments: given }: CallObject) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});

/** `miss` is our extension: known tokens that were prefilled again, and why. */
export const usageObject = ({ promptTokens, cachedTokens, miss, thinkingTokens, answerTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: thinkingTokens + answerTokens,
  total_tokens: promptTokens + thinkingTokens + answerTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  ...(miss && { miss }),
  completion_tokens_details: { reasoning_tokens: thinkingTokens },
});

export const sumOf = (usages: readonly Usage[]): Usage => {
  const sum = (count: (usage: Usage) => number) => usages.reduce((total, usage) => total + count(usage), 0);
  const misses = usages.flatMap(({ miss }) => miss ?? []);
  const [miss] = misses;
  return {
    ...(miss && { miss: { ...miss, tokens: misses.reduce((total, { tokens }) => total + tokens, 0) } }),
    promptTokens: sum(({ promptTokens }) => promptTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    thinkingTokens: sum(({ thinkingTokens }) => thinkingTokens),
    answerTokens: sum(({ answerTokens }) => answerTokens),
  };
};

export const modelObject = ({ id, name, kind, entry }: ServedModel) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'longhand',
  name,
  kind,
  context_length: entry?.description?.contextLength ?? null,
  input_modalities: entry?.description?.vision ? ['text', 'image'] : ['text'],
});

export const problemObject = ({ status, code, message }: Problem) => ({
  error: {
    message,
    type: status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error',
    param: null,
    code: CODES[code] ?? code.replace(/-/g, '_'),
  },
});

const CODES: Partial<Record<Problem['code'], string>> = {
  'model-missing': 'model_not_found',
  'context-full': 'context_length_exceeded',
};

export const problemResponse = (problem: Problem): Response => Response.json(problemObject(problem), headOf(problem));
