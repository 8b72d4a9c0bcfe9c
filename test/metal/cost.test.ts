import { expect, test } from 'vitest';
import { chips, dispatches, models, tokensPerSecond } from './cost.ts';

test('the estimate lies below what the bytes alone allow, and more bandwidth never costs tokens', () => {
  for (const model of models) {
    const speeds = chips.map(({ bandwidth }) => tokensPerSecond(model, bandwidth));
    expect(speeds).toEqual(speeds.toSorted((a, b) => a - b));
    chips.forEach(({ bandwidth }, i) => {
      expect(speeds[i]).toBeLessThan((0.85 * bandwidth) / model.weightBytes);
    });
  }
});

test('the dispatches of Qwen3.5-0.8B are those of the budget', () => {
  const hybrid = models.find(({ name }) => name === 'Qwen3.5-0.8B 4-bit');
  expect(hybrid && dispatches(hybrid)).toBe(18 * 5 + 6 * 6 + 2);
});
