import { join } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import type { Model, WeightSource } from '../../../native/addon/index.d.ts';
import { textIfAny } from '../../engine/process/model/tokenizer-files.ts';
import {
  type LatentForm,
  type LatentPlan,
  type LatentSize,
  LonghandError,
  readsText,
  whyNotLatent,
} from '../../protocol/index.ts';
import { configOf, type LayerError, type Layout, type MlaShape, mlaHeaders, writeMla } from '../mla.ts';
import { checkRoom, whole } from '../output.ts';
import { fixedPairs, type Heads, type Pairs, strongestPairs } from '../partial-rope.ts';
import { isPlain } from '../plan.ts';
import { damped } from '../recovery/matrices.ts';
import { allocateRanks } from '../recovery/ranks.ts';
import { energiesOf, recoveryOf } from '../recovery/recover.ts';
import { type Calibration, readObserved } from './calibration.ts';
import type { Described, Origin } from './origin.ts';
import { type Card, qualityOf, writeCard } from './quality-card.ts';
import type { Workshop } from './workshop.ts';

/** Directions the text did not use still get a small weight. */
const DAMPING = 1e-3;

/** What was asked for. */
export type AskedLatent = Origin & {
  out: string;
  /** The path in its card. */
  known: string;
  form: LatentForm;
  layout: Layout;
  /** A rank of its own for each layer, within the memory of the same rank for all: for `regression` in the new layout. */
  byLayer: boolean;
  calibration: Calibration | undefined;
  measures: boolean;
};

const NOT: Record<NonNullable<ReturnType<typeof whyNotLatent>>, (described: Described) => string> = {
  'latent-already': () => 'got a model with latent attention, expected one that has not been converted yet',
  'latent-family': ({ family }) => `got a model of the family ${family}, expected a Llama-family model (Llama, SmolLM)`,
  'latent-file': () => 'got a .gguf file, expected a folder with safetensors',
  'latent-rounded': ({ tensors }) => {
    const rounded = tensors.find((tensor) => !isPlain(tensor) && tensor.name.endsWith('weight'));
    return `"${rounded?.name}" is ${rounded?.type}; expected F32, F16 or BF16: convert first, then quantise`;
  },
};

/** The attention heads of a model that can be converted. @throws LonghandError `model-unsupported` */
export function headsOf(described: Described): Heads {
  const reason = whyNotLatent(described);
  if (reason)
    throw new LonghandError('model-unsupported', `[convert] ${NOT[reason](described)}`, { details: { reason } });
  const { tensors, config } = described;
  const of = (name: string) => tensors.find((tensor) => tensor.name === `model.layers.0.self_attn.${name}_proj.weight`);
  const [q, k] = [of('q'), of('k')];
  if (q === undefined || k === undefined || tensors.some(({ name }) => name.endsWith('self_attn.k_proj.bias'))) {
    throw new LonghandError('model-unsupported', '[convert] its projections have biases, which cannot be converted', {
      details: { reason: 'latent-family' },
    });
  }
  const query = Number((config as Record<string, unknown>).num_attention_heads);
  const dim = (q.shape[0] ?? 0) / query;
  return { query, dim, kv: (k.shape[0] ?? 0) / dim };
}

/** Targets, as shares of what the model keeps of a token now. */
const SHARES = [1 / 2, 3 / 8, 1 / 4, 3 / 16, 1 / 8];

/** What a conversion can come to: by the engine's plan for the headers of each. */
export async function latentSizesOf(
  addon: typeof Addon,
  { source, described }: Origin,
): Promise<Omit<LatentPlan, 'modelId' | 'free'>> {
  const heads = headsOf(described);
  const half = heads.dim / 2;
  const counts = Array.from({ length: 8 }, (_, power) => 2 ** power).filter(
    (pairs) => pairs < half && half % pairs === 0,
  );
  const shapes = counts.flatMap((pairs) =>
    [false, true].flatMap((split) => {
      const ranks = SHARES.map((share) => Math.floor((2 * share * heads.dim - 2 * pairs) / (split ? 2 : 1)));
      return [...new Set(ranks)].filter((rank) => rank > 0).map((rank) => ({ pairs, rank, split }));
    }),
  );
  const sizes = shapes.map(({ split, ...shape }) =>
    latentSizeOf(addon, described, { ...shape, svd: split ? 'split' : 'joint' }),
  );
  return {
    reads: (await textIfAny(addon, source)) !== null,
    allPairs: half,
    contextBytesPerToken: described.contextBytesPerToken,
    sizes: sizes.filter(({ contextBytesPerToken }) => contextBytesPerToken < described.contextBytesPerToken),
  };
}

/** What the headers of a result come to, by the engine's plan. */
export function latentSizeOf(
  addon: typeof Addon,
  described: Described,
  { pairs, rank, svd }: Pick<LatentForm, 'pairs' | 'rank' | 'svd'>,
): LatentSize {
  const heads = headsOf(described);
  const { entries, config } = mlaHeaders({
    ...shapeOf(described, heads),
    // Which pairs are kept changes no size.
    rope: 'high',
    pairs: fixedPairs('high', pairs, heads, described.layers.length),
    svd,
    ranks: described.layers.map(() => rank),
    layout: 'published',
  });
  const tensors = entries.map(({ name, type, shape }) => ({ name, type, shape: [...shape] }));
  const { weightBytes, activeBytes, contextBytesPerToken, memory } = addon.describe(
    JSON.stringify(config),
    tensors,
    'safetensors',
  );
  return { pairs, rank, split: svd === 'split', weightBytes, activeBytes, contextBytesPerToken, memory };
}

const shapeOf = ({ tensors, config }: Described, heads: Heads): Pick<MlaShape, 'tensors' | 'config' | 'heads'> => ({
  tensors,
  config: config as Record<string, unknown>,
  heads,
});

/** @throws LonghandError `bad-request` */
export function checkLatent({ dim, kv }: Heads, { pairs, rank, svd }: LatentForm): void {
  const half = dim / 2;
  if (pairs < 1 || pairs > half)
    throw new LonghandError('bad-request', `[--pairs] got ${pairs}, expected 1 to ${half} for heads of ${dim}`);
  const most = svd === 'split' ? dim : 2 * (dim - pairs);
  if (rank < 1 || rank > most) {
    throw new LonghandError(
      'bad-request',
      `[--rank] got ${rank}, expected 1 to ${most} per head: ${kv} heads with ${pairs} pairs have no more`,
    );
  }
}

/** Converts, evaluates, and moves the result into place. */
export async function convert(workshop: Workshop, asked: AskedLatent): Promise<Card> {
  const { addon, signal } = workshop;
  const { source, described, out, form } = asked;
  const began = Date.now();
  const heads = headsOf(described);
  checkLatent(heads, form);
  await checkRoom(out, latentSizeOf(addon, described, form).weightBytes);
  const bar = workshop.progress('converting');
  try {
    const found = await observed(workshop, asked, heads);
    return await whole(out, async (part) => {
      const weights = await addon.openWeights(source);
      const errors = await written(workshop, asked, heads, found, { part, weights, show: bar.show }).finally(() =>
        weights.close(),
      );
      bar.end();
      const seconds = (Date.now() - began) / 1000;
      const quality = asked.measures ? await qualityOf(workshop, source, part) : { skipped: '--skip-quality' };
      const made = await addon.inspect(part);
      return await writeCard(workshop, part, {
        made_from: source,
        out: asked.known,
        method: `MHA2MLA ${form.rope} ${form.pairs} pairs, ${form.svd} rank ${form.rank}`,
        format: 'safetensors',
        source_bytes: described.weightBytes,
        cache_bytes_per_token: made.contextBytesPerToken,
        source_cache_bytes_per_token: described.contextBytesPerToken,
        seconds,
        calibration: found.calibration,
        relative_error: Math.sqrt(
          meanSquare(errors.flatMap(({ k, v, joint }) => [k, v, joint].filter((one) => one !== undefined))),
        ),
        factorisation_error: errors,
        left_out: described.tensors.filter((tensor) => !isPlain(tensor)).map(({ name }) => name),
        quality,
      });
    });
  } catch (error) {
    if (signal.aborted) throw new LonghandError('cancelled', '[convert] cancelled; nothing was kept');
    throw error;
  } finally {
    bar.end();
  }
}

type Place = { part: string; weights: WeightSource; show: (done: number, total: number) => void };

/** Writes the weights and the configuration. */
async function written(
  workshop: Workshop,
  asked: AskedLatent,
  heads: Heads,
  found: Observed,
  { part, weights: source, show }: Place,
): Promise<LayerError[]> {
  const { addon, signal } = workshop;
  const { described, folder, form, layout } = asked;
  const { pairs, windows, covariance } = found;
  const ranks = await ranksOf(workshop, asked, heads, found, source);
  const shape = { ...shapeOf(described, heads), ...form, pairs, ranks, layout };
  const config = shape.config;
  const one = (layer: number) => ({ pairs: pairs.slice(layer, layer + 1), ranks: ranks.slice(layer, layer + 1) });
  const recovery =
    windows &&
    recoveryOf({
      ...{ addon, source, config, heads, pairs, windows, signal },
      folder: join(part, 'layer'),
      configOf: (layer) => configOf({ ...shape, ...one(layer), layout: 'published' }),
    });
  return writeMla(part, {
    ...{ ...shape, lowRank: addon.lowRank, source, folder, covariance, recovery, signal, progress: show },
  });
}

const meanSquare = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length);

type Observed = {
  pairs: Pairs;
  covariance: Map<number, Float64Array>;
  /** What layers are fitted on, if they are. */
  windows: Int32Array[] | null;
  /** Energies of the states behind each layer, if ranks follow from them. */
  stateEnergies: number[] | null;
  calibration: string | null;
};

/** The pairs to keep and, for whitening, covariances of the attention inputs: both may need a run of the model over a text. */
async function observed(
  workshop: Workshop,
  { source, described, form, byLayer, calibration: given }: AskedLatent,
  heads: Heads,
): Promise<Observed> {
  const { rope, pairs: count, svd } = form;
  const layers = described.layers.length;
  const fixed = rope === '2-norm' ? null : fixedPairs(rope, count, heads, layers);
  const covariance = new Map<number, Float64Array>();
  if (fixed && !readsText(form))
    return { pairs: fixed, covariance, windows: null, stateEnergies: null, calibration: null };
  const weighs = svd === 'whitened' || byLayer;
  const { model, windows, calibration } = await readObserved(workshop, source, given, {
    ...(weighs ? { covarianceOf: 'self_attn.k_proj.weight' } : {}),
    ...(fixed ? {} : { pairsOf: heads.dim }),
  });
  try {
    const strongest: Pairs = [];
    const stateEnergies = byLayer ? await energiesOfStates(model, windows[0] ?? new Int32Array(), layers) : null;
    for (let layer = 0; layer < layers; layer++) {
      const [own] = await model.observed(`model.layers.${layer}.self_attn.k_proj.weight`);
      if (own === undefined) throw new LonghandError('internal', `[convert] layer ${layer} was not seen`);
      if (!fixed) strongest.push(strongestPairs(own.pairs, count, heads));
      if (weighs) covariance.set(layer, damped(own.covariance, Math.sqrt(own.covariance.length), DAMPING));
    }
    const read = svd === 'regression' ? windows : null;
    return { pairs: fixed ?? strongest, covariance, windows: read, stateEnergies, calibration };
  } finally {
    model.close();
  }
}

/** Behind each layer, the median over tokens: single tokens have states that are hundreds of times larger. */
async function energiesOfStates(model: Model, window: Int32Array, layers: number): Promise<number[]> {
  const session = model.createSession({ path: 'exact' });
  const traced = await session.trace(window, { path: 'exact' });
  return traced.slice(1, layers + 1).map(({ data, rows, columns }) => {
    const energies = Array.from({ length: rows }, (_, row) =>
      data.subarray(row * columns, (row + 1) * columns).reduce((sum, one) => sum + one * one, 0),
    );
    return energies.toSorted((a, b) => a - b)[Math.floor(rows / 2)] ?? 1;
  });
}

/** Of each layer: the same for all, or what should lose the least within the same memory. */
async function ranksOf(
  { addon }: Workshop,
  { form, described }: AskedLatent,
  heads: Heads,
  { pairs, covariance, stateEnergies }: Observed,
  source: WeightSource,
): Promise<number[]> {
  if (!stateEnergies) return described.layers.map(() => form.rank);
  const energies: Float64Array[] = [];
  for (const [layer, own] of covariance) {
    const found = await energiesOf({ addon, source, heads, pairs }, layer, own);
    energies.push(found.map((one) => one / (stateEnergies[layer] || 1)));
  }
  return allocateRanks(energies, form.rank, heads.kv);
}
