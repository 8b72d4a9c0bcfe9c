// Published shapes of the families that exist as safetensors only: config.json and a table of tensors.
// Sources: the model cards of MiniCPM-SALA and of SmolLM-1.7B as MHA2MLA (old layout).

/** `sizes` row-major; kinds: matrix (random), norm (ones). */
const tensor = (name, kind, ...sizes) => ({ name, kind, sizes });

const ends = (vocabulary, hidden, tied) => [
  tensor('model.embed_tokens.weight', 'matrix', vocabulary, hidden),
  tensor('model.norm.weight', 'norm', hidden),
  ...(tied ? [] : [tensor('lm_head.weight', 'matrix', vocabulary, hidden)]),
];

const mlp = (at, hidden, width) => [
  tensor(`${at}mlp.gate_proj.weight`, 'matrix', width, hidden),
  tensor(`${at}mlp.up_proj.weight`, 'matrix', width, hidden),
  tensor(`${at}mlp.down_proj.weight`, 'matrix', hidden, width),
  tensor(`${at}input_layernorm.weight`, 'norm', hidden),
  tensor(`${at}post_attention_layernorm.weight`, 'norm', hidden),
];

const numbered = (layers, layer) => Array.from({ length: layers }, (_, i) => layer(`model.layers.${i}.`, i)).flat();

/** Four of the thirty-two layers, two of each kind. */
function miniCpmSala() {
  const [hidden, width, vocabulary, headDim, keys] = [4096, 16_384, 73_448, 128, 256];
  const mixers = ['minicpm4', 'lightning-attn', 'lightning-attn', 'minicpm4'];
  const layer = (at, i) => {
    const lightning = mixers[i] === 'lightning-attn';
    const rows = lightning ? hidden : keys;
    return [
      tensor(`${at}self_attn.q_proj.weight`, 'matrix', hidden, hidden),
      tensor(`${at}self_attn.k_proj.weight`, 'matrix', rows, hidden),
      tensor(`${at}self_attn.v_proj.weight`, 'matrix', rows, hidden),
      tensor(`${at}self_attn.o_proj.weight`, 'matrix', hidden, hidden),
      tensor(`${at}self_attn.${lightning ? 'z_proj' : 'o_gate'}.weight`, 'matrix', hidden, hidden),
      ...(lightning ? ['q_norm', 'k_norm'].map((n) => tensor(`${at}self_attn.${n}.weight`, 'norm', headDim)) : []),
      ...(lightning ? [tensor(`${at}self_attn.o_norm.weight`, 'norm', hidden)] : []),
      ...mlp(at, hidden, width),
    ];
  };
  const config = {
    model_type: 'minicpm_sala',
    architectures: ['MiniCPMSALAForCausalLM'],
    vocab_size: vocabulary,
    hidden_size: hidden,
    intermediate_size: width,
    num_hidden_layers: mixers.length,
    mixer_types: mixers,
    num_attention_heads: 32,
    num_key_value_heads: 2,
    head_dim: headDim,
    attn_use_rope: false,
    attn_use_output_gate: true,
    lightning_nh: 32,
    lightning_nkv: 32,
    lightning_head_dim: headDim,
    lightning_use_rope: true,
    lightning_scale: '1/sqrt(d)',
    qk_norm: true,
    use_output_norm: true,
    use_output_gate: true,
    scale_emb: 12,
    scale_depth: 1.4,
    dim_model_base: 256,
    sparse_config: {
      ...{ kernel_size: 32, kernel_stride: 16, init_blocks: 1, block_size: 64, window_size: 2048, topk: 64 },
      ...{ use_nope: false, dense_len: 8192 },
    },
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    max_position_embeddings: 524_288,
    hidden_act: 'silu',
    attention_bias: false,
    tie_word_embeddings: false,
  };
  return { config, tensors: [...ends(vocabulary, hidden, false), ...numbered(mixers.length, layer)] };
}

/** The four highest-frequency pairs of every head keep their rotation; keys and values share 32 x 32 latent values. */
function smolLmMla() {
  const [hidden, width, vocabulary, heads, dim, layers] = [2048, 8192, 49_152, 32, 64, 24];
  const [pairs, rank] = [4, 32];
  const [kept, latent] = [2 * pairs * heads, rank * heads];
  const layer = (at) => [
    tensor(`${at}self_attn.q_proj.weight`, 'matrix', heads * dim, hidden),
    tensor(`${at}self_attn.W_k_r.weight`, 'matrix', kept, hidden),
    tensor(`${at}self_attn.W_down_k.weight`, 'matrix', latent, hidden),
    tensor(`${at}self_attn.W_up_k.weight`, 'matrix', heads * dim - kept, latent),
    tensor(`${at}self_attn.W_up_v.weight`, 'matrix', heads * dim, latent),
    tensor(`${at}self_attn.o_proj.weight`, 'matrix', hidden, heads * dim),
    ...mlp(at, hidden, width),
  ];
  const config = {
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: vocabulary,
    hidden_size: hidden,
    intermediate_size: width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    head_dim: dim,
    RoPE: {
      ...{ partial_rope_version: 1, top_k_rope_dim: pairs, last_k_rope_dim: 0 },
      ...{ uniform_start_point: 0, uniform_step: 8, qk_tensor_path: null, n_gqa_group: 1 },
    },
    SVD: { method: 7, low_rank: rank },
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    max_position_embeddings: 2048,
    hidden_act: 'silu',
    attention_bias: false,
    tie_word_embeddings: true,
  };
  return { config, tensors: [...ends(vocabulary, hidden, true), ...numbered(layers, layer)] };
}

/** The vision tower of Qwen3.5-0.8B as published, with a text model of one layer. */
function towerOfQwen35() {
  const [width, mlpWidth, depth, hidden, vocabulary] = [768, 3072, 12, 1024, 203];
  const [layers, heads, keys, headDim] = [1, 8, 2, 256];
  const dense = (at, out, columns) => [
    tensor(`model.visual.${at}.weight`, 'matrix', out, columns),
    tensor(`model.visual.${at}.bias`, 'matrix', out),
  ];
  const norm = (at) => [
    tensor(`model.visual.${at}.weight`, 'norm', width),
    tensor(`model.visual.${at}.bias`, 'matrix', width),
  ];
  const block = (at) => [
    ...norm(`${at}.norm1`),
    ...norm(`${at}.norm2`),
    ...dense(`${at}.attn.qkv`, 3 * width, width),
    ...dense(`${at}.attn.proj`, width, width),
    ...dense(`${at}.mlp.linear_fc1`, mlpWidth, width),
    ...dense(`${at}.mlp.linear_fc2`, width, mlpWidth),
  ];
  const layer = (at) => [
    tensor(`${at}self_attn.q_proj.weight`, 'matrix', 2 * heads * headDim, hidden),
    tensor(`${at}self_attn.k_proj.weight`, 'matrix', keys * headDim, hidden),
    tensor(`${at}self_attn.v_proj.weight`, 'matrix', keys * headDim, hidden),
    tensor(`${at}self_attn.o_proj.weight`, 'matrix', hidden, heads * headDim),
    ...['q_norm', 'k_norm'].map((n) => tensor(`${at}self_attn.${n}.weight`, 'norm', headDim)),
    ...mlp(at, hidden, 512),
  ];
  const config = {
    model_type: 'qwen3_5',
    architectures: ['Qwen3_5ForConditionalGeneration'],
    image_token_id: 197,
    video_token_id: 198,
    vision_start_token_id: 195,
    vision_end_token_id: 196,
    tie_word_embeddings: true,
    text_config: {
      ...{ model_type: 'qwen3_5_text', hidden_size: hidden, intermediate_size: 512, vocab_size: vocabulary },
      ...{ num_hidden_layers: layers, layer_types: ['full_attention'], full_attention_interval: 1 },
      ...{ num_attention_heads: heads, num_key_value_heads: keys, head_dim: headDim, attn_output_gate: true },
      ...{ linear_conv_kernel_dim: 4, linear_key_head_dim: 128, linear_value_head_dim: 128 },
      ...{ linear_num_key_heads: 16, linear_num_value_heads: 16, hidden_act: 'silu', rms_norm_eps: 1e-6 },
      ...{ max_position_embeddings: 8192, eos_token_id: 2, tie_word_embeddings: true },
      rope_parameters: {
        ...{ mrope_interleaved: true, mrope_section: [11, 11, 10], partial_rotary_factor: 0.25 },
        ...{ rope_theta: 1e7, rope_type: 'default' },
      },
    },
    vision_config: {
      ...{ depth, hidden_size: width, intermediate_size: mlpWidth, num_heads: 12, out_hidden_size: hidden },
      ...{ num_position_embeddings: 2304, patch_size: 16, temporal_patch_size: 2, spatial_merge_size: 2 },
      ...{ in_channels: 3, hidden_act: 'gelu_pytorch_tanh', model_type: 'qwen3_5_vision' },
    },
  };
  const ends = [
    tensor('model.language_model.embed_tokens.weight', 'matrix', vocabulary, hidden),
    tensor('model.language_model.norm.weight', 'norm', hidden),
  ];
  const tower = [
    tensor('model.visual.patch_embed.proj.weight', 'matrix', width, 3, 2, 16, 16),
    tensor('model.visual.patch_embed.proj.bias', 'matrix', width),
    tensor('model.visual.pos_embed.weight', 'matrix', 2304, width),
    ...Array.from({ length: depth }, (_, i) => block(`blocks.${i}`)).flat(),
    ...norm('merger.norm'),
    ...dense('merger.linear_fc1', 4 * width, 4 * width),
    ...dense('merger.linear_fc2', hidden, 4 * width),
  ];
  return { config, tensors: [...ends, ...layer('model.language_model.layers.0.'), ...tower] };
}

/** `read`: tokens of the prompt, if it takes more than usual to use all of a family's memory. */
export const FOLDER_SHAPES = {
  // Beyond dense_len, compressed keys and selected blocks are in use.
  'MiniCPM-SALA-9B, 4 layers': { build: miniCpmSala, read: 8192 + 256 },
  'SmolLM-1.7B-MLA-d_kv_32': { build: smolLmMla },
  'Qwen3.5-0.8B, its tower': { build: towerOfQwen35 },
};
