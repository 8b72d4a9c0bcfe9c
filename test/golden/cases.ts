// Which golden models there are, by the file they come in: the tests of each container and the table of the README read this.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { golden } from '../support/addon.ts';
import { readSafetensors, temporaryFolder } from '../support/models/formats.ts';
import { type Architecture, type HubConfig, toGguf } from '../support/models/gguf-conversion.ts';

/** As published on the hub, against transformers in fp32 (SALA and MHA2MLA against numpy in fp64). */
export const published = [
  'llama/gqa_tied',
  'llama/rope_llama3',
  'qwen2/biases_tied',
  'qwen3/qk_norm_tied',
  'qwen3/hd128_untied',
  'qwen3_5/dense_tied',
  'qwen3_5/dense_gqa_mixed',
  'qwen3_5/real_head_dims',
  'qwen3_5_moe/top3',
  'lfm2/auto_adjust',
  'lfm2/no_adjust',
  'lfm2_moe/top4',
  'minicpm_sala/mixed',
  'minicpm_sala/gap',
];

/** Written by gguf-py; folder, and which of its files. */
export const ggufFiles: [name: string, file: string][] = [
  ['llama', 'f32'],
  ['llama', 'mixed'],
  ['llama_rope_llama3', 'f32'],
  ['qwen3', 'f32'],
  ['qwen3', 'mixed'],
  ['qwen35', 'f32'],
  ['qwen35', 'mixed'],
  ['lfm2', 'f32'],
  ['lfm2', 'mixed'],
];

/** Converted here as llama.cpp converts them (test/support/models/gguf-conversion.ts). */
export const ggufConverted: [architecture: Architecture, name: string, weights: string][] = [
  ['qwen2', 'qwen2/biases_tied', 'model.safetensors'],
  ['qwen35moe', 'qwen3_5_moe/top3', 'model_per_expert.safetensors'],
  ['qwen3next', 'qwen3_5_moe/top3', 'model_per_expert.safetensors'],
  ['lfm2moe', 'lfm2_moe/top4', 'model.safetensors'],
];

export const mlxFolders = ['qwen3_5_4bit', 'qwen3_5_moe_4bit', 'lfm2_moe_4bit'];

export const latent = [
  'high_r2_joint_rank4',
  'high_r2_split_rank8',
  'low_r2_joint_rank8',
  'low_r4_split_rank4',
  'uniform_r2_split_rank4',
  'uniform_r4_joint_rank8',
  '2-norm_r2_joint_rank8',
  '2-norm_r4_split_rank4',
];

/** The GGUF file of a golden folder, gone after the test. */
export function convertedFile(arch: Architecture, name: string, weights = 'model.safetensors'): string {
  const folder = join(golden, name);
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as HubConfig;
  const bytes = toGguf(arch, config, readSafetensors(readFileSync(join(folder, weights))));
  return join(temporaryFolder({ 'model.gguf': bytes }), 'model.gguf');
}

/** A measured selection of rotary pairs goes where a user would put it: into config.json. */
export function latentFolder(name: string, file = 'model.safetensors'): string {
  const folder = join(golden, 'mha2mla', name);
  const weights = readFileSync(join(folder, file));
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { RoPE: Record<string, unknown> };
  if (name.startsWith('2-norm')) config.RoPE.kept_pairs = keptPairs(folder);
  return temporaryFolder({ 'config.json': JSON.stringify(config), 'model.safetensors': weights });
}

function keptPairs(folder: string): number[][][] {
  const stored = readSafetensors(readFileSync(join(folder, 'expected.safetensors'))).kept_pairs;
  if (stored === undefined) throw new Error('the golden case has no kept_pairs');
  const [layers = 0, heads = 0, pairs = 0] = stored.shape;
  const width = stored.bytes.length / (layers * heads * pairs);
  const view = new DataView(Uint8Array.from(stored.bytes).buffer);
  const read = (i: number) =>
    stored.dtype === 'F32' ? view.getFloat32(i * width, true) : view.getInt32(i * width, true);
  return Array.from({ length: layers }, (_, l) =>
    Array.from({ length: heads }, (_h, h) =>
      Array.from({ length: pairs }, (_p, p) => read((l * heads + h) * pairs + p)),
    ),
  );
}
