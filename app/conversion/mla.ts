import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Addon from '../../native/addon/index.d.ts';
import type { TensorEntry, WeightSource } from '../../native/addon/index.d.ts';
import { LonghandError } from '../protocol/index.ts';
import { copyCompanions } from './companions.ts';
import { dimsOf, type Heads, type Pairs, type Rope } from './partial-rope.ts';
import { columnsOf, isPlain, rowsOf } from './plan.ts';
import {
  bytesOf,
  createSafetensors,
  type Entry,
  encoded,
  type SafetensorsFile,
  type StoredType,
} from './safetensors-file.ts';
import { stretchesOf } from './stretches.ts';

//  MHA2MLA (arXiv 2502.14837): every head retains a few rotary pairs; the other dims of the keys, and all of the values,
//  are computed from one low-rank latent vector per token.

export type Svd = 'split' | 'joint' | 'whitened' | 'regression';
export type Layout = 'published' | 'new';

/** What the headers of the result follow from. */
export type MlaShape = {
  tensors: readonly TensorEntry[];
  config: Record<string, unknown>;
  heads: Heads;
  rope: Rope;
  /** [layers, key-value heads, pairs] */
  pairs: Pairs;
  svd: Svd;
  /** Rank per key-value head, of each layer. Only the new layout can hold different ones. */
  ranks: readonly number[];
  layout: Layout;
};

export type MlaRequest = MlaShape & {
  lowRank: typeof Addon.lowRank;
  source: WeightSource;
  folder: string;
  /** Covariance of the attention inputs by layer, if `svd` is whitened. */
  covariance: ReadonlyMap<number, Float64Array>;
  /** Fits the layers one after the other, if `svd` is regression. */
  recovery: Recovery | null;
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
};

/** A layer that was fitted to the original. fp32 by rows: down [latent, hidden], upK [kv * (dim - retained), latent],
 *  upV [kv * dim, latent], o as o_proj. */
export type Fitted = { down: Float32Array; upK: Float32Array; upV: Float32Array; o: Float32Array; error: number };
/** Fits the next layer, of which `latent` values a token are kept. */
export type Recovery = (layer: number, latent: number) => Promise<Fitted>;

/** Relative Frobenius error of the factorisation of one layer. */
export type LayerError = { layer: number; k?: number; v?: number; joint?: number };

type Names = { rope: string; down: string; downK: string; downV: string; upK: string; upV: string };
const NAMES: Record<Layout, Names> = {
  published: {
    rope: 'W_k_r',
    down: 'W_down_k',
    downK: 'W_down_k',
    downV: 'W_down_v',
    upK: 'W_up_k',
    upV: 'W_up_v',
  },
  new: {
    rope: 'k_r_proj',
    down: 'kv_proj.down_kv',
    downK: 'kv_proj.down_k',
    downV: 'kv_proj.down_v',
    upK: 'kv_proj.up_k',
    upV: 'kv_proj.up_v',
  },
};

const CHANGED = /^model\.layers\.(\d+)\.self_attn\.([qkv])_proj\.weight$/;
const OUTPUT = /\.self_attn\.o_proj\.weight$/;
const at = (layer: number, name: string) => `model.layers.${layer}.self_attn.${name}.weight`;

/** The tensors and the configuration of the result. */
export function mlaHeaders(shape: MlaShape): { entries: Entry[]; config: Record<string, unknown> } {
  const entries = shape.tensors.filter(isPlain).flatMap((tensor) => {
    const changed = CHANGED.exec(tensor.name);
    if (changed === null) return [{ name: tensor.name, type: tensor.type as StoredType, shape: tensor.shape }];
    // The new tensors of a layer replace the first of its three matrices.
    return changed[2] === 'q' ? entriesOf(Number(changed[1]), tensor, shape) : [];
  });
  return { entries, config: configOf(shape) };
}

export async function writeMla(part: string, request: MlaRequest): Promise<LayerError[]> {
  const { tensors, pairs } = request;
  const { entries, config } = mlaHeaders(request);
  await mkdir(part);
  const file = await createSafetensors(join(part, 'model.safetensors'), entries, 'pt');
  const errors: LayerError[] = [];
  const written = (name: string) => CHANGED.test(name) || (request.recovery !== null && OUTPUT.test(name));
  try {
    for (const [layer] of pairs.entries()) {
      request.signal.throwIfAborted();
      errors.push(await writeLayer(file, layer, entries, request));
      request.progress(layer + 1, pairs.length + 1);
    }
    for (const tensor of tensors.filter(isPlain)) if (!written(tensor.name)) await copy(file, tensor, request);
  } finally {
    await file.close();
  }
  await copyCompanions(request.folder, part);
  await writeFile(join(part, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  return errors;
}

function entriesOf(layer: number, q: TensorEntry, { heads, ranks, svd, layout, pairs }: MlaShape): Entry[] {
  const names = NAMES[layout];
  const type = q.type as StoredType;
  const hidden = columnsOf(q);
  const retained = 2 * (pairs[layer]?.[0]?.length ?? 0);
  const latent = (ranks[layer] ?? 0) * heads.kv;
  const entry = (name: string, ...shape: number[]): Entry => ({ name: at(layer, name), type, shape });
  return [
    entry('q_proj', rowsOf(q), hidden),
    entry(names.rope, heads.kv * retained, hidden),
    ...(svd === 'split'
      ? [entry(names.downK, latent, hidden), entry(names.downV, latent, hidden)]
      : [entry(names.down, latent, hidden)]),
    entry(names.upK, heads.kv * (heads.dim - retained), latent),
    entry(names.upV, heads.kv * heads.dim, latent),
  ];
}

async function writeLayer(
  file: SafetensorsFile,
  layer: number,
  entries: readonly Entry[],
  request: MlaRequest,
): Promise<LayerError> {
  const { source, heads, svd, ranks, layout, pairs, recovery } = request;
  const names = NAMES[layout];
  const dims = dimsOf(pairs[layer] ?? [], heads);
  const put = async (name: string, values: Float32Array) => {
    const entry = entries.find((one) => one.name === at(layer, name));
    if (entry === undefined) throw new LonghandError('internal', `[convert] ${at(layer, name)} was not announced`);
    await file.put(entry.name, encoded(values, entry.type), 0);
  };
  const rows = async (which: 'q' | 'k' | 'v', order: number[]) =>
    source.read(at(layer, `${which}_proj`), { count: order.length, rows: Int32Array.from(order) });

  const queries = Array.from({ length: heads.query }, (_, head) => dims[Math.floor((head * heads.kv) / heads.query)]);
  const inOrder = (part: 'retained' | 'rest', of: typeof queries) =>
    of.flatMap((own, head) => (own?.[part] ?? []).map((dim) => head * heads.dim + dim));
  const straight = Array.from({ length: heads.query * heads.dim }, (_, i) => i);
  await put(
    'q_proj',
    await rows('q', layout === 'new' ? [...inOrder('retained', queries), ...inOrder('rest', queries)] : straight),
  );
  await put(names.rope, await rows('k', inOrder('retained', dims)));
  const latent = (ranks[layer] ?? 0) * heads.kv;
  if (recovery) {
    const { down, upK, upV, o, error } = await recovery(layer, latent);
    await put(names.down, down);
    await put(names.upK, upK);
    await put(names.upV, upV);
    await put('o_proj', o);
    return { layer, joint: error };
  }

  const nope = await rows('k', inOrder('rest', dims));
  const values = await source.read(at(layer, 'v_proj'));
  const hidden = values.length / (heads.kv * heads.dim);
  const factored = (matrix: Float64Array) => {
    const covariance = request.covariance.get(layer);
    return request.lowRank(matrix, {
      rows: matrix.length / hidden,
      columns: hidden,
      rank: latent,
      ...(svd === 'whitened' && covariance !== undefined ? { covariance } : {}),
    });
  };
  if (svd === 'split') {
    const k = await factored(Float64Array.from(nope));
    const v = await factored(Float64Array.from(values));
    await put(names.downK, k.down);
    await put(names.downV, v.down);
    await put(names.upK, k.up);
    await put(names.upV, v.up);
    return { layer, k: k.error, v: v.error };
  }
  const both = new Float64Array(nope.length + values.length);
  both.set(nope);
  both.set(values, nope.length);
  const joint = await factored(both);
  const cut = (nope.length / hidden) * latent;
  await put(names.down, joint.down);
  await put(names.upK, joint.up.subarray(0, cut));
  await put(names.upV, joint.up.subarray(cut));
  return { layer, joint: joint.error };
}

async function copy(file: SafetensorsFile, tensor: TensorEntry, { source, signal }: MlaRequest): Promise<void> {
  const row = bytesOf({ type: tensor.type as StoredType, shape: tensor.shape }) / rowsOf(tensor);
  for (const stretch of stretchesOf(tensor)) {
    signal.throwIfAborted();
    const values = await source.blocks(tensor.name, { ...stretch, type: tensor.type as 'F32' | 'F16' | 'BF16' });
    await file.put(tensor.name, values, row * stretch.first);
  }
}

const VERSIONS: Record<Rope, number> = { high: 1, uniform: 2, '2-norm': 4, low: 5 };

/** The configuration keys of the published checkpoints. The `2-norm` selection is not in the weights, so it is stored here, and so
 *  are ranks that differ from layer to layer. */
export function configOf({
  config,
  rope,
  pairs,
  svd,
  ranks,
  layout,
  heads,
}: Omit<MlaShape, 'tensors'>): Record<string, unknown> {
  const retained = pairs[0]?.[0]?.length ?? 0;
  const rank = Math.max(...ranks);
  const uniform = ranks.every((one) => one === rank);
  return {
    ...config,
    ...(layout === 'new'
      ? {
          mla: {
            layout: 'new',
            partial_rope: rope,
            rope_dim: 2 * retained,
            svd: svd === 'split' ? 'split' : 'joint',
            low_rank: rank,
            ...(uniform ? {} : { layer_low_ranks: ranks }),
          },
        }
      : {}),
    RoPE: {
      partial_rope_version: VERSIONS[rope],
      top_k_rope_dim: retained,
      last_k_rope_dim: 0,
      uniform_start_point: 0,
      uniform_step: rope === 'uniform' ? heads.dim / (2 * retained) : 1,
      qk_tensor_path: null,
      n_gqa_group: heads.query / heads.kv,
      ...(rope === '2-norm' ? { kept_pairs: pairs } : {}),
    },
    SVD: { method: svd === 'split' ? 2 : 7, low_rank: rank },
  };
}
