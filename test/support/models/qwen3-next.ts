// Qwen3-Next is Qwen3.5 MoE with the projections of each key head stored together.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSafetensors, type StoredTensor, safetensors, temporaryFolder } from './formats.ts';

interface Config {
  hidden_size: number;
  linear_num_key_heads: number;
  linear_num_value_heads: number;
  linear_key_head_dim: number;
  linear_value_head_dim: number;
}

/** Rows of several matrices, concatenated: [tensor, first row, count]. */
function stacked(width: number, parts: [tensor: StoredTensor, first: number, count: number][]): StoredTensor {
  const bytes = parts.map(([tensor, first, count]) =>
    tensor.bytes.subarray(first * width * 4, (first + count) * width * 4),
  );
  const rows = parts.reduce((sum, [, , count]) => sum + count, 0);
  return { dtype: 'F32', shape: [rows, width], bytes: Buffer.concat(bytes) };
}

function fuse(tensors: Record<string, StoredTensor>, config: Config): Record<string, StoredTensor> {
  const { hidden_size: width, linear_num_key_heads: groups, linear_key_head_dim: key } = config;
  const share = config.linear_num_value_heads / groups;
  const value = share * config.linear_value_head_dim;
  const out: Record<string, StoredTensor> = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const [, layer, part] = /^(.*linear_attn\.)in_proj_(qkv|z|a|b)\.weight$/.exec(name) ?? [];
    if (layer === undefined) out[name] = tensor;
    if (part !== 'qkv') continue;
    const other = (leaf: string) => tensors[`${layer}in_proj_${leaf}.weight`] ?? tensor;
    const keys = groups * key;
    const heads = Array.from({ length: groups }, (_, g) => g);
    out[`${layer}in_proj_qkvz.weight`] = stacked(
      width,
      heads.flatMap((g) => [
        [tensor, g * key, key],
        [tensor, keys + g * key, key],
        [tensor, 2 * keys + g * value, value],
        [other('z'), g * value, value],
      ]),
    );
    out[`${layer}in_proj_ba.weight`] = stacked(
      width,
      heads.flatMap((g) => [
        [other('b'), g * share, share],
        [other('a'), g * share, share],
      ]),
    );
  }
  return out;
}

/** A golden folder of Qwen3.5 with experts, as Qwen3-Next would store it. */
export function fusedFolder(folder: string): string {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Config;
  const weights = readSafetensors(readFileSync(join(folder, 'model_per_expert.safetensors')));
  return temporaryFolder({
    'config.json': JSON.stringify({ ...config, model_type: 'qwen3_next', norm_topk_prob: true }),
    'model.safetensors': safetensors(fuse(weights, config)),
  });
}
