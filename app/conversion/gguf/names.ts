//  Tensor names of the hub and of llama.cpp (gguf-py's tables; test/golden/gguf_models/names.json has its own answers).

export type Family = 'llama' | 'qwen2' | 'qwen3' | 'qwen35' | 'lfm2';

export const FAMILIES: Readonly<Record<string, Family>> = {
  llama: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  qwen3_5: 'qwen35',
  qwen3_5_text: 'qwen35',
  lfm2: 'lfm2',
};

type Table = Readonly<Record<string, string>>;

const mlp: Table = { 'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down' };
const attention: Table = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
};
const dense: Table = { ...attention, ...mlp, input_layernorm: 'attn_norm', post_attention_layernorm: 'ffn_norm' };
const headNorms: Table = { 'self_attn.q_norm': 'attn_q_norm', 'self_attn.k_norm': 'attn_k_norm' };

const LAYER: Readonly<Record<Family, Table>> = {
  llama: dense,
  qwen2: dense,
  qwen3: { ...dense, ...headNorms },
  qwen35: {
    ...dense,
    ...headNorms,
    post_attention_layernorm: 'post_attention_norm',
    'linear_attn.in_proj_qkv': 'attn_qkv',
    'linear_attn.in_proj_z': 'attn_gate',
    'linear_attn.in_proj_b': 'ssm_beta',
    'linear_attn.in_proj_a': 'ssm_alpha',
    'linear_attn.conv1d': 'ssm_conv1d',
    'linear_attn.norm': 'ssm_norm',
    'linear_attn.out_proj': 'ssm_out',
  },
  lfm2: {
    'self_attn.q_proj': 'attn_q',
    'self_attn.k_proj': 'attn_k',
    'self_attn.v_proj': 'attn_v',
    'self_attn.out_proj': 'attn_output',
    'self_attn.q_layernorm': 'attn_q_norm',
    'self_attn.k_layernorm': 'attn_k_norm',
    operator_norm: 'attn_norm',
    ffn_norm: 'ffn_norm',
    'feed_forward.w1': 'ffn_gate',
    'feed_forward.w2': 'ffn_down',
    'feed_forward.w3': 'ffn_up',
    'conv.in_proj': 'shortconv.in_proj',
    'conv.out_proj': 'shortconv.out_proj',
    'conv.conv': 'shortconv.conv',
  },
};
/** Names without a `.weight` or `.bias` suffix. */
const BARE: Table = { 'linear_attn.dt_bias': 'ssm_dt.bias', 'linear_attn.A_log': 'ssm_a' };
const ENDS = (family: Family): Table => ({
  'model.embed_tokens.weight': 'token_embd.weight',
  'lm_head.weight': 'output.weight',
  ...(family === 'lfm2'
    ? { 'model.embedding_norm.weight': 'token_embd_norm.weight' }
    : { 'model.norm.weight': 'output_norm.weight' }),
});

/** The name in a GGUF file; null if llama.cpp has no such tensor. */
export function ggufName(family: Family, hub: string): string | null {
  const name = hub
    .replace(/^(model\.language_model\.|language_model\.model\.)/, 'model.')
    .replace(/^language_model\./, '');
  const end = ENDS(family)[name];
  if (end !== undefined) return end;
  const [, layer, inside = ''] = /^model\.layers\.(\d+)\.(.*)$/.exec(name) ?? [];
  if (layer === undefined) return null;
  const bare = family === 'qwen35' ? BARE[inside] : undefined;
  if (bare !== undefined) return `blk.${layer}.${bare}`;
  const [, module = '', ending = ''] = /^(.*)\.(weight|bias)$/.exec(inside) ?? [];
  const found = LAYER[family][module];
  return found === undefined ? null : `blk.${layer}.${found}.${ending}`;
}

/** The name on the hub. */
export function hubName(family: Family, gguf: string): string | null {
  const inverse = (table: Table, value: string) => Object.keys(table).find((key) => table[key] === value);
  const end = inverse(ENDS(family), gguf);
  if (end !== undefined) return end;
  const [, layer, inside = ''] = /^blk\.(\d+)\.(.*)$/.exec(gguf) ?? [];
  if (layer === undefined) return null;
  const [, module = '', ending = ''] = /^(.*)\.(weight|bias)$/.exec(inside) ?? [];
  const found = inverse(LAYER[family], module);
  return found === undefined ? null : `model.layers.${layer}.${found}.${ending}`;
}
