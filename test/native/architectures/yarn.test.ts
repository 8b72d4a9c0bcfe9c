// YaRN as its publishers write it: every field of the scaling has its say, and absent fields mean what transformers and
// llama.cpp take them for.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import { temporaryFolder } from '../../support/models/formats.ts';
import { someTokens } from '../../support/models/models.ts';

const yarn = { rope_type: 'yarn', rope_theta: 10_000, factor: 8, original_max_position_embeddings: 64 };
const attention = 0.1 * Math.log(yarn.factor) + 1;

/** Scores of the last of 100 tokens, with this scaling in the place of the model's own. */
async function scores(scaling: Record<string, unknown>): Promise<Float32Array> {
  const folder = temporaryFolder();
  cpSync(join(golden, 'llama/rope_llama3'), folder, { recursive: true });
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, rope_parameters: { ...yarn, ...scaling } }));
  const model = await addon.load(folder, { device: 'cpu' });
  const { data } = await model.createSession({ path: 'exact', contextLength: 256 }).logits(someTokens(100));
  model.close();
  return data;
}

test('the factor of attention is the one given, else that of the mscales, else that of the factor', async () => {
  const plain = await scores({});
  expect(await scores({ attention_factor: attention })).toEqual(plain);
  const one = await scores({ attention_factor: 1 });
  expect(one).not.toEqual(plain);
  expect(await scores({ mscale: 1, mscale_all_dim: 1 })).toEqual(one);
  // As DeepSeek's files have it: the same of both.
  expect(await scores({ mscale: 0.7, mscale_all_dim: 0.7 })).toEqual(one);
  expect(await scores({ mscale: 1, mscale_all_dim: 0 })).toEqual(plain);
});

test('linear scaling slows every frequency, as that of Llama 3 does where no wave is short', async () => {
  const every = { rope_type: 'llama3', original_max_position_embeddings: 1, low_freq_factor: 1, high_freq_factor: 4 };
  for (const factor of [2, 8]) {
    const linear = await scores({ rope_type: 'linear', factor });
    expect(linear).toEqual(await scores({ ...every, factor }));
    expect(linear).not.toEqual(await scores({ rope_type: 'linear', factor: 1 }));
  }
});

test('the ramp stands at whole frequencies unless "truncate" is false', async () => {
  const plain = await scores({});
  expect(await scores({ truncate: true })).toEqual(plain);
  expect(await scores({ truncate: false })).not.toEqual(plain);
});

test('waves that turn often enough within the length of the training stay as they are', async () => {
  const frequencies = (original: number) => scores({ original_max_position_embeddings: original, attention_factor: 1 });
  const linear = (factor: number) => scores({ rope_type: 'linear', factor });
  expect(await frequencies(1e9)).toEqual(await linear(1));
  const between = await frequencies(4096);
  expect(between).not.toEqual(await linear(1));
  expect(between).not.toEqual(await linear(yarn.factor));
});

test('the ends of the ramp are those given', async () => {
  const plain = await scores({});
  expect(await scores({ beta_fast: 32, beta_slow: 1 })).toEqual(plain);
  expect(await scores({ beta_fast: 4 })).not.toEqual(plain);
});

test('a field of the wrong kind is refused by its name', async () => {
  await expect(scores({ attention_factor: 'much' })).rejects.toThrow('attention_factor');
  await expect(scores({ truncate: 1 })).rejects.toThrow('truncate');
});
