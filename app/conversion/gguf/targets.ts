import type { TensorEntry } from '../../../native/addon/index.d.ts';
import { columnsOf, isMatrix, isPlain, rowsOf } from '../plan.ts';
import { blockOf, type GgufType } from './file.ts';
import { type Config, headDim, numberOf } from './metadata.ts';
import { type Family, ggufName } from './names.ts';

/** One tensor of a GGUF file, and how it comes from one of the source. */
export type Target = {
  name: string;
  type: GgufType;
  shape: readonly number[];
  tensor: TensorEntry;
  /** Source row for each row; absent: the same. */
  from?: (row: number) => number;
  columns?: Int32Array;
  /** Transformation of the values, for small tensors. */
  change?: (value: number) => number;
};

/** If rows are not a multiple of the block size, llama.cpp falls back to the next type that fits, and so do we. */
const NEXT: Partial<Record<GgufType, GgufType>> = { Q4_K: 'Q5_0', Q5_K: 'Q5_1', Q6_K: 'Q8_0' };
export function fitting(type: GgufType, columns: number): GgufType {
  if (columns % blockOf(type) === 0) return type;
  const next = NEXT[type];
  return next === undefined ? 'F16' : fitting(next, columns);
}

/** llama.cpp's order: the two elements of a rotary pair are adjacent. */
const paired = (dim: number) => (row: number) => {
  const head = Math.floor(row / dim) * dim;
  const inside = row - head;
  return head + (inside % 2) * (dim / 2) + Math.floor(inside / 2);
};

/** Value heads grouped by key head become tiled: head j * keys + g was head g * share + j. `size` rows a head, behind `before`. */
function tiled(config: Config, size: number, before = 0): (row: number) => number {
  const keys = numberOf(config, 'linear_num_key_heads');
  const share = numberOf(config, 'linear_num_value_heads') / keys;
  return (row) => {
    if (row < before) return row;
    const head = Math.floor((row - before) / size);
    return before + ((head % keys) * share + Math.floor(head / keys)) * size + ((row - before) % size);
  };
}

type Change = Pick<Target, 'from' | 'columns' | 'change'>;

/** mlx-lm stores the norms of Qwen3.5 with one added, in files whose convolutions have their channels last. */
const isMlx = (tensors: readonly TensorEntry[]): boolean =>
  tensors.some(({ name, shape }) => name.endsWith('conv1d.weight') && shape.length === 3 && shape[2] === 1);

/** What llama.cpp's converter does to the numbers. `mlx`: the norms have one added already. */
function changeOf(family: Family, config: Config, name: string, tensor: TensorEntry, mlx: boolean): Change {
  if (family === 'llama' && /attn_[qk]\.(weight|bias)$/.test(name)) return { from: paired(headDim(config)) };
  if (family !== 'qwen35') return {};
  const value = numberOf(config, 'linear_value_head_dim', 1);
  const leaf = name.replace(/^blk\.\d+\./, '');
  if (/norm/.test(leaf)) return mlx || leaf === 'ssm_norm.weight' ? {} : { change: (one) => one + 1 };
  const before = 2 * numberOf(config, 'linear_num_key_heads', 0) * numberOf(config, 'linear_key_head_dim', 0);
  if (/^(attn_qkv|ssm_conv1d)\./.test(leaf)) return { from: tiled(config, value, before) };
  if (/^attn_gate\./.test(leaf)) return { from: tiled(config, value) };
  if (/^ssm_(beta|alpha|dt)\./.test(leaf)) return { from: tiled(config, 1) };
  if (leaf === 'ssm_a') return { from: tiled(config, 1), change: (one) => -Math.exp(one) };
  if (leaf === 'ssm_out.weight')
    return { columns: Int32Array.from({ length: columnsOf(tensor) }, (_, i) => tiled(config, value)(i)) };
  return {};
}

const BIG = /(token_embd|output|attn_(q|k|v|output|qkv|gate)|ssm_out|ffn_\w+|shortconv\.(in|out)_proj)\.weight$/;

/** The tensors of a Hugging Face folder under llama.cpp's names; `left`: those without an equivalent. */
export function targetsOf(
  family: Family,
  config: Config,
  tensors: readonly TensorEntry[],
  type: GgufType,
): { targets: Target[]; left: string[] } {
  const targets: Target[] = [];
  const left: string[] = [];
  const tied = config.tie_word_embeddings === true;
  const mlx = isMlx(tensors);
  for (const tensor of tensors) {
    const name = ggufName(family, tensor.name);
    if (name === null || (tied && name === 'output.weight')) {
      left.push(tensor.name);
      continue;
    }
    const big = isMatrix(tensor) && BIG.test(name);
    targets.push({
      name,
      type: big ? fitting(type, columnsOf(tensor)) : 'F32',
      shape: tensor.shape.length > 1 ? tensor.shape.filter((size) => size !== 1) : tensor.shape,
      tensor,
      ...changeOf(family, config, name, tensor, mlx),
    });
  }
  return { targets, left };
}

/** The tensors of a GGUF file with its matrices in another type. */
export const recoded = (tensors: readonly TensorEntry[], type: GgufType): Target[] =>
  tensors.map((tensor) => ({
    name: tensor.name,
    type:
      BIG.test(tensor.name) && tensor.shape.length > 1 && rowsOf(tensor) > 1
        ? fitting(type, columnsOf(tensor))
        : plain(tensor),
    shape: tensor.shape,
    tensor,
  }));

const plain = (tensor: TensorEntry): GgufType => (isPlain(tensor) ? (tensor.type as GgufType) : 'F32');
