// Qwen3.5-0.8B as published (model-specs 5.1) with one gated-delta and one attention layer and a small vocabulary: the shapes
// the budgets are counted on.
import type { StoredTensor } from '../support/formats.ts';

const hidden = 1024;
const inner = 3584;
const headDim = 256;
const [queryHeads, kvHeads] = [8, 2];
const [linearHeads, linearDim] = [16, 128];
const channels = 3 * linearHeads * linearDim;
const vocabulary = 512;

export const config = JSON.stringify({
  architectures: ['Qwen3_5ForCausalLM'],
  model_type: 'qwen3_5_text',
  attn_output_gate: true,
  eos_token_id: 2,
  full_attention_interval: 2,
  layer_types: ['linear_attention', 'full_attention'],
  head_dim: headDim,
  hidden_act: 'silu',
  hidden_size: hidden,
  intermediate_size: inner,
  linear_conv_kernel_dim: 4,
  linear_key_head_dim: linearDim,
  linear_value_head_dim: linearDim,
  linear_num_key_heads: linearHeads,
  linear_num_value_heads: linearHeads,
  max_position_embeddings: 4096,
  num_attention_heads: queryHeads,
  num_key_value_heads: kvHeads,
  num_hidden_layers: 2,
  rms_norm_eps: 1e-6,
  rope_parameters: {
    mrope_interleaved: true,
    mrope_section: [11, 11, 10],
    partial_rotary_factor: 0.25,
    rope_theta: 1e7,
    rope_type: 'default',
  },
  tie_word_embeddings: true,
  vocab_size: vocabulary,
});

/** bf16 values around `center`, cheap to make: the same few thousand numbers over and over. */
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

const mlp = (at: string) => ({
  [`${at}.mlp.gate_proj.weight`]: matrix(inner, hidden),
  [`${at}.mlp.up_proj.weight`]: matrix(inner, hidden),
  [`${at}.mlp.down_proj.weight`]: matrix(hidden, inner),
  [`${at}.input_layernorm.weight`]: bf16([hidden], 0.1),
  [`${at}.post_attention_layernorm.weight`]: bf16([hidden], 0.1),
});
const f32 = (length: number, value: number): StoredTensor => ({
  dtype: 'F32',
  shape: [length],
  bytes: new Uint8Array(new Float32Array(length).fill(value).buffer),
});

export const tensors = (): Record<string, StoredTensor> => ({
  'model.embed_tokens.weight': matrix(vocabulary, hidden),
  'model.norm.weight': bf16([hidden], 0.1),
  ...mlp('model.layers.0'),
  'model.layers.0.linear_attn.A_log': f32(linearHeads, 0.5),
  'model.layers.0.linear_attn.dt_bias': bf16([linearHeads], 0.5),
  'model.layers.0.linear_attn.norm.weight': f32(linearDim, 1),
  'model.layers.0.linear_attn.conv1d.weight': bf16([channels, 1, 4], 0.5),
  'model.layers.0.linear_attn.in_proj_a.weight': matrix(linearHeads, hidden),
  'model.layers.0.linear_attn.in_proj_b.weight': matrix(linearHeads, hidden),
  'model.layers.0.linear_attn.in_proj_qkv.weight': matrix(channels, hidden),
  'model.layers.0.linear_attn.in_proj_z.weight': matrix(linearHeads * linearDim, hidden),
  'model.layers.0.linear_attn.out_proj.weight': matrix(hidden, linearHeads * linearDim),
  ...mlp('model.layers.1'),
  'model.layers.1.self_attn.q_proj.weight': matrix(queryHeads * headDim * 2, hidden),
  'model.layers.1.self_attn.k_proj.weight': matrix(kvHeads * headDim, hidden),
  'model.layers.1.self_attn.v_proj.weight': matrix(kvHeads * headDim, hidden),
  'model.layers.1.self_attn.o_proj.weight': matrix(hidden, queryHeads * headDim),
  'model.layers.1.self_attn.q_norm.weight': bf16([headDim], 0.1),
  'model.layers.1.self_attn.k_norm.weight': bf16([headDim], 0.1),
});

const linearParameters =
  hidden * (channels + linearHeads * linearDim + 2 * linearHeads) + linearHeads * linearDim * hidden;
const attentionParameters = hidden * headDim * (2 * queryHeads + 2 * kvHeads) + queryHeads * headDim * hidden;
const mlpParameters = 3 * hidden * inner;
/** Of both layers, for a token. */
export const multiplications = linearParameters + attentionParameters + 2 * mlpParameters;
const stateFloats = linearHeads * linearDim * linearDim;
const windowFloats = 3 * channels;

/** The least a decoded token at `position` moves: every matrix once, the states read and written, keys and values read. */
export const minimalBytes = (position: number) => ({
  weights: 2 * (linearParameters + attentionParameters + 2 * mlpParameters + vocabulary * hidden),
  state: 2 * 4 * (stateFloats + windowFloats),
  kv: 4 * 2 * kvHeads * headDim * (position + 1),
});
