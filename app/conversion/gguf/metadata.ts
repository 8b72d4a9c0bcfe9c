import { LonghandError } from '../../protocol/index.ts';
import type { GgufValue, Metadata } from './file.ts';
import type { Family } from './names.ts';

export type Config = Record<string, unknown>;

/** The text part of a multimodal configuration. */
export const textConfig = (config: Config): Config =>
  typeof config.text_config === 'object' && config.text_config !== null
    ? { ...config, ...(config.text_config as Config) }
    : config;

export const numberOf = (config: Config, key: string, otherwise?: number): number => {
  const value = config[key] ?? otherwise;
  if (typeof value === 'number') return value;
  throw new LonghandError('model-broken', `[config] "${key}" is ${JSON.stringify(config[key])}; a number is needed`);
};

export type RopeSettings = Config & { rope_theta?: number };
export function ropeOf(config: Config): RopeSettings {
  const settings = (config.rope_parameters ?? config.rope_scaling ?? {}) as RopeSettings;
  return { rope_theta: numberOf(config, 'rope_theta', settings.rope_theta ?? 10000), ...settings };
}

export const headDim = (config: Config): number =>
  numberOf(config, 'head_dim', numberOf(config, 'hidden_size') / numberOf(config, 'num_attention_heads'));

const u32 = (value: number): GgufValue => ({ u32: value });
const f32 = (value: number): GgufValue => ({ f32: value });

/** A configuration as llama.cpp's metadata keys. @param feedForward rows of the first up projection */
export function metadataOf(family: Family, config: Config, name: string, feedForward: number): Metadata {
  const rope = ropeOf(config);
  const dim = headDim(config);
  const own: Record<string, GgufValue> = {
    block_count: u32(numberOf(config, 'num_hidden_layers')),
    context_length: u32(numberOf(config, 'max_position_embeddings')),
    embedding_length: u32(numberOf(config, 'hidden_size')),
    feed_forward_length: u32(feedForward),
    'attention.head_count': u32(numberOf(config, 'num_attention_heads')),
    'attention.layer_norm_rms_epsilon': f32(numberOf(config, 'rms_norm_eps', numberOf(config, 'norm_eps', 1e-5))),
    'rope.freq_base': f32(numberOf(rope, 'rope_theta')),
    vocab_size: u32(numberOf(config, 'vocab_size')),
    ...keysOf(family, config, rope, dim),
    ...scalingOf(rope),
  };
  return {
    'general.architecture': { text: family },
    'general.name': { text: name },
    ...Object.fromEntries(Object.entries(own).map(([key, value]) => [`${family}.${key}`, value])),
  };
}

function keysOf(family: Family, config: Config, rope: RopeSettings, dim: number): Record<string, GgufValue> {
  const kv = numberOf(config, 'num_key_value_heads', numberOf(config, 'num_attention_heads'));
  const lengths = { 'attention.key_length': u32(dim), 'attention.value_length': u32(dim) };
  if (family === 'lfm2') {
    const types = config.layer_types as string[];
    return {
      ...lengths,
      'attention.head_count_kv': { i32s: types.map((type) => (type === 'full_attention' ? kv : 0)) },
      'shortconv.l_cache': u32(numberOf(config, 'conv_L_cache')),
    };
  }
  const heads = { ...lengths, 'attention.head_count_kv': u32(kv) };
  if (family === 'llama') return { ...heads, 'rope.dimension_count': u32(dim) };
  if (family !== 'qwen35') return heads;
  const valueHeads = numberOf(config, 'linear_num_value_heads');
  return {
    ...heads,
    'rope.dimension_count': u32(
      dim * numberOf(rope, 'partial_rotary_factor', numberOf(config, 'partial_rotary_factor', 1)),
    ),
    ...(Array.isArray(rope.mrope_section) ? { 'rope.dimension_sections': { i32s: [...rope.mrope_section, 0] } } : {}),
    'ssm.conv_kernel': u32(numberOf(config, 'linear_conv_kernel_dim')),
    'ssm.state_size': u32(numberOf(config, 'linear_key_head_dim')),
    'ssm.group_count': u32(numberOf(config, 'linear_num_key_heads')),
    'ssm.time_step_rank': u32(valueHeads),
    'ssm.inner_size': u32(valueHeads * numberOf(config, 'linear_value_head_dim')),
    full_attention_interval: u32(intervalOf(config)),
  };
}

function intervalOf(config: Config): number {
  const types = config.layer_types;
  const first = Array.isArray(types) ? types.indexOf('full_attention') : -1;
  return numberOf(config, 'full_attention_interval', first < 0 ? undefined : first + 1);
}

function scalingOf(rope: RopeSettings): Record<string, GgufValue> {
  const type = rope.rope_type ?? rope.type ?? 'default';
  if (type === 'default' || type === 'llama3') return {};
  if (type === 'linear')
    return { 'rope.scaling.type': { text: 'linear' }, 'rope.scaling.factor': f32(numberOf(rope, 'factor')) };
  throw new LonghandError(
    'model-unsupported',
    `[quantize] positions are scaled by "${String(type)}"; allowed for GGUF are default, linear and llama3`,
  );
}

/** Llama 3 RoPE scaling as the divisors stored in the file; null for others. */
export function ropeDivisors(config: Config): Float32Array | null {
  const rope = ropeOf(config);
  if ((rope.rope_type ?? rope.type) !== 'llama3') return null;
  const dim = headDim(config);
  const [factor, low, high, original] = [
    'factor',
    'low_freq_factor',
    'high_freq_factor',
    'original_max_position_embeddings',
  ].map((key) => numberOf(rope, key)) as [number, number, number, number];
  return Float32Array.from({ length: dim / 2 }, (_, i) => {
    const wavelength = 2 * Math.PI * numberOf(rope, 'rope_theta') ** ((2 * i) / dim);
    if (wavelength < original / high) return 1;
    if (wavelength > original / low) return factor;
    const smooth = (original / wavelength - low) / (high - low);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}
