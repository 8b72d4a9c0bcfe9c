import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TensorEntry } from '../../../native/addon/index.d.ts';
import { LonghandError } from '../../protocol/index.ts';
import { textFromGguf } from '../../text/tokenizer/gguf-tokenizer.ts';
import type { Planned } from '../plan.ts';
import { type Family, hubName } from './names.ts';

//  Converts a GGUF file back to a Hugging Face folder, for families whose conversion only reorders rows.

const CLASSES: Readonly<Partial<Record<Family, string>>> = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
};

export type Unpacked = { tensors: TensorEntry[]; config: Record<string, unknown>; from: Map<string, Origin> };
/** The tensor in the file that a tensor of the folder comes from, and its row order. */
export type Origin = { tensor: TensorEntry; from?: (row: number) => number };

/** @throws LonghandError for families whose values change in conversion, and for tensors without a Hugging Face name */
export function unpacked(metadata: Readonly<Record<string, unknown>>, tensors: readonly TensorEntry[]): Unpacked {
  const family = String(metadata['general.architecture']) as Family;
  const className = CLASSES[family];
  if (className === undefined)
    throw new LonghandError(
      'model-unsupported',
      `[--format] got a .gguf file of the architecture ${family}; MLX takes ${Object.keys(CLASSES).join(', ')}, gguf:TYPE takes all`,
    );
  const config = configOf(family, className, metadata, tensors);
  const dim = Number(config.head_dim);
  const from = new Map<string, Origin>();
  const named = tensors.flatMap((tensor): TensorEntry[] => {
    // The RoPE divisors are part of the configuration there.
    if (tensor.name === 'rope_freqs.weight') return [];
    const name = hubName(family, tensor.name);
    if (name === null)
      throw new LonghandError('model-unsupported', `[--format] "${tensor.name}" has no name on the hub`);
    const moved = family === 'llama' && /attn_[qk]\./.test(tensor.name);
    if (moved && tensor.shape.length === 1)
      throw new LonghandError(
        'model-unsupported',
        `[--format] "${tensor.name}" is a bias; files with biases cannot be converted`,
      );
    from.set(name, moved ? { tensor, from: apart(dim) } : { tensor });
    return [{ ...tensor, name }];
  });
  return { tensors: named, config, from };
}

/** Restores the order of halves within a head. */
const apart = (dim: number) => (row: number) => {
  const head = Math.floor(row / dim) * dim;
  const inside = row - head;
  return head + 2 * (inside % (dim / 2)) + Math.floor(inside / (dim / 2));
};

/** Makes a plan for Hugging Face names read from the GGUF file. */
export const readingFrom = (plan: readonly Planned[], origins: ReadonlyMap<string, Origin>): Planned[] =>
  plan.map((planned) => {
    const origin = origins.get(planned.tensor.name);
    return origin === undefined ? planned : { ...planned, ...origin };
  });

function configOf(
  family: Family,
  className: string,
  metadata: Readonly<Record<string, unknown>>,
  tensors: readonly TensorEntry[],
): Record<string, unknown> {
  const number = (key: string, otherwise?: number): number => {
    const value = metadata[`${family}.${key}`] ?? otherwise;
    if (typeof value === 'number') return value;
    throw new LonghandError('model-broken', `[gguf] ${family}.${key} is missing; it has to be a number`);
  };
  if (tensors.some(({ name }) => name === 'rope_freqs.weight') || metadata[`${family}.rope.scaling.type`] !== undefined)
    throw new LonghandError(
      'model-unsupported',
      '[--format] positions are scaled in this file; use gguf:TYPE, as MLX cannot be written from it',
    );
  const hidden = number('embedding_length');
  const heads = number('attention.head_count');
  const has = (name: string) => tensors.some((tensor) => tensor.name === name);
  return {
    architectures: [className],
    model_type: family,
    hidden_size: hidden,
    intermediate_size: number('feed_forward_length'),
    num_hidden_layers: number('block_count'),
    num_attention_heads: heads,
    num_key_value_heads: number('attention.head_count_kv', heads),
    head_dim: number('attention.key_length', hidden / heads),
    hidden_act: 'silu',
    rms_norm_eps: number('attention.layer_norm_rms_epsilon'),
    rope_theta: number('rope.freq_base', 10000),
    max_position_embeddings: number('context_length'),
    vocab_size: tensors.find(({ name }) => name === 'token_embd.weight')?.shape[0],
    tie_word_embeddings: !has('output.weight'),
    attention_bias: family === 'llama' && has('blk.0.attn_q.bias'),
    ...ids(metadata),
  };
}

const ids = (metadata: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    ['bos', 'eos'].flatMap((name) => {
      const id = metadata[`tokenizer.ggml.${name}_token_id`];
      return typeof id === 'number' ? [[`${name}_token_id`, id]] : [];
    }),
  );

/** Writes the tokenizer files; none if the GGUF file has no tokenizer. */
export async function writeTokenizer(folder: string, metadata: Readonly<Record<string, unknown>>): Promise<void> {
  const kind = metadata['tokenizer.ggml.model'];
  if (kind === undefined || kind === 'no_vocab' || kind === 'none') return;
  const { tokenizer, chatTemplate, bos, addBos, eos } = textFromGguf(metadata);
  const words = metadata['tokenizer.ggml.tokens'] as string[];
  const put = (name: string, value: unknown) => writeFile(join(folder, name), `${JSON.stringify(value)}\n`);
  await put('tokenizer.json', tokenizer);
  await put('tokenizer_config.json', {
    add_bos_token: addBos,
    ...(bos === null ? {} : { bos_token: words[bos] }),
    ...(eos[0] === undefined ? {} : { eos_token: words[eos[0]] }),
    ...(chatTemplate === null ? {} : { chat_template: chatTemplate }),
  });
  await put('generation_config.json', { eos_token_id: eos });
}
