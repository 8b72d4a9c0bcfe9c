// The reader of documents (resources/reader) on the encoder that it was made for, against its own training code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createEngine } from '../../app/engine/client.ts';
import { readModelText } from '../../app/engine/text-files.ts';
import type { Model } from '../../native/addon/index.d.ts';
import { loadOnMetal } from '../metal/standin.ts';
import { addon } from '../support/addon.ts';
import { realEngine } from '../support/core.ts';
import { instructionSets } from '../support/golden.ts';
import { realModel } from '../support/real-models.mjs';
import { loadOnVulkan } from '../vulkan/device.ts';

const reader = join(import.meta.dirname, '../../resources/reader');
type Pair = { question: string; statement: string; tokens: number[]; score: number };
const pairs = JSON.parse(readFileSync(join(reader, 'reference.json'), 'utf8')) as Pair[];
const separator = 102;

async function scoresAre(model: Model) {
  const scores = await model.rank(
    Int32Array.from(pairs.flatMap(({ tokens }) => tokens)),
    Int32Array.from(pairs, ({ tokens }) => tokens.indexOf(separator) + 1),
    Int32Array.from(pairs, ({ tokens }) => tokens.length),
  );
  for (const [at, { score, question }] of pairs.entries()) expect(scores[at], question).toBeCloseTo(score, 3);
  model.close();
}

test.each(instructionSets)('%s: the scores of pairs', async (cpu) => {
  await scoresAre(await addon.load(await realModel('minilm'), { adapter: reader, cpu }));
});

test('Metal: the scores of pairs', async () => {
  await scoresAre(await loadOnMetal(await realModel('minilm'), { adapter: reader }));
});

test('Vulkan: the scores of pairs', async ({ skip }) => {
  if (process.platform === 'darwin') skip('needs Linux: a Vulkan driver');
  await scoresAre(await loadOnVulkan(await realModel('minilm'), { adapter: reader }));
});

test('the engine reads a pair as the reader was trained on it', async () => {
  const path = await realModel('minilm');
  const { tokenizer } = await readModelText(addon, path);
  const { before, after } = tokenizer.around;
  const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
  for (const { question, statement, tokens, score } of pairs) {
    const [first, second] = [tokenizer.encodeText(question), tokenizer.encodeText(statement)];
    expect([...before, ...first, ...after, ...second, ...after]).toEqual(tokens);
    const target = { path, device: null, threads: null, adapter: reader };
    const { scores } = await engine.ask('rank', { target, query: question, texts: [statement] });
    expect(scores[0]).toBeCloseTo(score, 3);
  }
  await engine.close();
});
