import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import { exactSession, readCase, required } from '../../support/models/golden.ts';

const logSoftmax = (row: Float32Array): number[] => {
  const most = Math.max(...row);
  const total = most + Math.log(row.reduce((sum, one) => sum + Math.exp(one - most), 0));
  return [...row].map((one) => one - total);
};

test.each(['llama/gqa_tied', 'qwen3_5/dense_tied', 'lfm2/auto_adjust', 'minicpm_sala/mixed'])(
  '%s: log-probabilities are those of the reference implementation, wherever scoring begins',
  async (name) => {
    const model = await addon.load(join(golden, name));
    const reference = readCase(name);
    for (const { name: prompt, ids } of reference.prompts) {
      if (ids.length < 3) continue;
      const logits = required(reference, `logits.${prompt}`);
      const columns = logits.length / ids.length;
      const rows = Array.from({ length: ids.length }, (_, at) =>
        logSoftmax(logits.slice(at * columns, (at + 1) * columns)),
      );
      const expected = [...ids].slice(1).map((id, at) => rows[at]?.[id] as number);
      const session = exactSession(model);
      const { logprobs } = await session.score(Int32Array.from(ids), {});
      expect(logprobs.length).toBe(expected.length);
      for (const [at, value] of expected.entries()) expect(logprobs[at]).toBeCloseTo(value, 3);
      const mean = (of: ArrayLike<number>) => Array.from(of).reduce((sum, one) => sum + one, 0) / of.length;
      // Perplexity within 1e-4, relative.
      expect(Math.abs(Math.exp(mean(expected) - mean(logprobs)) - 1)).toBeLessThan(1e-4);
      const from = Math.ceil(ids.length / 2);
      const later = await session.score(Int32Array.from(ids), {
        from,
        top: 5,
        at: [...ids].slice(from).flatMap((id) => [id, 0]),
      });
      expect(later.logprobs.length).toBe(ids.length - from);
      for (let at = 0; at < later.logprobs.length; ++at) {
        const row = rows[from - 1 + at] as number[];
        expect(later.logprobs[at]).toBeCloseTo(expected[from - 1 + at] as number, 3);
        expect(later.atLogprobs[2 * at]).toBe(later.logprobs[at]);
        expect(later.atLogprobs[2 * at + 1]).toBeCloseTo(row[0] as number, 3);
        const best = row.toSorted((a, b) => b - a).slice(0, 5);
        for (const [rank, value] of best.entries()) expect(later.topLogprobs[5 * at + rank]).toBeCloseTo(value, 3);
        const likeliest = later.top[5 * at] as number;
        expect(row[likeliest]).toBeCloseTo(best[0] as number, 3);
      }
      session.close();
    }
    model.close();
  },
);

test('what cannot be scored is refused with what is allowed', async () => {
  const model = await addon.load(join(golden, 'llama/gqa_tied'));
  const session = exactSession(model);
  const tokens = Int32Array.of(1, 2, 3, 4);
  await expect(session.score(tokens, { from: 4 })).rejects.toThrow(/from 4 leaves nothing to score of 4/);
  await expect(session.score(tokens, { top: 1 << 20 })).rejects.toThrow(/top 1048576, expected 0 to/);
  await expect(session.score(tokens, { at: [1, 2] })).rejects.toThrow(/at has 2 tokens, expected a multiple of 3/);
  await expect(session.score(tokens, { at: [1, 2, 1 << 20] })).rejects.toThrow(/at has token 1048576/);
  expect((await session.score(tokens, {})).logprobs).toHaveLength(3);
  session.close();
  model.close();
});
