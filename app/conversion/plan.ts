import type { TensorEntry } from '../../native/addon/index.d.ts';
import { SHRINK_BITS as BITS, SHRINK_GROUPS as GROUPS, LonghandError } from '../protocol/index.ts';

/** How matrices are quantised: round to nearest, half-quadratic (HQQ), or importance-weighted search. */
export type Rounding = 'rtn' | 'hqq' | 'weighted';

/** One tensor of the result, or a part of one. */
export type Planned = {
  /** Of a part: that of its source. */
  name: string;
  shape: readonly number[];
  /** The source tensor, and the source row of each row; without `from` the same. */
  tensor: TensorEntry;
  from?: (row: number) => number;
  /** Bits of the groups; null: not quantised. All parts of a tensor have the same. */
  bits: number | null;
  /** The tensor of which this is a part, and its first row there. */
  within?: { name: string; shape: readonly number[]; first: number };
  /** Added to every value of a small tensor. */
  plus?: number;
  /** mlx-lm refuses files that have it. */
  refused?: boolean;
};

/** Small but sensitive tensors: gates of recurrent layers, routers, convolutions, positions, norms, vision and audio towers, and
 *  element-wise parameters of latent attention. */
const KEPT =
  /(in_proj_(a|b|ba)|\.gate|shared_expert_gate|norm\w*|conv1?d?|conv\.conv|position_embeddings|token_type_embeddings|up_[kv]|W_up_[kv]|A_log|dt_bias)(\.weight)?$|^(model\.)?(visual|vision_tower|multi_modal_projector)\.|(^|\.)pooler\.|^classifier\./;
const PLAIN = ['F32', 'F16', 'BF16'];

/** The type of an unquantised tensor, and of scales: its own, or F16 if the source was quantised. Null for
 *  integers, which are not weights. */
export function storedType({ type }: TensorEntry): 'F32' | 'F16' | 'BF16' | null {
  if (type === 'F32' || type === 'F16' || type === 'BF16') return type;
  return /^([UI]\d+|BOOL|BOOLEAN|F64)$/.test(type) ? null : 'F16';
}
export const isPlain = ({ type }: TensorEntry): boolean => PLAIN.includes(type);
/** The tensors that were quantised before. */
export const quantisedIn = (tensors: readonly TensorEntry[]): TensorEntry[] =>
  tensors.filter((tensor) => !isPlain(tensor) && !/^[IUF]\d+$|^BOOL/.test(tensor.type));
type Shaped = { readonly shape: readonly number[] };
export const rowsOf = ({ shape }: Shaped): number => shape.slice(0, -1).reduce((product, size) => product * size, 1);
export const columnsOf = ({ shape }: Shaped): number => shape.at(-1) ?? 1;

/** A matrix that is multiplied with, or a stack of them. */
export function isMatrix({ name, shape }: TensorEntry): boolean {
  const matrix = shape.length === 2 && name.endsWith('.weight');
  const stack = shape.length === 3 && /(switch_mlp|experts)\./.test(name);
  return (matrix || stack) && !KEPT.test(name);
}

/** The same bits for every matrix whose rows are whole groups. */
export function planOf(tensors: readonly TensorEntry[], bits: number, group: number): Planned[] {
  const stacks = stacksOf(tensors);
  const next = stacks.size > 0 && tensors.some(({ name }) => name.endsWith('.linear_attn.in_proj_qkvz.weight'));
  return tensors.flatMap((tensor): Planned[] => {
    const own = isMatrix(tensor) && columnsOf(tensor) % group === 0 ? bits : null;
    const place = stacks.get(tensor.name);
    if (place !== undefined) return [partOf(tensor, place, own)];
    const matrices = matricesOf(tensor, own, stacks.size > 0);
    return next ? matrices.map(asNext) : matrices;
  });
}

const CENTRED = /(input_layernorm|post_attention_layernorm|model\.norm|[qk]_norm)\.weight$/;

/** Qwen3-Next: where experts are stacks already, mlx-lm takes everything else as it is as well. So convolutions have their channels
 *  last, one is added to the norms, and there is no head that drafts. */
function asNext(planned: Planned): Planned {
  const { name, shape } = planned;
  const [channels = 0, one, taps = 0] = shape;
  if (name.startsWith('mtp.')) return { ...planned, refused: true };
  if (CENTRED.test(name)) return { ...planned, plus: 1 };
  if (!name.endsWith('conv1d.weight') || one !== 1) return planned;
  return { ...planned, within: { name, shape: [channels, taps, 1], first: 0 } };
}

/** LFM2 MoE: gate, down and up. */
const NUMBERED: Readonly<Record<string, string>> = { w1: 'gate_proj', w2: 'down_proj', w3: 'up_proj' };
const EXPERT = /^(.*)\.experts\.(\d+)\.(gate_proj|up_proj|down_proj|w[123])\.weight$/;

type Place = { name: string; expert: number; experts: number };

/** Matrices of single experts, and the stack that each becomes a part of. */
function stacksOf(tensors: readonly TensorEntry[]): Map<string, Place> {
  const found = tensors.flatMap(({ name }) => {
    const [, module, expert, leaf = ''] = EXPERT.exec(name) ?? [];
    if (module === undefined) return [];
    return [{ name, expert: Number(expert), stack: `${module}.switch_mlp.${NUMBERED[leaf] ?? leaf}.weight` }];
  });
  return new Map(
    [...Map.groupBy(found, ({ stack }) => stack)].flatMap(([stack, parts]): [string, Place][] => {
      const numbers = new Set(parts.map(({ expert }) => expert));
      const complete = numbers.size === parts.length && Math.max(...numbers) < parts.length;
      return complete ? parts.map(({ name, expert }) => [name, { name: stack, expert, experts: parts.length }]) : [];
    }),
  );
}

function partOf(tensor: TensorEntry, { name, expert, experts }: Place, bits: number | null): Planned {
  const within = { name, shape: [experts, ...tensor.shape], first: expert * rowsOf(tensor) };
  return { name: tensor.name, shape: tensor.shape, tensor, bits, within };
}

/** Stacks of experts have other names in MLX, and gate and up stand apart. */
function matricesOf(tensor: TensorEntry, bits: number | null, mixture: boolean): Planned[] {
  const { shape } = tensor;
  // mlx-lm renames these as well, but not their scales.
  const name = mixture
    ? tensor.name.replace(/(?<=\.feed_forward\.)w[123](?=\.weight$)/, (leaf) => NUMBERED[leaf] ?? leaf)
    : tensor.name;
  const [experts = 0, rows = 0, columns = 0] = shape;
  const module = /^(.*)\.experts\.(gate_up_proj|down_proj)$/.exec(name);
  if (shape.length !== 3 || module === null) return [{ name, shape, tensor, bits }];
  const stack = `${module[1]}.switch_mlp`;
  if (module[2] === 'down_proj') return [{ name: `${stack}.down_proj.weight`, shape, tensor, bits }];
  const half = rows / 2;
  return ['gate_proj', 'up_proj'].map((part, which) => ({
    name: `${stack}.${part}.weight`,
    shape: [experts, half, columns],
    tensor,
    from: (row: number) => Math.floor(row / half) * rows + which * half + (row % half),
    bits,
  }));
}

/** Bytes of a tensor in the file: codes, and a scale and a bias a group. */
export function plannedBytes({ tensor, shape, bits }: Planned, group: number): number {
  const wide = storedType(tensor) === 'F32' ? 4 : 2;
  const values = shape.reduce((product, size) => product * size, 1);
  return bits === null ? values * wide : (values * bits) / 8 + (values / group) * 2 * wide;
}

export const sizeOf = (plan: readonly Planned[], group: number): number =>
  plan.reduce((sum, planned) => sum + plannedBytes(planned, group), 0);

export function checkForm(bits: number, group: number): void {
  if (!BITS.some((allowed) => allowed === bits))
    throw new LonghandError('bad-request', `[--bits] got ${bits}, expected one of ${BITS.join(', ')}`);
  if (!GROUPS.some((allowed) => allowed === group))
    throw new LonghandError('bad-request', `[--group] got ${group}, expected one of ${GROUPS.join(', ')}`);
}
