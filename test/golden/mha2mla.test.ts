// Llama models converted to latent attention: both layouts, joint and split factors, every selection of rotary pairs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon } from '../support/addon.ts';
import {
  asFloats,
  f32,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../support/models/formats.ts';
import { checkLogits, instructionSets, largestDifference, readCase } from '../support/models/golden.ts';
import { someTokens } from '../support/models/models.ts';
import { latent, latentFolder } from './cases.ts';

describe.each(instructionSets)('%s', (cpu) => {
  test.each(latent)('%s', async (name) => {
    const reference = readCase(`mha2mla/${name}`);
    const files = ['model.safetensors', 'model_old_layout.safetensors'].filter((file) =>
      existsSync(join(reference.folder, file)),
    );
    for (const file of files) {
      const model = await addon.load(latentFolder(name, file), { cpu });
      expect(model.description.layers.map(({ kind }) => kind)).toEqual(['latent', 'latent']);
      await checkLogits(model, reference);
      model.close();
    }
  });
});

test('the first and the last pairs are those that a list of them names', async () => {
  const { folder } = readCase('mha2mla/2-norm_r4_split_rank4');
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const half = config.head_dim / 2;
  const pairs = [0, 1, half - 2, half - 1];
  const kept = Array.from({ length: 2 }, () => Array.from({ length: config.num_key_value_heads }, () => pairs));
  const scores = async (RoPE: object) => {
    const model = await addon.load(
      temporaryFolder({
        'config.json': JSON.stringify({ ...config, RoPE: { ...config.RoPE, ...RoPE } }),
        'model.safetensors': readFileSync(join(folder, 'model.safetensors')),
      }),
    );
    const { data } = await model.createSession({ path: 'exact' }).logits(someTokens(40));
    model.close();
    return data;
  };
  const both = await scores({ partial_rope_version: 3, top_k_rope_dim: 2, last_k_rope_dim: 2 });
  expect(both).toEqual(await scores({ partial_rope_version: 4, kept_pairs: kept }));
  expect(both).not.toEqual(await scores({ partial_rope_version: 1, top_k_rope_dim: 4 }));
});

test('a measured selection that nobody gives is asked for', async () => {
  const { problems } = await addon.inspect(readCase('mha2mla/2-norm_r2_joint_rank8').folder);
  expect(problems).toEqual([expect.stringContaining('"RoPE.kept_pairs" must list')]);
});

test('a list of kept pairs that is no selection of them is refused', async () => {
  const { folder } = readCase('mha2mla/2-norm_r2_joint_rank8');
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: dim } = config;
  const listed = async (pairs: unknown, ofHeads = heads, ofLayers = layers) => {
    const kept_pairs = Array(ofLayers).fill(Array(ofHeads).fill(pairs));
    const described = await addon.inspect(
      temporaryFolder({
        'config.json': JSON.stringify({ ...config, RoPE: { ...config.RoPE, kept_pairs } }),
        'model.safetensors': readFileSync(join(folder, 'model.safetensors')),
      }),
    );
    return described.problems.length === 0;
  };
  expect(await listed([0, dim / 2 - 1])).toBe(true);
  expect(await listed([dim / 2 - 1, 0])).toBe(true);
  for (const wrong of [[0, dim / 2], [-1, 0], [1, 1], [0], [0, 1, 2], [0, 1.5], [0, '1'], 7])
    expect([wrong, await listed(wrong)]).toEqual([wrong, false]);
  expect(await listed([0, 1], heads - 1)).toBe(false);
  expect(await listed([0, 1], heads, layers + 1)).toBe(false);
});

test.each([
  ['SmolLM-135M', 30, 9, 3, 576],
  ['SmolLM-360M', 32, 15, 5, 960],
])('%s as published needs no list: what its conversion measured is known', (_, layers, heads, kv, hidden) => {
  const config = {
    model_type: 'llama',
    ...{ hidden_size: hidden, num_hidden_layers: layers, num_attention_heads: heads, num_key_value_heads: kv },
    ...{ intermediate_size: 1536, vocab_size: 49152, max_position_embeddings: 2048, rms_norm_eps: 1e-5 },
    RoPE: { partial_rope_version: 4, top_k_rope_dim: 4 },
    SVD: { method: 'joint', low_rank: 8 },
  };
  const old = { name: 'model.layers.0.self_attn.W_k_r.weight', type: 'BF16', shape: [kv * 8, hidden] };
  const described = (RoPE: object) => addon.describe(JSON.stringify({ ...config, RoPE }), [old], 'safetensors');
  const known = described(config.RoPE);
  expect(known.notices).toContainEqual(expect.stringContaining('measured for the published SmolLM'));
  expect(known.problems.join()).not.toContain('kept_pairs');
  expect(described({ ...config.RoPE, top_k_rope_dim: 2 }).problems.join()).toContain('kept_pairs');
});

describe('ranks by layer', () => {
  const reference = readCase('mha2mla/low_r2_joint_rank8');
  const config = JSON.parse(readFileSync(join(reference.folder, 'config.json'), 'utf8'));
  const stored = readSafetensors(readFileSync(join(reference.folder, 'model.safetensors')));
  const folderOf = (tensors: Record<string, StoredTensor>, ranks: unknown) =>
    temporaryFolder({
      'config.json': JSON.stringify({ ...config, mla: { ...config.mla, layer_low_ranks: ranks } }),
      'model.safetensors': safetensors(tensors),
    });
  /** Of the first layer only `latent` directions: the others are zeros, or cut away. */
  const reduced = (latent: number, cuts: boolean) =>
    Object.fromEntries(
      Object.entries(stored).map(([name, { dtype, shape, bytes }]) => {
        const [rows = 0, columns = 0] = shape;
        const part = /layers\.0\.self_attn\.kv_proj\.(down|up)/.exec(name)?.[1];
        if (part === undefined) return [name, { dtype, shape, bytes }];
        const inside = (i: number) => (part === 'down' ? Math.floor(i / columns) : i % columns) < latent;
        const values = [...asFloats(bytes)];
        const size = part === 'down' ? [latent, columns] : [rows, latent];
        return cuts
          ? [name, { dtype, shape: size, bytes: f32(...values.filter((_, i) => inside(i))) }]
          : [name, { dtype, shape, bytes: f32(...values.map((value, i) => (inside(i) ? value : 0))) }];
      }),
    );
  const logitsOf = async (folder: string) => {
    const model = await addon.load(folder, { device: 'cpu' });
    const { data } = await model.createSession({ path: 'exact' }).logits(someTokens(40), { all: true });
    model.close();
    return data;
  };

  test('a layer with a smaller rank is one whose other directions are zeros, and keeps less of a token', async () => {
    const [cut, padded] = [folderOf(reduced(10, true), [5, 8]), folderOf(reduced(10, false), [8, 8])];
    expect(largestDifference(await logitsOf(cut), await logitsOf(padded))).toBeLessThan(1e-5);
    const bytes = async (folder: string) => (await addon.inspect(folder)).contextBytesPerToken;
    // Two key-value heads, fp16.
    expect((await bytes(padded)) - (await bytes(cut))).toBe(3 * 2 * 2);
  });

  test.each([[[5]], [[5, 8, 8]], [[0, 8]], [[5, 1000]]])('%j is refused', async (ranks) => {
    const { problems } = await addon.inspect(folderOf(reduced(10, true), ranks));
    expect(problems.join()).toMatch(/"mla\.layer_low_ranks" must list 2 integers, one a layer, from 1 to \d+/);
  });
});
