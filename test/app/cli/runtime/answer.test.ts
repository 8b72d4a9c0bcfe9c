// The figures of an answer, and after how much thinking a model has to answer.
import { expect, test } from 'vitest';
import { thinkLimitOf, timingsOf } from '../../../../app/cli/runtime/answer.ts';
import type { GenerateResult, Session } from '../../../../native/addon/index.d.ts';

test.each([
  [undefined, 40_000, 8192],
  [undefined, 16_384, 8192],
  [undefined, 16_383, 8191],
  [undefined, 100, 50],
  [12, 100, 12],
  [10_000, 100, 10_000],
  [0, 100, Number.POSITIVE_INFINITY],
])('a limit of %s in a context of %i is %i tokens', (limit, contextLength, wanted) => {
  expect(thinkLimitOf(limit, { contextLength } as Session)).toBe(wanted);
});

test('the speed is that of the tokens after the first, where there are any and they took time', () => {
  const timings = { promptTokens: 40, cachedTokens: 8, prefillMs: 4, firstTokenMs: 5, decodeMs: 2000 };
  const figures = (tokens: number, more: object = {}) =>
    timingsOf({
      timings: { ...timings, ...more },
      tokens: Int32Array.from({ length: tokens }),
    } as unknown as GenerateResult);
  expect(figures(5)).toEqual({
    prompt_tokens: 40,
    cached_tokens: 8,
    prefill_ms: 4,
    first_token_ms: 5,
    decode_ms: 2000,
    tokens_per_second: 2,
  });
  expect(figures(2, { deviceMs: 3 })).toMatchObject({ device_ms: 3, tokens_per_second: 0.5 });
  for (const given of [figures(1), figures(0), figures(5, { decodeMs: 0 })]) expect(given.tokens_per_second).toBeNull();
});
