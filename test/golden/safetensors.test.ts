// Models as published on the hub, against transformers in fp32: logits at every position, hidden states, final states,
// greedy continuation; every chunking of the prompt; every instruction set of this processor.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon, golden } from '../support/addon.ts';
import { asFloats, readSafetensors } from '../support/models/formats.ts';
import {
  checkGreedy,
  checkHidden,
  checkLogits,
  checkStates,
  instructionSets,
  largestDifference,
  readCase,
} from '../support/models/golden.ts';
import { published } from './cases.ts';

const withBf16File = ['llama/gqa_tied', 'qwen3_5/dense_tied'];

describe.each(instructionSets)('%s', (cpu) => {
  test.each(published)('%s gives the numbers of the reference', { timeout: 120_000 }, async (name) => {
    const reference = readCase(name);
    const model = await addon.load(reference.folder, { cpu });
    await checkLogits(model, reference);
    await checkHidden(model, reference);
    await checkStates(model, reference);
    await checkGreedy(model, reference);
    model.close();
  });

  test.each(withBf16File)('%s stored in bf16 gives the numbers of its rounded weights', async (name) => {
    const all = readCase(name);
    const prompts = all.prompts.filter((prompt) => all.expected(`bf16_weights.logits.${prompt.name}`) !== undefined);
    const model = await addon.load(join(all.folder, 'model_bf16.safetensors'), { cpu });
    await checkLogits(model, { ...all, prompts }, 'bf16_weights.logits.');
    model.close();
  });

  test('experts stored one a tensor are the experts stored in stacks', async () => {
    const reference = readCase('qwen3_5_moe/top3');
    const model = await addon.load(join(reference.folder, 'model_per_expert.safetensors'), { cpu });
    await checkLogits(model, reference);
    model.close();
  });
});

test('decoding reads only the experts that were chosen', async () => {
  const reference = readCase('qwen3_5_moe/top3');
  const model = await addon.load(reference.folder);
  const session = model.createSession({ path: 'exact' });
  const before = model.expertBytesRead();
  await session.generate(Int32Array.from([27]), { maxTokens: 1 });
  // 4 layers, 3 of 8 experts, each 48 x 48 gate and up and 48 x 24 down in fp32.
  expect(model.expertBytesRead() - before).toBe(4 * 3 * (48 * 48 + 48 * 24) * 4);
  model.close();
});

test('a model in several files is the model in one', async () => {
  const folder = join(golden, 'containers', 'sharded');
  const facts = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
    prompt: number[];
    tolerance: { logits_max_abs_fp32: number };
  };
  const { logits } = readSafetensors(readFileSync(join(folder, 'expected.safetensors')));
  const model = await addon.load(folder);
  const session = model.createSession({ path: 'exact' });
  const { data } = await session.logits(Int32Array.from(facts.prompt), { all: true });
  const wanted = asFloats(logits?.bytes ?? new Uint8Array());
  expect(largestDifference(data, wanted)).toBeLessThanOrEqual(facts.tolerance.logits_max_abs_fp32);
  model.close();
});
