import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { chips, dispatches, models, promptTokensPerSecond, tokensPerSecond } from './cost.ts';

test('the estimate lies below what bytes and arithmetic alone allow, and a better chip never costs tokens', () => {
  for (const model of models) {
    const speeds = chips.map((chip) => tokensPerSecond(model, chip));
    const prompts = chips.map((chip) => promptTokensPerSecond(model, chip, 'halves'));
    expect(speeds).toEqual(speeds.toSorted((a, b) => a - b));
    expect(prompts).toEqual(prompts.toSorted((a, b) => a - b));
    chips.forEach((chip, i) => {
      expect(promptTokensPerSecond(model, chip, 'floats')).toBeLessThan(prompts[i] as number);
    });
    chips.forEach(({ bandwidth, flops }, i) => {
      expect(speeds[i]).toBeLessThan((0.85 * bandwidth) / model.weightBytes);
      expect(prompts[i]).toBeLessThan((0.8 * flops) / (2 * model.multiplications));
    });
  }
});

test('is printed for M1, M2 Pro, M4 Max and M5 Max beside what was published', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'cost.ts')]);
  for (const { name } of chips) expect(stdout.match(new RegExp(`^  ${name} `, 'gm'))).toHaveLength(models.length);
  expect(stdout).toMatch(/estimated[\s\S]*M2 Pro.*116 llama\.cpp[\s\S]*M5 Max.*506 MLX/);
});

test('the dispatches of Qwen3.5-0.8B are those of the budget', () => {
  const hybrid = models.find(({ name }) => name === 'Qwen3.5-0.8B 4-bit');
  expect(hybrid && dispatches(hybrid)).toBe(18 * 5 + 6 * 6 + 2);
});
