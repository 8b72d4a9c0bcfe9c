import { expect, test } from 'vitest';
import type { ShrinkPlan } from '../../../../app/protocol/index.ts';
import { choiceOf, shrunk, USUAL } from '../../../../renderer/models/shrinking/forms.ts';
import { shapeOf } from '../../../support/fakes/models.ts';

type Sizes = ShrinkPlan['sizes'];
const mlx = (bits: 2 | 3 | 4 | 8, group: 32 | 64, bytes: number): Sizes[number] => ({
  form: { format: 'mlx', bits, group },
  bytes,
});
const q8: Sizes[number] = { form: { format: 'gguf', type: 'Q8_0' }, bytes: 900 };
const plan = (...sizes: Sizes) => ({ sizes, reads: true });

test('who chooses nothing gets four bits, with error feedback on a text', () => {
  const choice = choiceOf(plan(mlx(2, 64, 200), mlx(4, 64, 400), mlx(4, 32, 500), q8), USUAL);
  expect(choice).toMatchObject({ form: { format: 'mlx', bits: 4, group: 64 }, method: 'gptq', bytes: 400 });
  expect(choice?.formats).toEqual(['mlx', 'gguf']);
  expect(choice?.groups).toEqual([64, 32]);
});

test('what does not exist becomes the nearest that does', () => {
  expect(choiceOf(plan(mlx(2, 32, 200), mlx(8, 32, 800)), USUAL)?.form).toEqual({ format: 'mlx', bits: 2, group: 32 });
  expect(choiceOf(plan(q8), USUAL)).toMatchObject({ form: { format: 'gguf', type: 'Q8_0' }, formats: ['gguf'] });
  expect(choiceOf(plan(mlx(4, 64, 400)), { ...USUAL, format: 'gguf' })?.form.format).toBe('mlx');
  // A file for llama.cpp has no mixed bits.
  expect(choiceOf(plan(q8), { ...USUAL, method: 'mixed' })?.method).toBe('weighted');
  expect(choiceOf({ sizes: [mlx(4, 64, 400)], reads: false }, USUAL)?.method).toBe('hqq');
  expect(choiceOf(plan(), USUAL)).toBeNull();
});

test('mixed bits take a tenth more', () => {
  expect(choiceOf(plan(mlx(4, 64, 400)), { ...USUAL, method: 'mixed' })?.bytes).toBe(440);
});

test('the memory of a smaller version is that of the model with smaller weights', () => {
  const description = shapeOf('qwen3.5-4b', 8e9, 'BF16');
  const smaller = shrunk(description, 2e9);
  expect(smaller).toMatchObject({ weightBytes: 2e9, activeBytes: 2e9, memory: null });
  const memory = { weights: 8e9, states: 5 } as NonNullable<typeof description.memory>;
  expect(shrunk({ ...description, memory }, 2e9).memory).toEqual({ weights: 2e9, states: 5 });
});
