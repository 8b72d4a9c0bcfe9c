// Real models end to end: what they say, and how far the fast path is from the exact one (tiny random networks amplify 8-bit
// rounding and are no measure of it).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelTextFromFiles, modelTextFromGguf } from '../../app/text/model-text.ts';
import type { Model } from '../../native/addon/index.d.ts';
import { addon, golden } from '../support/addon.ts';
import { starter } from '../support/models/models.ts';
import { realModel } from '../support/models/real-models.mjs';

interface Answers {
  prompts: { text: string; answer: string }[];
}
const { prompts } = JSON.parse(readFileSync(join(golden, 'smollm2.json'), 'utf8')) as Answers;
const fetching = 600_000;

/** Prose that neither model has been tuned to: every position is a prediction to compare. */
const prose = `The lighthouse keeper counted the ships as they passed, one by one, until the fog came in from the sea. In the
morning he wrote their names into a book: who had come from the north, who carried timber, and who had not been seen before.
When the storm ended he walked down to the harbour and asked the fishermen what they had found. They had found a small boat
with a red sail, a box of oranges, and a letter that nobody could read.`;

test('SmolLM2 answers as it did, from GGUF', { timeout: fetching }, async () => {
  const path = await realModel('smollm2');
  const text = modelTextFromGguf(await addon.ggufMetadata(path));
  const model = await addon.load(path);
  const session = model.createSession({ path: 'exact' });
  for (const { text: prompt, answer } of prompts) {
    const ids = text.tokenizer.encode(text.tokenizer.split(prompt));
    const { tokens, finish } = await session.generate(Int32Array.from(ids), {
      maxTokens: 64,
      stopTokens: [...text.stopIds],
      path: 'exact',
    });
    expect(finish, prompt).toBe('stop');
    expect(text.decode(tokens.slice(0, -1)), prompt).toBe(answer);
  }
  model.close();
});

function softmax(row: Float32Array): Float64Array {
  const largest = row.reduce((max, x) => Math.max(max, x), Number.NEGATIVE_INFINITY);
  const out = Float64Array.from(row, (x) => Math.exp(x - largest));
  const sum = out.reduce((total, x) => total + x, 0);
  return out.map((x) => x / sum);
}

/** Mean KL divergence of the fast path from the exact one over all positions, and how often both have the same favourite. */
async function compare(model: Model, tokens: Int32Array): Promise<{ divergence: number; agreement: number }> {
  const [exact, fast] = await Promise.all(
    (['exact', 'fast'] as const).map((path) => model.createSession({ path }).logits(tokens, { all: true, path })),
  );
  if (exact === undefined || fast === undefined) throw new Error('two paths give two results');
  let divergence = 0;
  let same = 0;
  for (let row = 0; row < exact.rows; row++) {
    const part = (data: Float32Array) => softmax(data.subarray(row * exact.columns, (row + 1) * exact.columns));
    const [p, q] = [part(exact.data), part(fast.data)];
    const best = (d: Float64Array) => d.indexOf(d.reduce((max, x) => Math.max(max, x), 0));
    divergence += p.reduce((sum, x, i) => (x > 0 ? sum + x * Math.log(x / (q[i] ?? 0)) : sum), 0);
    same += best(p) === best(q) ? 1 : 0;
  }
  return { divergence: divergence / exact.rows, agreement: same / exact.rows };
}

test('the fast path of the starter stays close to the exact one', async () => {
  const read = (file: string) => JSON.parse(readFileSync(join(starter, file), 'utf8')) as unknown;
  const text = modelTextFromFiles({
    tokenizer: read('tokenizer.json'),
    tokenizerConfig: read('tokenizer_config.json'),
  });
  const model = await addon.load(starter);
  const { divergence, agreement } = await compare(model, Int32Array.from(text.tokenizer.encodeText(prose, true)));
  expect(divergence).toBeLessThanOrEqual(2e-3);
  expect(agreement).toBeGreaterThanOrEqual(0.99);
  model.close();
});

test('the fast path of SmolLM2 stays close to the exact one', { timeout: fetching }, async () => {
  const path = await realModel('smollm2');
  const text = modelTextFromGguf(await addon.ggufMetadata(path));
  const model = await addon.load(path);
  const { divergence, agreement } = await compare(model, Int32Array.from(text.tokenizer.encodeText(prose, true)));
  expect(divergence).toBeLessThanOrEqual(2e-3);
  expect(agreement).toBeGreaterThanOrEqual(0.99);
  model.close();
});
