import { expect, test } from 'vitest';
import { smallerName } from '../../../../app/models/shrinking/smaller-name.ts';
import { createTimeLeft } from '../../../../app/models/shrinking/time-left.ts';
import { isWeaker, methodsOf, verdictOf } from '../../../../app/protocol/index.ts';
import { wordOf } from '../../../../app/quality/verdict.ts';

const mlx = { format: 'mlx', bits: 4, group: 64 } as const;
const gguf = { format: 'gguf', type: 'Q4_K' } as const;
const weights = { kind: 'weights', method: 'rtn', again: false } as const;
const [toMlx, toGguf] = [{ ...weights, form: mlx } as const, { ...weights, form: gguf } as const];
const toLatent = { kind: 'context', form: { pairs: 4, rope: '2-norm', rank: 24, svd: 'whitened' } } as const;

test.each([
  ['Qwen3.5 4B', toMlx, [], 'Qwen3.5 4B 4-bit'],
  ['Qwen3.5 4B BF16', toMlx, [], 'Qwen3.5 4B 4-bit'],
  ['SmolLM2-135M-Instruct-Q8_0', toGguf, [], 'SmolLM2-135M-Instruct Q4_K'],
  ['Starter', toGguf, ['Starter Q4_K'], 'Starter Q4_K (2)'],
  ['SmolLM2 135M BF16', toLatent, [], 'SmolLM2 135M latent'],
  ['Starter', toGguf, ['Starter Q4_K', 'Starter Q4_K (2)'], 'Starter Q4_K (3)'],
  // The whole name is none of these.
  ['BF16', toMlx, [], 'BF16 4-bit'],
] as const)('%s is called after its form', (original, goal, taken, name) => {
  expect(smallerName(original, goal, taken)).toBe(name);
});

test('the time that is left is told after a while, for each phase anew', () => {
  let now = 0;
  const left = createTimeLeft(() => now);
  expect(left('writing', 0)).toBeNull();
  now = 1000;
  expect(left('writing', 0.1)).toBeNull();
  now = 10_000;
  expect(left('writing', 0.25)).toBe(30);
  expect(left('measuring', 0.5)).toBeNull();
  now = 20_000;
  // A quarter in ten seconds; what was there when the phase began took none of it.
  expect(left('measuring', 0.75)).toBe(10);
});

test('no text weighs anything for a model that reads none, and a file for llama.cpp has one width', () => {
  expect(methodsOf(mlx, true)[0]).toBe('gptq');
  expect(methodsOf(mlx, false)).toEqual(['hqq', 'rtn']);
  expect(methodsOf(gguf, true)).toEqual(['weighted', 'rtn']);
  expect(methodsOf(gguf, false)).toEqual(['rtn']);
});

test('the page and the terminal judge alike', () => {
  for (const nats of [0, 0.009, 0.01, 0.05, 0.19, 0.2, 0.9, 1, 7]) expect(wordOf(nats)).not.toBe('broken');
  expect([0.001, 0.02, 0.08, 0.4, 3].map(verdictOf)).toEqual(['same', 'slight', 'little', 'clear', 'much']);
  expect([0, 0.01, 0.05, 0.2, 1].map(verdictOf)).toEqual(['same', 'slight', 'little', 'clear', 'much']);
  expect([0, 0.05, 0.19, 0.2, 1, null].map((nats) => isWeaker(verdictOf(nats)))).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
  ]);
  for (const nats of [null, Number.NaN, -1]) expect(verdictOf(nats)).toBe('broken');
});
