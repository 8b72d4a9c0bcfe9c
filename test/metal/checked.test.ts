// Every family once in check mode: no race inside a threadgroup, between threadgroups or between dispatches, no access out of
// bounds, nothing read that nobody wrote; and the same bits whatever order lanes run in. Passes of 9 rows take the tiled
// kernels, the 2 rows left the matvecs.
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { KvType, Model } from '../../native/addon/index.d.ts';
import { readCase } from '../support/models/golden.ts';
import { soaking } from '../support/soak.ts';
import { loadOnMetal, needsStandin, standin } from './standin.ts';

needsStandin();

const families: [name: string, file?: string][] = [
  ['llama/gqa_tied'],
  ['qwen3/qk_norm_tied'],
  ['qwen3_5/dense_gqa_mixed'],
  ['qwen3_5/real_head_dims'],
  ['qwen3_5_moe/top3'],
  ['lfm2/no_adjust'],
  ['lfm2_moe/top4'],
  ['minicpm_sala/mixed'],
  ['mha2mla/high_r2_split_rank8', 'model.safetensors'],
  ['gguf_models/llama', 'model-mixed.gguf'],
  ['mlx_models/qwen3_5_4bit'],
];
const caches: KvType[] = ['f16', 'q8', 'q4'];

afterEach(() => standin.options({}));

async function logits(model: Model, tokens: Int32Array, kvType: KvType = 'f32', chunk = 9): Promise<Buffer> {
  const session = model.createSession({ path: 'exact', kvType });
  const { data } = await session.logits(tokens, { all: true, chunk });
  session.close();
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

async function sameBits(folder: string, tokens: Int32Array, kvType?: KvType, chunk?: number): Promise<void> {
  standin.options({ check: true });
  const checked = await loadOnMetal(folder);
  const expected = await logits(checked, tokens, kvType, chunk);
  checked.close();
  standin.options({});
  const model = await loadOnMetal(folder);
  for (const order of ['forward', 'reverse', 'random'] as const) {
    standin.options({ order, seed: 7 });
    expect((await logits(model, tokens, kvType, chunk)).equals(expected), order).toBe(true);
  }
  model.close();
}

const tokensOf = (name: string) => {
  const prompt = readCase(name).prompts.find(({ ids }) => ids.length >= 11);
  if (prompt === undefined) throw new Error(`${name} has no prompt of 11 tokens`);
  return prompt.ids.slice(0, 11);
};

describe('check mode', () => {
  test.each(families)('%s', { timeout: 240_000 }, async (name, file = '') => {
    await sameBits(join(readCase(name).folder, file), tokensOf(name));
  });

  // Enough rows for tiles of queries and tiles of an expert's rows.
  test.each(['qwen3_5_moe/top3', 'mlx_models/qwen3_5_moe_4bit'])(
    '%s, many rows',
    { timeout: 240_000 },
    async (name) => {
      const { folder, prompts } = readCase(name);
      const longest = prompts.toSorted((a, b) => b.ids.length - a.ids.length)[0];
      const tokens = longest?.ids.slice(0, 40) ?? new Int32Array();
      standin.reset();
      await sameBits(folder, tokens, 'f16', tokens.length);
      expect(standin.counters().kernels).toMatchObject({
        group_by_expert: expect.any(Number),
        attention_tile: expect.any(Number),
      });
    },
  );

  // `npm run test:soak`: every family with every cache.
  const cached = soaking ? families : families.filter(([name]) => name === 'qwen3/qk_norm_tied');
  test.each(
    cached.flatMap(([name, file]) =>
      caches.map((kvType): [KvType, string, string | undefined] => [kvType, name, file]),
    ),
  )('a cache of %s: %s', { timeout: 240_000 }, async (kvType, name, file = '') => {
    await sameBits(join(readCase(name).folder, file), tokensOf(name), kvType);
  });
});
