// Published shapes of the families, as tables of tensors: files of random weights in these shapes need the time and memory of real
// ones, though they write nonsense. Configurations are from the model cards.

/** `sizes` row-major; kinds: matrix (the file's type), wide (a better type in mixed files), vector (F32). */
const tensor = (name, kind, ...sizes) => ({ name, kind, sizes });
const prefixed = (arch, keys) =>
  Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${arch}.${key}`, value]));

const common = (shape) => ({
  block_count: shape.layers,
  context_length: shape.context,
  embedding_length: shape.hidden,
  'attention.head_count': shape.heads,
  'attention.head_count_kv': shape.kv,
  'attention.key_length': shape.dim,
  'attention.value_length': shape.dim,
  'attention.layer_norm_rms_epsilon': { f32: shape.eps },
  'rope.freq_base': { f32: shape.theta },
  vocab_size: shape.vocabulary,
});

const mlp = (at, { hidden, width }) => [
  tensor(`${at}ffn_gate.weight`, 'matrix', width, hidden),
  tensor(`${at}ffn_up.weight`, 'matrix', width, hidden),
  tensor(`${at}ffn_down.weight`, 'wide', hidden, width),
];

const attention = (at, { hidden, heads, kv, dim }, queries = 1) => [
  tensor(`${at}attn_q.weight`, 'matrix', queries * heads * dim, hidden),
  tensor(`${at}attn_k.weight`, 'matrix', kv * dim, hidden),
  tensor(`${at}attn_v.weight`, 'wide', kv * dim, hidden),
  tensor(`${at}attn_output.weight`, 'matrix', hidden, heads * dim),
  tensor(`${at}attn_q_norm.weight`, 'vector', dim),
  tensor(`${at}attn_k_norm.weight`, 'vector', dim),
];

const ends = ({ vocabulary, hidden, tied }, norm = 'output_norm.weight') => [
  tensor('token_embd.weight', 'wide', vocabulary, hidden),
  tensor(norm, 'vector', hidden),
  ...(tied ? [] : [tensor('output.weight', 'wide', vocabulary, hidden)]),
];

const numbered = (layers, layer) => Array.from({ length: layers }, (_, i) => layer(`blk.${i}.`, i)).flat();

function qwen3(shape) {
  const layer = (at) => [
    tensor(`${at}attn_norm.weight`, 'vector', shape.hidden),
    ...attention(at, shape),
    tensor(`${at}ffn_norm.weight`, 'vector', shape.hidden),
    ...mlp(at, shape),
  ];
  return {
    keys: prefixed('qwen3', { ...common(shape), feed_forward_length: shape.width }),
    tensors: [...ends(shape), ...numbered(shape.layers, layer)],
  };
}

/** K and V heads of 128; every fourth layer is attention, with a gate beside each query. */
function delta(at, { hidden, keyHeads, valueHeads }) {
  const values = 128 * valueHeads;
  const channels = 2 * 128 * keyHeads + values;
  return [
    tensor(`${at}attn_qkv.weight`, 'matrix', channels, hidden),
    tensor(`${at}attn_gate.weight`, 'matrix', values, hidden),
    tensor(`${at}ssm_beta.weight`, 'matrix', valueHeads, hidden),
    tensor(`${at}ssm_alpha.weight`, 'matrix', valueHeads, hidden),
    tensor(`${at}ssm_conv1d.weight`, 'vector', channels, 4),
    tensor(`${at}ssm_dt.bias`, 'vector', valueHeads),
    tensor(`${at}ssm_a`, 'decay', valueHeads),
    tensor(`${at}ssm_norm.weight`, 'vector', 128),
    tensor(`${at}ssm_out.weight`, 'matrix', hidden, values),
  ];
}

function experts(at, { hidden, experts: count, expertWidth }) {
  return [
    tensor(`${at}ffn_gate_inp.weight`, 'vector', count, hidden),
    tensor(`${at}ffn_gate_exps.weight`, 'matrix', count, expertWidth, hidden),
    tensor(`${at}ffn_up_exps.weight`, 'matrix', count, expertWidth, hidden),
    tensor(`${at}ffn_down_exps.weight`, 'wide', count, hidden, expertWidth),
    tensor(`${at}ffn_gate_inp_shexp.weight`, 'vector', hidden),
    tensor(`${at}ffn_gate_shexp.weight`, 'matrix', expertWidth, hidden),
    tensor(`${at}ffn_up_shexp.weight`, 'matrix', expertWidth, hidden),
    tensor(`${at}ffn_down_shexp.weight`, 'wide', hidden, expertWidth),
  ];
}

function qwen35(shape) {
  const arch = shape.experts ? 'qwen35moe' : 'qwen35';
  const interval = shape.interval ?? 4;
  const layer = (at, i) => [
    tensor(`${at}attn_norm.weight`, 'vector', shape.hidden),
    ...((i + 1) % interval === 0 ? attention(at, shape, 2) : delta(at, shape)),
    tensor(`${at}post_attention_norm.weight`, 'vector', shape.hidden),
    ...(shape.experts ? experts(at, shape) : mlp(at, shape)),
  ];
  const mixture = {
    expert_count: shape.experts,
    expert_used_count: shape.active,
    expert_feed_forward_length: shape.expertWidth,
    expert_shared_feed_forward_length: shape.expertWidth,
  };
  return {
    keys: prefixed(arch, {
      ...common(shape),
      ...(shape.experts ? mixture : { feed_forward_length: shape.width }),
      'rope.dimension_count': shape.dim / 4,
      'rope.dimension_sections': [11, 11, 10, 0],
      'ssm.conv_kernel': 4,
      'ssm.state_size': 128,
      'ssm.group_count': shape.keyHeads,
      'ssm.time_step_rank': shape.valueHeads,
      'ssm.inner_size': 128 * shape.valueHeads,
      full_attention_interval: interval,
    }),
    tensors: [...ends(shape), ...numbered(shape.layers, layer)],
  };
}

function lfm2(shape) {
  const attends = new Set([2, 5, 8, 10, 12, 14]);
  const convolution = (at) => [
    tensor(`${at}shortconv.in_proj.weight`, 'matrix', 3 * shape.hidden, shape.hidden),
    tensor(`${at}shortconv.conv.weight`, 'vector', shape.hidden, 3),
    tensor(`${at}shortconv.out_proj.weight`, 'matrix', shape.hidden, shape.hidden),
  ];
  const layer = (at, i) => [
    tensor(`${at}attn_norm.weight`, 'vector', shape.hidden),
    ...(attends.has(i) ? attention(at, shape) : convolution(at)),
    tensor(`${at}ffn_norm.weight`, 'vector', shape.hidden),
    ...mlp(at, shape),
  ];
  const kv = Array.from({ length: shape.layers }, (_, i) => (attends.has(i) ? shape.kv : 0));
  return {
    keys: prefixed('lfm2', {
      ...common(shape),
      'attention.head_count_kv': kv,
      feed_forward_length: shape.width,
      'shortconv.l_cache': 3,
    }),
    tensors: [...ends(shape, 'token_embd_norm.weight'), ...numbered(shape.layers, layer)],
  };
}

const hybrid = { vocabulary: 248_320, dim: 256, eps: 1e-6, theta: 1e7, context: 262_144, keyHeads: 16, tied: true };

export const SHAPES = {
  'Qwen3-0.6B': {
    build: qwen3,
    ...{ hidden: 1024, width: 3072, layers: 28, heads: 16, kv: 8, dim: 128, tied: true },
    ...{ vocabulary: 151_936, eps: 1e-6, theta: 1e6, context: 40_960, pre: 'qwen2' },
  },
  'Qwen3.5-0.8B': {
    ...hybrid,
    ...{ build: qwen35, hidden: 1024, width: 3584, layers: 24, heads: 8, kv: 2, valueHeads: 16, pre: 'qwen35' },
  },
  'Qwen3.5-2B': {
    ...hybrid,
    ...{ build: qwen35, hidden: 2048, width: 6144, layers: 24, heads: 8, kv: 2, valueHeads: 16, pre: 'qwen35' },
  },
  'LFM2-1.2B': {
    build: lfm2,
    ...{ hidden: 2048, width: 8192, layers: 16, heads: 32, kv: 8, dim: 64, tied: true },
    ...{ vocabulary: 65_536, eps: 1e-5, theta: 1e6, context: 128_000, pre: 'lfm2' },
  },
  // Two of the forty layers, one of each kind.
  'Qwen3.5-35B-A3B, 2 layers': {
    ...hybrid,
    ...{ build: qwen35, hidden: 2048, layers: 2, interval: 2, heads: 16, kv: 2, valueHeads: 32, tied: false },
    ...{ experts: 256, active: 8, expertWidth: 512, pre: 'qwen35' },
  },
};
