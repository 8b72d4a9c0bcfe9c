// Every field of a configuration, missing, negative, huge, of the wrong type or contradicting another: an answer that names
// the key, from headers alone, and never a crash.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Description, TensorEntry } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../../support/addon.ts';

type Json = { [key: string]: Json | unknown };
type Container = 'safetensors' | 'gguf';

interface Subject {
  name: string;
  path: string;
  container: Container;
  /** Fields without which there is no model. */
  required: string[];
  /** Fields with a default: wrong values are refused, absence is not. */
  optional: string[];
}

const decoder = ['hidden_size', 'num_hidden_layers', 'num_attention_heads', 'vocab_size', 'max_position_embeddings'];
const delta = [
  'linear_num_key_heads',
  'linear_num_value_heads',
  'linear_key_head_dim',
  'linear_value_head_dim',
  'linear_conv_kernel_dim',
];
const theta = 'rope_parameters.rope_theta';
const attention = ['num_key_value_heads', 'head_dim', theta];
const sparse = ['kernel_size', 'kernel_stride', 'init_blocks', 'block_size', 'window_size', 'topk', 'dense_len'];

const subjects: Subject[] = [
  {
    name: 'llama',
    path: 'llama/gqa_tied',
    container: 'safetensors',
    required: [...decoder, 'intermediate_size', 'rms_norm_eps'],
    optional: attention,
  },
  {
    name: 'llama, scaled positions',
    path: 'llama/rope_llama3',
    container: 'safetensors',
    required: ['rope_parameters.factor', 'rope_parameters.original_max_position_embeddings'],
    optional: [theta, 'rope_parameters.low_freq_factor', 'rope_parameters.high_freq_factor'],
  },
  {
    name: 'qwen2',
    path: 'qwen2/biases_tied',
    container: 'safetensors',
    required: [...decoder, 'intermediate_size', 'rms_norm_eps'],
    optional: ['num_key_value_heads', 'rope_theta'],
  },
  {
    name: 'qwen3',
    path: 'qwen3/qk_norm_tied',
    container: 'safetensors',
    required: [...decoder, 'intermediate_size', 'rms_norm_eps'],
    optional: attention,
  },
  {
    name: 'qwen3_5',
    path: 'qwen3_5/dense_tied',
    container: 'safetensors',
    required: [...decoder, ...delta, 'intermediate_size', 'rms_norm_eps'],
    optional: attention,
  },
  {
    name: 'qwen3_5_moe',
    path: 'qwen3_5_moe/top3',
    container: 'safetensors',
    required: [
      ...decoder,
      ...delta,
      'rms_norm_eps',
      'num_experts_per_tok',
      'moe_intermediate_size',
      'shared_expert_intermediate_size',
    ],
    optional: attention,
  },
  {
    name: 'lfm2',
    path: 'lfm2/no_adjust',
    container: 'safetensors',
    required: [...decoder, 'norm_eps', 'conv_L_cache'],
    optional: ['num_key_value_heads', theta],
  },
  {
    name: 'lfm2_moe',
    path: 'lfm2_moe/top4',
    container: 'safetensors',
    required: [
      ...decoder,
      'norm_eps',
      'conv_L_cache',
      'intermediate_size',
      'num_experts_per_tok',
      'moe_intermediate_size',
    ],
    optional: ['num_dense_layers', 'routed_scaling_factor', theta],
  },
  {
    name: 'minicpm_sala',
    path: 'minicpm_sala/mixed',
    container: 'safetensors',
    required: [
      ...decoder,
      'intermediate_size',
      'rms_norm_eps',
      'scale_emb',
      'scale_depth',
      'dim_model_base',
      ...sparse.map((key) => `sparse_config.${key}`),
    ],
    optional: ['num_key_value_heads', 'head_dim', 'lightning_nh', 'lightning_nkv', 'lightning_head_dim', 'rope_theta'],
  },
  {
    name: 'llama-mla',
    path: 'mha2mla/uniform_r4_joint_rank8',
    container: 'safetensors',
    required: [...decoder, 'intermediate_size', 'rms_norm_eps'],
    optional: ['RoPE.uniform_step', 'RoPE.last_k_rope_dim', 'RoPE.top_k_rope_dim', 'SVD.low_rank'],
  },
  {
    name: 'bert',
    path: 'bert/tiny',
    container: 'safetensors',
    required: [
      'hidden_size',
      'num_hidden_layers',
      'num_attention_heads',
      'intermediate_size',
      'max_position_embeddings',
      'layer_norm_eps',
    ],
    optional: ['vocab_size'],
  },
  ...(['llama', 'qwen3', 'qwen35', 'lfm2'] as const).map(
    (arch): Subject => ({
      name: `GGUF ${arch}`,
      path: `gguf_models/${arch}/model-f32.gguf`,
      container: 'gguf',
      required: [
        'block_count',
        'context_length',
        'embedding_length',
        'feed_forward_length',
        'attention.head_count',
        'attention.layer_norm_rms_epsilon',
      ].map((key) => `${arch}.${key}`),
      optional: [`${arch}.rope.freq_base`, `${arch}.vocab_size`],
    }),
  ),
];

/** The object that holds the last part of a path, and that part. GGUF keys are flat and have dots of their own. */
function slot(config: Json, path: string, container: Container): [holder: Json, key: string] {
  if (container === 'gguf') return [config, path];
  const text = (config.text_config ?? config) as Json;
  const parts = path.split('.');
  const key = parts.pop() ?? '';
  let holder = parts[0] !== undefined && text[parts[0]] === undefined ? config : text;
  for (const part of parts) holder = holder[part] as Json;
  return [holder, key];
}

function changed(
  config: Json,
  path: string,
  container: Container,
  change: (holder: Json, key: string) => void,
): string {
  const copy = structuredClone(config);
  const [holder, key] = slot(copy, path, container);
  change(holder, key);
  return JSON.stringify(copy);
}

const named = (description: Description, path: string): boolean => {
  const key = path.split('.').pop() ?? path;
  return description.problems.some((problem) => problem.includes(key));
};

const wrong: [what: string, value: unknown][] = [
  ['negative', -3],
  ['huge', 1e15],
  ['text', 'many'],
  ['a list', [[1]]],
  ['true', true],
];

describe.each(subjects)('$name', ({ path, container, required, optional }) => {
  const opened: Promise<{ config: Json; tensors: TensorEntry[] }> = addon
    .inspect(join(golden, path))
    .then(({ config, tensors }) => ({ config: config as Json, tensors }));
  const verdict = async (config: string): Promise<Description> =>
    addon.describe(config, (await opened).tensors, container);

  test('the model as it is can run', async () => {
    expect((await verdict(JSON.stringify((await opened).config))).problems).toEqual([]);
  });

  test.each(required)('%s is needed', async (key) => {
    const { config } = await opened;
    for (const empty of [
      changed(config, key, container, (holder, name) => delete holder[name]),
      changed(config, key, container, (holder, name) => {
        holder[name] = null;
      }),
    ]) {
      const description = await verdict(empty);
      expect(description.supported).toBe(false);
      expect(named(description, key), description.problems.join('\n')).toBe(true);
    }
  });

  test.each([...required, ...optional])('%s is refused when it is wrong', async (key) => {
    const { config } = await opened;
    for (const [what, value] of wrong) {
      const description = await verdict(
        changed(config, key, container, (holder, name) => {
          holder[name] = value;
        }),
      );
      expect(description.supported, what).toBe(false);
      expect(named(description, key), `${what}: ${description.problems.join('\n')}`).toBe(true);
    }
  });

  test('any field with any value gives an answer', async () => {
    const { config } = await opened;
    const holders = [
      config,
      ...Object.values(config).filter((value) => typeof value === 'object' && !Array.isArray(value)),
    ];
    for (const [index, holder] of holders.entries()) {
      for (const key of Object.keys((holder ?? {}) as Json)) {
        for (const value of [undefined, null, -1, 0, 1e300, 'x', [], [null], {}, true]) {
          const copy = structuredClone(config);
          const place = [copy, ...Object.values(copy).filter((v) => typeof v === 'object' && !Array.isArray(v))][
            index
          ] as Json;
          place[key] = value;
          const description = await verdict(JSON.stringify(copy));
          expect(description.supported).toBe(description.problems.length === 0);
        }
      }
    }
  });
});

test('every missing, misshapen and foreign tensor is listed at once', async () => {
  const { config, tensors } = await addon.inspect(join(golden, 'qwen3/qk_norm_tied'));
  const spoiled = tensors
    .filter(({ name }) => !name.endsWith('layers.1.self_attn.k_norm.weight'))
    .map((entry) => (entry.name.endsWith('layers.0.mlp.up_proj.weight') ? { ...entry, shape: [3, 64] } : entry));
  spoiled.push({ name: 'model.layers.0.mlp.surprise.weight', type: 'F32', shape: [4] });
  const { problems } = addon.describe(JSON.stringify(config), spoiled, 'safetensors');
  expect(problems).toEqual([
    expect.stringContaining('"model.layers.0.mlp.up_proj.weight" has the shape [3, 64]'),
    expect.stringContaining('"model.layers.1.self_attn.k_norm.weight" is missing'),
    expect.stringContaining('"model.layers.0.mlp.surprise.weight" [4] is not part'),
  ]);
});

test('a vision tower that feeds several layers of the text is refused, and not read as one that feeds the first', async () => {
  const { config, tensors } = await addon.inspect(join(golden, 'qwen3_5_vision/two_images'));
  const seeing = (indexes: readonly number[]) => {
    const copy = structuredClone(config) as { vision_config: Json };
    copy.vision_config.deepstack_visual_indexes = indexes;
    return addon.describe(JSON.stringify(copy), tensors, 'safetensors');
  };
  expect(seeing([]).problems).toEqual([]);
  expect(seeing([8, 16]).problems.join('\n')).toContain('"vision_config.deepstack_visual_indexes" names layers');
});

test('an architecture nobody knows is named, with those that are known', () => {
  const { supported, problems } = addon.describe('{"model_type": "rwkv7"}', [], 'safetensors');
  expect(supported).toBe(false);
  expect(problems[0]).toMatch(/"rwkv7" is unknown, known are .*llama/);
});
