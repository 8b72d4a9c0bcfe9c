// Models of one gated-delta and one attention layer, for measuring the cost of a token: Qwen3.5-0.8B as published with a small
// vocabulary, half of its width, and a narrow one, on which the stand-in can check every memory access of a long prompt.
import type { StoredTensor } from './formats.ts';

interface Sizes {
  hidden: number;
  inner: number;
  headDim: number;
  queryHeads: number;
  kvHeads: number;
  linearHeads: number;
  linearDim: number;
  vocabulary: number;
  /** Dimensions of the rotated quarter of a head. */
  sections: number[];
}

const published: Sizes = {
  ...{ hidden: 1024, inner: 3584, headDim: 256, queryHeads: 8, kvHeads: 2 },
  ...{ linearHeads: 16, linearDim: 128, vocabulary: 512, sections: [11, 11, 10] },
};
const narrow: Sizes = {
  ...{ hidden: 64, inner: 128, headDim: 64, queryHeads: 2, kvHeads: 1 },
  ...{ linearHeads: 2, linearDim: 32, vocabulary: 128, sections: [3, 3, 2] },
};
/** States of 6 MB beside matrices of a few MB. */
const remembering: Sizes = {
  ...{ hidden: 32, inner: 32, headDim: 32, queryHeads: 1, kvHeads: 1 },
  ...{ linearHeads: 96, linearDim: 128, vocabulary: 64, sections: [2, 1, 1] },
};

const channelsOf = ({ linearHeads, linearDim }: Sizes) => 3 * linearHeads * linearDim;

const configOf = (sizes: Sizes) => ({
  architectures: ['Qwen3_5ForCausalLM'],
  model_type: 'qwen3_5_text',
  attn_output_gate: true,
  eos_token_id: 2,
  full_attention_interval: 2,
  layer_types: ['linear_attention', 'full_attention'],
  head_dim: sizes.headDim,
  hidden_act: 'silu',
  hidden_size: sizes.hidden,
  intermediate_size: sizes.inner,
  linear_conv_kernel_dim: 4,
  linear_key_head_dim: sizes.linearDim,
  linear_value_head_dim: sizes.linearDim,
  linear_num_key_heads: sizes.linearHeads,
  linear_num_value_heads: sizes.linearHeads,
  max_position_embeddings: 4096,
  num_attention_heads: sizes.queryHeads,
  num_key_value_heads: sizes.kvHeads,
  num_hidden_layers: 2,
  rms_norm_eps: 1e-6,
  rope_parameters: {
    mrope_interleaved: true,
    mrope_section: sizes.sections,
    partial_rotary_factor: 0.25,
    rope_theta: 1e7,
    rope_type: 'default',
  },
  tie_word_embeddings: true,
  vocab_size: sizes.vocabulary,
});

/** bf16 values around `center`, cheap to make: a few thousand numbers, repeated. */
function bf16(shape: number[], spread: number, center = 0): StoredTensor {
  const count = shape.reduce((a, b) => a * b, 1);
  const pattern = Float32Array.from({ length: 4093 }, (_, i) => center + spread * Math.sin(i * 12.9898 + i * i));
  const bits = Uint16Array.from(new Uint32Array(pattern.buffer), (value) => value >>> 16);
  const values = new Uint16Array(count);
  values.set(bits.subarray(0, Math.min(count, bits.length)));
  for (let filled = bits.length; filled < count; filled *= 2) values.copyWithin(filled, 0, filled);
  return { dtype: 'BF16', shape, bytes: new Uint8Array(values.buffer) };
}
const matrix = (out: number, columns: number) => bf16([out, columns], columns ** -0.5);
const f32 = (length: number, value: number): StoredTensor => ({
  dtype: 'F32',
  shape: [length],
  bytes: new Uint8Array(new Float32Array(length).fill(value).buffer),
});

const mlp = (at: string, { hidden, inner }: Sizes) => ({
  [`${at}.mlp.gate_proj.weight`]: matrix(inner, hidden),
  [`${at}.mlp.up_proj.weight`]: matrix(inner, hidden),
  [`${at}.mlp.down_proj.weight`]: matrix(hidden, inner),
  [`${at}.input_layernorm.weight`]: bf16([hidden], 0.1),
  [`${at}.post_attention_layernorm.weight`]: bf16([hidden], 0.1),
});

function tensorsOf(sizes: Sizes): Record<string, StoredTensor> {
  const { hidden, headDim, queryHeads, kvHeads, linearHeads, linearDim, vocabulary } = sizes;
  const channels = channelsOf(sizes);
  return {
    'model.embed_tokens.weight': matrix(vocabulary, hidden),
    'model.norm.weight': bf16([hidden], 0.1),
    ...mlp('model.layers.0', sizes),
    'model.layers.0.linear_attn.A_log': f32(linearHeads, 0.5),
    'model.layers.0.linear_attn.dt_bias': bf16([linearHeads], 0.5),
    'model.layers.0.linear_attn.norm.weight': f32(linearDim, 1),
    'model.layers.0.linear_attn.conv1d.weight': bf16([channels, 1, 4], 0.5),
    'model.layers.0.linear_attn.in_proj_a.weight': matrix(linearHeads, hidden),
    'model.layers.0.linear_attn.in_proj_b.weight': matrix(linearHeads, hidden),
    'model.layers.0.linear_attn.in_proj_qkv.weight': matrix(channels, hidden),
    'model.layers.0.linear_attn.in_proj_z.weight': matrix(linearHeads * linearDim, hidden),
    'model.layers.0.linear_attn.out_proj.weight': matrix(hidden, linearHeads * linearDim),
    ...mlp('model.layers.1', sizes),
    'model.layers.1.self_attn.q_proj.weight': matrix(queryHeads * headDim * 2, hidden),
    'model.layers.1.self_attn.k_proj.weight': matrix(kvHeads * headDim, hidden),
    'model.layers.1.self_attn.v_proj.weight': matrix(kvHeads * headDim, hidden),
    'model.layers.1.self_attn.o_proj.weight': matrix(hidden, queryHeads * headDim),
    'model.layers.1.self_attn.q_norm.weight': bf16([headDim], 0.1),
    'model.layers.1.self_attn.k_norm.weight': bf16([headDim], 0.1),
  };
}

/** Bytes of both layers for one token. */
function multiplicationsOf({ hidden, inner, headDim, queryHeads, kvHeads, linearHeads, linearDim }: Sizes): number {
  const values = linearHeads * linearDim;
  const linear = hidden * (4 * values + 2 * linearHeads) + values * hidden;
  const attention = hidden * headDim * (2 * queryHeads + 2 * kvHeads) + queryHeads * headDim * hidden;
  return linear + attention + 2 * 3 * hidden * inner;
}

/** The fewest bytes that reading `tokens` at once after `past` others can move: every matrix once, the states read and written,
 *  all keys and values (f32) read, those of the new tokens written. */
function minimalBytesOf(sizes: Sizes, past: number, tokens: number) {
  const { hidden, headDim, kvHeads, linearHeads, linearDim, vocabulary } = sizes;
  const kvRow = 4 * 2 * kvHeads * headDim;
  return {
    weights: 2 * (multiplicationsOf(sizes) + vocabulary * hidden),
    /** The number of distinct rows of the embedding that the ids 0, 1, 2, … take. */
    embedding: 2 * hidden * Math.min(tokens, vocabulary),
    state: 2 * 4 * (linearHeads * linearDim * linearDim + 3 * channelsOf(sizes)),
    kv: kvRow * (past + tokens) + kvRow * tokens,
  };
}

const shapesOf = (sizes: Sizes) => ({
  config: JSON.stringify(configOf(sizes)),
  tensors: () => tensorsOf(sizes),
  vocabulary: sizes.vocabulary,
  multiplications: multiplicationsOf(sizes),
  minimalBytes: (past: number, tokens: number) => minimalBytesOf(sizes, past, tokens),
});
export type Shapes = ReturnType<typeof shapesOf>;
/** Qwen3.5-0.8B. */
export const full = shapesOf(published);
/** Half as wide: a token of it is watched in a quarter of the time. */
export const half = shapesOf({
  ...published,
  ...{ hidden: 512, inner: 1536, queryHeads: 4, kvHeads: 1, linearHeads: 8, vocabulary: 256 },
});
export const thin = shapesOf(narrow);
export const largeStates = shapesOf(remembering);
/** One step on one thread without vector instructions takes a tenth of a second. */
export const slow = shapesOf({ ...published, inner: 8192 });
