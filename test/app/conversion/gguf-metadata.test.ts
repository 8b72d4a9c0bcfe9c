// What a GGUF file says of its model, in the words of llama.cpp.
import { expect, test } from 'vitest';
import { metadataOf, numberOf, ropeDivisors, ropeOf, textConfig } from '../../../app/conversion/gguf/metadata.ts';
import { ggufName, hubName } from '../../../app/conversion/gguf/names.ts';
import { fitting, recoded, targetsOf } from '../../../app/conversion/gguf/targets.ts';
import { tokenizerMetadata } from '../../../app/conversion/gguf/tokenizer.ts';
import type { TensorEntry } from '../../../native/addon/index.d.ts';
import { temporaryFolder } from '../../support/models/formats.ts';

const config = {
  num_hidden_layers: 2,
  max_position_embeddings: 512,
  hidden_size: 96,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 7,
  rms_norm_eps: 1e-6,
  rope_theta: 20_000,
};
const llama = {
  'general.architecture': { text: 'llama' },
  'general.name': { text: 'Mine' },
  'llama.block_count': { u32: 2 },
  'llama.context_length': { u32: 512 },
  'llama.embedding_length': { u32: 96 },
  'llama.feed_forward_length': { u32: 300 },
  'llama.attention.head_count': { u32: 4 },
  'llama.attention.head_count_kv': { u32: 2 },
  'llama.attention.layer_norm_rms_epsilon': { f32: 1e-6 },
  'llama.attention.key_length': { u32: 24 },
  'llama.attention.value_length': { u32: 24 },
  'llama.rope.freq_base': { f32: 20_000 },
  'llama.rope.dimension_count': { u32: 24 },
  'llama.vocab_size': { u32: 7 },
};

test('a configuration becomes keys of its family; what is not said has its usual value', () => {
  expect(metadataOf('llama', config, 'Mine', 300)).toEqual(llama);
  const { num_key_value_heads: _, rms_norm_eps: __, rope_theta: ___, ...sparse } = config;
  expect(metadataOf('llama', { ...sparse, head_dim: 32, norm_eps: 1e-4 }, 'Mine', 300)).toEqual({
    ...llama,
    'llama.attention.head_count_kv': { u32: 4 },
    'llama.attention.layer_norm_rms_epsilon': { f32: 1e-4 },
    'llama.attention.key_length': { u32: 32 },
    'llama.attention.value_length': { u32: 32 },
    'llama.rope.dimension_count': { u32: 32 },
    'llama.rope.freq_base': { f32: 10_000 },
  });
  expect(metadataOf('llama', sparse, 'Mine', 300)['llama.attention.layer_norm_rms_epsilon']).toEqual({ f32: 1e-5 });
  expect(metadataOf('qwen2', config, 'Mine', 300)).not.toHaveProperty(['qwen2.rope.dimension_count']);
  const lfm2 = { ...config, layer_types: ['conv', 'full_attention'], conv_L_cache: 3 };
  expect(metadataOf('lfm2', lfm2, 'Mine', 300)).toMatchObject({
    'lfm2.attention.head_count_kv': { i32s: [0, 2] },
    'lfm2.shortconv.l_cache': { u32: 3 },
  });
});

test('of Qwen3.5 the recurrent layers are told as well, and where attention stands among them', () => {
  const linear = {
    ...config,
    head_dim: 32,
    linear_num_value_heads: 8,
    linear_num_key_heads: 4,
    linear_key_head_dim: 16,
    linear_value_head_dim: 24,
    linear_conv_kernel_dim: 5,
    rope_parameters: { partial_rotary_factor: 0.25, mrope_section: [1, 2, 3] },
    layer_types: ['linear_attention', 'linear_attention', 'full_attention'],
  };
  const ssm = {
    'qwen35.rope.dimension_count': { u32: 8 },
    'qwen35.rope.dimension_sections': { i32s: [1, 2, 3, 0] },
    'qwen35.ssm.conv_kernel': { u32: 5 },
    'qwen35.ssm.state_size': { u32: 16 },
    'qwen35.ssm.group_count': { u32: 4 },
    'qwen35.ssm.time_step_rank': { u32: 8 },
    'qwen35.ssm.inner_size': { u32: 192 },
    'qwen35.full_attention_interval': { u32: 3 },
  };
  expect(metadataOf('qwen35', linear, 'Mine', 1)).toMatchObject(ssm);
  expect(metadataOf('qwen35', { ...linear, full_attention_interval: 4 }, 'Mine', 1)).toMatchObject({
    'qwen35.full_attention_interval': { u32: 4 },
  });
  expect(() => metadataOf('qwen35', { ...linear, layer_types: ['linear_attention'] }, 'Mine', 1)).toThrow(
    '"full_attention_interval" is undefined; a number is needed',
  );
});

test('scaled positions are told where llama.cpp knows them, and refused elsewhere', () => {
  const scaled = (rope_scaling: object) => metadataOf('llama', { ...config, rope_scaling }, 'Mine', 300);
  expect(scaled({ type: 'linear', factor: 4 })).toEqual({
    ...llama,
    'llama.rope.scaling.type': { text: 'linear' },
    'llama.rope.scaling.factor': { f32: 4 },
  });
  expect(scaled({ rope_type: 'default' })).toEqual(llama);
  expect(scaled({ rope_type: 'llama3' })).toEqual(llama);
  expect(() => scaled({ rope_type: 'yarn' })).toThrow(
    'positions are scaled by "yarn"; allowed for GGUF are default, linear and llama3',
  );
  expect(ropeOf({ rope_parameters: { rope_theta: 5 } }).rope_theta).toBe(5);
  expect(() => numberOf({ a: 'two' }, 'a')).toThrow('[config] "a" is "two"; a number is needed');
  expect(textConfig({ a: 1, text_config: { b: 2 } })).toEqual({ a: 1, b: 2, text_config: { b: 2 } });
  expect([textConfig({ a: 1 }), textConfig({ text_config: null })]).toEqual([{ a: 1 }, { text_config: null }]);
});

test('Llama 3: fast rotations stay, slow ones are stretched, and those between are in between', () => {
  const rope_scaling = {
    rope_type: 'llama3',
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  };
  const divisors = ropeDivisors({ ...config, head_dim: 128, rope_theta: 500_000, rope_scaling });
  expect(divisors).toHaveLength(64);
  expect([0, 28].map((at) => divisors?.[at])).toEqual([1, 1]);
  // As transformers' _compute_llama3_parameters has them: 1 / ((1 - s) / 8 + s), s = (8192 / wavelength - 1) / 3.
  const wavelength = (at: number) => 2 * Math.PI * 500_000 ** ((2 * at) / 128);
  const between = (at: number) => {
    const s = (8192 / wavelength(at) - 1) / 3;
    return 1 / ((1 - s) / 8 + s);
  };
  for (const at of [29, 31, 33, 34]) expect(divisors?.[at]).toBeCloseTo(between(at), 5);
  expect([35, 63].map((at) => divisors?.[at])).toEqual([8, 8]);
  expect(ropeDivisors(config)).toBeNull();
});

test.each([
  ['Q4_K', 512, 'Q4_K'],
  ['Q4_K', 480, 'Q5_0'],
  ['Q5_K', 480, 'Q5_1'],
  ['Q6_K', 480, 'Q8_0'],
  ['Q6_K', 100, 'F16'],
  ['Q4_0', 32, 'Q4_0'],
  ['Q4_0', 33, 'F16'],
] as const)('a matrix of %s with %d columns is stored as %s', (type, columns, as) => {
  expect(fitting(type, columns)).toBe(as);
});

const tensor = (name: string, shape: number[], type = 'BF16') => ({ name, shape, type }) as TensorEntry;

test('matrices get the type that is asked for, small tensors stay exact, and what llama.cpp has no name for is left', () => {
  const tensors = [
    tensor('model.embed_tokens.weight', [7, 64]),
    tensor('lm_head.weight', [7, 64]),
    tensor('model.layers.1.self_attn.q_proj.weight', [8, 64]),
    tensor('model.layers.1.self_attn.q_proj.bias', [8]),
    tensor('model.layers.1.input_layernorm.weight', [64]),
    tensor('model.layers.1.unknown.weight', [8, 64]),
  ];
  const of = (more: object) => targetsOf('llama', { ...config, head_dim: 4, ...more }, tensors, 'Q4_0');
  const { targets, left } = of({});
  expect(targets.map(({ name, type }) => `${name} ${type}`)).toEqual([
    'token_embd.weight Q4_0',
    'output.weight Q4_0',
    'blk.1.attn_q.weight Q4_0',
    'blk.1.attn_q.bias F32',
    'blk.1.attn_norm.weight F32',
  ]);
  expect(left).toEqual(['model.layers.1.unknown.weight']);
  expect(of({ tie_word_embeddings: true }).left).toEqual(['lm_head.weight', 'model.layers.1.unknown.weight']);
  // The two numbers that are turned together stand side by side in llama.cpp.
  expect([0, 1, 2, 3, 4, 5].map((row) => targets[2]?.from?.(row))).toEqual([0, 2, 1, 3, 4, 6]);
  expect(targets[0]?.from).toBeUndefined();
  const again = [
    tensor('blk.0.attn_q.weight', [8, 64], 'F32'),
    tensor('blk.0.attn_q.weight', [1, 64], 'BF16'),
    tensor('output_norm.weight', [64], 'Q8_0'),
  ];
  expect(recoded(again, 'Q8_0').map(({ type }) => type)).toEqual(['Q8_0', 'BF16', 'F32']);
});

test('names lead there and back', () => {
  for (const [family, hub, gguf] of [
    ['llama', 'model.norm.weight', 'output_norm.weight'],
    ['lfm2', 'model.embedding_norm.weight', 'token_embd_norm.weight'],
    ['qwen3', 'model.layers.12.self_attn.q_norm.weight', 'blk.12.attn_q_norm.weight'],
    ['qwen35', 'model.layers.3.linear_attn.out_proj.weight', 'blk.3.ssm_out.weight'],
  ] as const) {
    expect([ggufName(family, hub), hubName(family, gguf)]).toEqual([gguf, hub]);
    expect(ggufName(family, `language_model.${hub}`)).toBe(gguf);
  }
  expect(ggufName('qwen35', 'model.language_model.layers.0.linear_attn.A_log')).toBe('blk.0.ssm_a');
  expect([ggufName('llama', 'model.layers.0.linear_attn.A_log'), ggufName('llama', 'visual.weight')]).toEqual([
    null,
    null,
  ]);
  expect([hubName('llama', 'blk.0.ssm_a'), hubName('llama', 'rope_freqs.weight')]).toEqual([null, null]);
});

const bpe = (more: object = {}) => ({
  model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'] },
  added_tokens: [
    { id: 3, content: '<s>', special: true },
    { id: 4, content: '<tool>', special: false },
  ],
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  ...more,
});

test('a tokenizer is told with each of its tokens, those that are control, and which one begins, ends and fills', () => {
  const folder = (files: Record<string, object>) =>
    temporaryFolder(Object.fromEntries(Object.entries(files).map(([name, json]) => [name, JSON.stringify(json)])));
  const read = (files: Record<string, object>, more = {}) =>
    tokenizerMetadata(folder(files), 'llama', { ...config, ...more });
  expect(read({})).toBeNull();
  const merges = { ...bpe().model, merges: [['a', 'b']] };
  const said = read({
    'tokenizer.json': bpe({ model: merges }),
    'tokenizer_config.json': { bos_token: { content: '<s>' }, pad_token: 'ab' },
    'generation_config.json': { eos_token_id: [4, 3] },
  });
  expect(said).toMatchObject({
    'tokenizer.ggml.model': { text: 'gpt2' },
    'tokenizer.ggml.merges': { texts: ['a b'] },
    'tokenizer.ggml.bos_token_id': { u32: 3 },
    'tokenizer.ggml.eos_token_id': { u32: 4 },
    'tokenizer.ggml.padding_token_id': { u32: 2 },
  });
  const { texts } = (said?.['tokenizer.ggml.tokens'] ?? { texts: [] }) as { texts: string[] };
  expect(texts.slice(0, 5)).toEqual(['a', 'b', 'ab', '<s>', '<tool>']);
  expect(texts).toHaveLength(7);
  const { i32s } = (said?.['tokenizer.ggml.token_type'] ?? { i32s: [] }) as { i32s: number[] };
  expect(i32s).toEqual([1, 1, 1, 3, 4, 5, 5]);
  expect(read({ 'tokenizer.json': bpe() }, { eos_token_id: 1, bos_token_id: 0 })).toMatchObject({
    'tokenizer.ggml.bos_token_id': { u32: 0 },
    'tokenizer.ggml.eos_token_id': { u32: 1 },
    'tokenizer.ggml.merges': { texts: ['a b'] },
  });
  expect(() => read({ 'tokenizer.json': bpe({ model: { type: 'Unigram', vocab: {} } }) })).toThrow(
    'the tokenizer is Unigram',
  );
  expect(() => read({ 'tokenizer.json': bpe({ model: { ...merges, byte_fallback: true } }) })).toThrow(
    'the tokenizer is SentencePiece',
  );
});
