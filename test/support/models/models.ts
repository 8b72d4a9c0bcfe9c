// Small models that together have every kind of layer memory, for tests of what holds for all families.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '../../../native/addon/index.d.ts';
import { golden, repository } from '../addon.ts';
import { soaking } from '../soak.ts';

export const starter: string = join(repository, 'resources', 'starter-model');

export const families: [name: string, path: string][] = [
  ['llama', join(golden, 'llama/gqa_tied')],
  ['qwen2', join(golden, 'qwen2/biases_tied')],
  ['qwen3', join(golden, 'qwen3/qk_norm_tied')],
  ['qwen3_5', join(golden, 'qwen3_5/dense_gqa_mixed')],
  ['qwen3_5_moe', join(golden, 'qwen3_5_moe/top3')],
  ['lfm2', join(golden, 'lfm2/auto_adjust')],
  ['lfm2_moe', join(golden, 'lfm2_moe/top4')],
  ['minicpm_sala', join(golden, 'minicpm_sala/gap')],
  ['llama-mla', join(golden, 'mha2mla/uniform_r4_joint_rank8')],
];

/** In a soak all of them; otherwise the fewest that have every kind of memory and of product between them, for devices in software. */
export const fewFamilies: typeof families = soaking
  ? families
  : families.filter(([name]) => ['qwen2', 'qwen3_5_moe', 'lfm2_moe', 'minicpm_sala', 'llama-mla'].includes(name));

/** The files of the built-in model, as a repository would list them. */
export const starterFiles = (): Record<string, Buffer> =>
  Object.fromEntries(
    readdirSync(starter)
      .filter((name) => /\.(json|safetensors|jinja)$/.test(name))
      .map((name) => [name, readFileSync(join(starter, name))]),
  );

/** Ids below every golden vocabulary, the same for the same seed. */
export function someTokens(count: number, seed = 1): Int32Array {
  const tokens = new Int32Array(count);
  let state = seed;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    tokens[i] = 3 + ((state >>> 16) % 120);
  }
  return tokens;
}

/** Everything a session computes from: its tokens, its states and its next logits. */
export async function fingerprint(
  session: Session,
): Promise<{ tokens: number[]; states: Float32Array[]; next: number[] }> {
  const states = (await session.states()).map(({ data }) => data);
  const tokens = [...session.tokens()];
  const { tokens: next } = await session.generate(Int32Array.from([...tokens, 5]), {
    maxTokens: 8,
    logprobs: 3,
    continues: tokens.length + 1,
  });
  return { tokens, states, next };
}
