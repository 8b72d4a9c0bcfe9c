// What llama.cpp's converter does to the weights of a folder from the hub: tensors are renamed, norms get one added, decay becomes
// -exp(A_log), value heads are tiled, experts stacked. Written independently of the reader that undoes it; the names are gguf-py's
// own (test/golden/scripts/gen_gguf_names.py).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { golden } from '../addon.ts';
import { asFloats, f32, type GgufTensor, type GgufValue, gguf, type StoredTensor } from './formats.ts';

export type Architecture = 'bert' | 'lfm2' | 'lfm2moe' | 'qwen2' | 'qwen35' | 'qwen35moe' | 'qwen3next';
export type Tensors = Record<string, StoredTensor>;

interface Matrix {
  shape: number[];
  values: Float32Array;
}

/** The keys of config.json that the conversions read. */
export interface HubConfig {
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  intermediate_size?: number;
  max_position_embeddings: number;
  vocab_size: number;
  head_dim?: number;
  rms_norm_eps?: number;
  norm_eps?: number;
  layer_norm_eps?: number;
  layer_types?: string[];
  rope_parameters?: { rope_theta: number; partial_rotary_factor?: number };
  rope_theta?: number;
  full_attention_interval?: number;
  linear_conv_kernel_dim?: number;
  linear_key_head_dim?: number;
  linear_num_key_heads?: number;
  linear_num_value_heads?: number;
  linear_value_head_dim?: number;
  num_experts?: number;
  num_experts_per_tok?: number;
  num_dense_layers?: number;
  moe_intermediate_size?: number;
  shared_expert_intermediate_size?: number;
  norm_topk_prob?: boolean;
  routed_scaling_factor?: number;
  conv_L_cache?: number;
}

const names = JSON.parse(readFileSync(join(golden, 'gguf_models', 'names.json'), 'utf8')) as Record<
  Architecture,
  Record<string, string>
>;
const hybrid = (arch: Architecture) => arch === 'qwen35' || arch === 'qwen35moe' || arch === 'qwen3next';

const rowSize = ({ shape }: Matrix) => shape.slice(1).reduce((product, size) => product * size, 1);

function rows(matrix: Matrix, order: number[]): Matrix {
  const width = rowSize(matrix);
  const values = new Float32Array(order.length * width);
  for (const [to, from] of order.entries())
    values.set(matrix.values.subarray(from * width, (from + 1) * width), to * width);
  return { shape: [order.length, ...matrix.shape.slice(1)], values };
}

function columns(matrix: Matrix, order: number[]): Matrix {
  const width = rowSize(matrix);
  const values = matrix.values.map((_, i) => matrix.values[i - (i % width) + (order[i % width] ?? 0)] ?? Number.NaN);
  return { shape: matrix.shape, values };
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Tiles value heads that were grouped by key head: head j * keys + g was head g * share + j. A head has `size` rows. */
function tiled(config: HubConfig, size: number, first = 0): number[] {
  const keys = config.linear_num_key_heads ?? 1;
  const share = (config.linear_num_value_heads ?? 1) / keys;
  const heads = upTo(share).flatMap((j) => upTo(keys).map((g) => g * share + j));
  return [...upTo(first), ...heads.flatMap((head) => upTo(size).map((i) => first + head * size + i))];
}

function reordered(leaf: string, matrix: Matrix, config: HubConfig): Matrix {
  const value = config.linear_value_head_dim ?? 1;
  const before = 2 * (config.linear_num_key_heads ?? 1) * (config.linear_key_head_dim ?? 1);
  if (/in_proj_qkv|conv1d/.test(leaf)) return rows(matrix, tiled(config, value, before));
  if (leaf.includes('in_proj_z')) return rows(matrix, tiled(config, value));
  if (/in_proj_[ab]|A_log|dt_bias/.test(leaf)) return rows(matrix, tiled(config, 1));
  if (leaf.includes('out_proj')) return columns(matrix, tiled(config, value));
  return matrix;
}

function transformed(arch: Architecture, name: string, tensor: StoredTensor, config: HubConfig): Matrix {
  let matrix: Matrix = { shape: tensor.shape, values: floatsOf(tensor) };
  if (hybrid(arch) && name.includes('linear_attn.') && arch !== 'qwen3next') matrix = reordered(name, matrix, config);
  if (name.endsWith('A_log')) matrix.values = matrix.values.map((value) => -Math.exp(value));
  const shifted =
    hybrid(arch) && /norm(_embedding|_hidden)?\.weight$/.test(name) && !name.endsWith('linear_attn.norm.weight');
  if (shifted) matrix.values = matrix.values.map((value) => value + 1);
  const squeezed = matrix.shape.length > 1 ? matrix.shape.filter((size) => size !== 1) : matrix.shape;
  return { ...matrix, shape: squeezed };
}

/** Qwen3-Next stores b and a of each key head together. */
function groupedGates(b: Matrix, a: Matrix, config: HubConfig): Matrix {
  const groups = config.linear_num_key_heads ?? 1;
  const share = (config.linear_num_value_heads ?? 1) / groups;
  const both: Matrix = {
    shape: [2 * groups * share, ...b.shape.slice(1)],
    values: Float32Array.of(...b.values, ...a.values),
  };
  const of = (side: number, g: number) => upTo(share).map((j) => (side * groups + g) * share + j);
  return rows(
    both,
    upTo(groups).flatMap((g) => [...of(0, g), ...of(1, g)]),
  );
}

function place(arch: Architecture, name: string, layers: number): string {
  const known = name.replace('model.language_model.', 'model.');
  const pattern = known.replace(/experts\.\d+\./, 'experts.{xid}.').replace(/\.(layers?)\.\d+\./, '.$1.{bid}.');
  const found = names[arch][pattern];
  if (found === undefined) throw new Error(`gguf-py has no name for ${name} in ${arch}`);
  const own = /\.layers?\.(\d+)\./.exec(known)?.[1] ?? '0';
  // The MTP head is the block after the last layer.
  return found.replace('{bid}', known.startsWith('mtp.') ? String(layers) : own);
}

function floatsOf({ dtype, bytes }: StoredTensor): Float32Array {
  if (dtype === 'F32') return asFloats(bytes);
  if (dtype !== 'BF16') throw new Error(`a golden tensor holds ${dtype}`);
  const high = new Uint16Array(Uint8Array.from(bytes).buffer);
  return new Float32Array(Uint32Array.from(high, (half) => half << 16).buffer);
}

/** Experts, stored one by one, arrive in the order of their indices; in_proj_a is read before in_proj_b. */
function convertTensors(arch: Architecture, config: HubConfig, tensors: Tensors): GgufTensor[] {
  const parts = new Map<string, Matrix[]>();
  const number = (name: string) => Number(/experts\.(\d+)\./.exec(name)?.[1] ?? 0);
  for (const name of Object.keys(tensors)
    .sort()
    .sort((a, b) => number(a) - number(b))) {
    const to = place(arch, name, config.num_hidden_layers);
    const matrix = transformed(arch, name, tensors[name] as StoredTensor, config);
    parts.set(to, [...(parts.get(to) ?? []), matrix]);
  }
  return [...parts].map(([name, matrices]) => {
    const [first = { shape: [], values: new Float32Array() }, second] = matrices;
    let { shape, values } = first;
    if (name.includes('ssm_ba') && second) ({ shape, values } = groupedGates(second, first, config));
    else if (name.includes('_exps')) {
      shape = [matrices.length, ...first.shape];
      values = Float32Array.of(...matrices.flatMap((matrix) => [...matrix.values]));
    }
    return { name, type: 'F32', shape, bytes: f32(...values) };
  });
}

const u32 = (value: number): GgufValue => ({ type: 'u32', value });
const real = (value: number): GgufValue => ({ type: 'f32', value });

function deltaKeys(config: HubConfig, head: number): Record<string, GgufValue> {
  const heads = config.linear_num_value_heads ?? 0;
  return {
    'rope.dimension_count': u32(head * (config.rope_parameters?.partial_rotary_factor ?? 1)),
    'ssm.conv_kernel': u32(config.linear_conv_kernel_dim ?? 0),
    'ssm.state_size': u32(config.linear_key_head_dim ?? 0),
    'ssm.group_count': u32(config.linear_num_key_heads ?? 0),
    'ssm.time_step_rank': u32(heads),
    'ssm.inner_size': u32(heads * (config.linear_value_head_dim ?? 0)),
    full_attention_interval: u32(config.full_attention_interval ?? 0),
  };
}

function expertKeys(config: HubConfig): Record<string, GgufValue> {
  return {
    expert_count: u32(config.num_experts ?? 0),
    expert_used_count: u32(config.num_experts_per_tok ?? 0),
    expert_feed_forward_length: u32(config.moe_intermediate_size ?? 0),
  };
}

function metadataOf(arch: Architecture, config: HubConfig, drafting: boolean): Record<string, GgufValue> {
  const head = config.head_dim ?? config.hidden_size / config.num_attention_heads;
  const keys: Record<string, GgufValue> = {
    block_count: u32(config.num_hidden_layers + (drafting ? 1 : 0)),
    context_length: u32(config.max_position_embeddings),
    embedding_length: u32(config.hidden_size),
    'attention.head_count': u32(config.num_attention_heads),
    vocab_size: u32(config.vocab_size),
  };
  if (config.intermediate_size !== undefined) keys.feed_forward_length = u32(config.intermediate_size);
  if (drafting) keys.nextn_predict_layers = u32(1);
  if (arch === 'bert') {
    keys['attention.layer_norm_epsilon'] = real(config.layer_norm_eps ?? 0);
    keys.pooling_type = u32(1);
  } else {
    keys['attention.layer_norm_rms_epsilon'] = real(config.rms_norm_eps ?? config.norm_eps ?? 0);
    keys['rope.freq_base'] = real(config.rope_parameters?.rope_theta ?? config.rope_theta ?? 0);
    keys['attention.head_count_kv'] = u32(config.num_key_value_heads);
    keys['attention.key_length'] = keys['attention.value_length'] = u32(head);
  }
  if (hybrid(arch)) Object.assign(keys, deltaKeys(config, head));
  if (config.num_experts !== undefined) Object.assign(keys, expertKeys(config));
  if (config.shared_expert_intermediate_size !== undefined)
    keys.expert_shared_feed_forward_length = u32(config.shared_expert_intermediate_size);
  if (arch === 'lfm2' || arch === 'lfm2moe') {
    const kv = config.num_key_value_heads;
    keys['attention.head_count_kv'] = {
      type: 'i32s',
      value: (config.layer_types ?? []).map((type) => (type === 'full_attention' ? kv : 0)),
    };
    keys['shortconv.l_cache'] = u32(config.conv_L_cache ?? 0);
  }
  if (arch === 'lfm2moe') {
    keys.leading_dense_block_count = u32(config.num_dense_layers ?? 0);
    keys.expert_gating_func = u32(2);
  }
  const prefixed = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${arch}.${key}`, value]));
  return { 'general.architecture': { type: 'string', value: arch }, ...prefixed };
}

/** The F32 file that the converter would write; an MTP head is recognised by its tensors. `more`: further metadata keys. */
export function toGguf(
  arch: Architecture,
  config: HubConfig,
  tensors: Tensors,
  renamed: (name: string) => string = (name) => name,
  more: Record<string, GgufValue> = {},
): Uint8Array {
  const drafting = Object.keys(tensors).some((name) => name.startsWith('mtp.'));
  const converted = convertTensors(arch, config, tensors).map((tensor) => ({ ...tensor, name: renamed(tensor.name) }));
  return gguf({ ...metadataOf(arch, config, drafting), ...more }, converted);
}
