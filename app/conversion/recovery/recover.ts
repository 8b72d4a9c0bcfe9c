import type * as Addon from '../../../native/addon/index.d.ts';
import type { Fitted, Recovery } from '../mla.ts';
import { type Dims, dimsOf, type Heads, type Pairs } from '../partial-rope.ts';
import { backwards, covarianceOf, damped, regressed, timesTransposed } from './matrices.ts';
import { type Block, outputMetric } from './metric.ts';
import { type LayerTensors, statesBehind } from './one-layer.ts';

//  Layer by layer two streams of states are computed on a text: those of the original model, and those of the model as converted so
//  far. Each layer is fitted to what the original computes from its states, given the states that the converted model has: so later
//  layers correct for what earlier ones lost.
//
//    keys and values   reduced-rank regression (Izenman 1975), errors weighed by their effect on the output of attention
//    o_proj            ridge regression on the outputs of the converted attention

/** Relative to the mean of the diagonal of a covariance: how far a regression is held to the weights that are there. */
const RIDGE = 0.05;
/** Directions that the text does not use still count a little. */
const DAMPING = 1e-3;
/** An MLP of zeros, so that the states behind a layer are those behind its attention. */
const NO_MLP = 32;

export type Recovering = {
  addon: typeof Addon;
  source: Addon.WeightSource;
  config: Readonly<Record<string, unknown>>;
  heads: Heads;
  /** The text, in windows. */
  windows: readonly Int32Array[];
  /** [layers, key-value heads, pairs] */
  pairs: Pairs;
  /** For models of one layer, made and removed. */
  folder: string;
  signal: AbortSignal;
  /** The configuration of a converted layer alone, in the published layout. */
  configOf: (layer: number) => Record<string, unknown>;
};

type Weights = { q: Float32Array; k: Float32Array; v: Float32Array; o: Float32Array; all: LayerTensors };
type Streams = { original: Float32Array; converted: Float32Array };

/** Fits layers, which have to be asked for in order. */
export function recoveryOf(asked: Recovering): Recovery {
  let streams: Streams | null = null;
  return async (layer, latent) => {
    streams ??= await embedded(asked);
    const dims = dimsOf(asked.pairs[layer] ?? [], asked.heads);
    const weights = await weightsOf(asked.source, layer);
    const gain = weights.all.get('input_layernorm.weight')?.values ?? new Float32Array();
    const eps = Number(asked.config.rms_norm_eps);
    const [wanted, given] = [normalised(streams.original, gain, eps), normalised(streams.converted, gain, eps)];
    const factors = await factorised(asked, weights, dims, { wanted, given, same: layer === 0 }, latent);
    const tensors = convertedTensors(weights, dims, factors, latent, asked.heads, gain.length);
    const fitted = await withOutput(asked, layer, weights, tensors, streams);
    streams = {
      original: await behind(asked, asked.config, weights.all, streams.original),
      converted: await behind(asked, asked.configOf(layer), fitted.tensors, streams.converted),
    };
    return { ...factors, o: fitted.o };
  };
}

async function embedded({ source, windows }: Recovering): Promise<Streams> {
  const ids = Int32Array.from(windows.flatMap((window) => [...window]));
  const states = await source.read('model.embed_tokens.weight', { count: ids.length, rows: ids });
  return { original: states, converted: states };
}

const MATRICES = [
  'input_layernorm',
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'post_attention_layernorm',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
];

async function weightsOf(source: Addon.WeightSource, layer: number): Promise<Weights> {
  const all = new Map<string, { shape: readonly number[]; values: Float32Array }>();
  const norm = await source.read(`model.layers.${layer}.input_layernorm.weight`);
  const hidden = norm.length;
  for (const name of MATRICES) {
    const values = await source.read(`model.layers.${layer}.${name}.weight`);
    const outer = name.endsWith('down_proj') || name.endsWith('o_proj');
    const shape = name.endsWith('norm')
      ? [hidden]
      : outer
        ? [hidden, values.length / hidden]
        : [values.length / hidden, hidden];
    all.set(`${name}.weight`, { shape, values });
  }
  const of = (name: string) => all.get(`self_attn.${name}_proj.weight`)?.values ?? new Float32Array();
  return { q: of('q'), k: of('k'), v: of('v'), o: of('o'), all };
}

/** RMSNorm of [tokens, hidden]. */
function normalised(states: Float32Array, gain: Float32Array, eps: number): Float32Array {
  const hidden = gain.length;
  const out = new Float32Array(states.length);
  for (let at = 0; at < states.length; at += hidden) {
    let squares = 0;
    for (let i = 0; i < hidden; i++) squares += (states[at + i] as number) ** 2;
    const scale = 1 / Math.sqrt(squares / hidden + eps);
    for (let i = 0; i < hidden; i++) out[at + i] = (states[at + i] as number) * scale * (gain[i] as number);
  }
  return out;
}

/** The keys that lose their positions, and the values, of a layer: [kv * (dim - retained) + kv * dim, hidden]. */
function stackedRows(
  k: Float32Array,
  v: Float32Array,
  dims: readonly Dims[],
  { dim }: Heads,
  hidden: number,
): Float32Array {
  const rest = dims.flatMap((own, head) => own.rest.map((at) => head * dim + at));
  return Float32Array.from([...rest.flatMap((row) => [...k.subarray(row * hidden, (row + 1) * hidden)]), ...v]);
}

/** What each direction of the latent vector of a layer would carry to the output of attention, largest first; `covariance` of the
 *  inputs of the original. */
export async function energiesOf(
  { addon, source, heads, pairs }: Pick<Recovering, 'addon' | 'source' | 'heads' | 'pairs'>,
  layer: number,
  covariance: Float64Array,
): Promise<Float64Array> {
  const dims = dimsOf(pairs[layer] ?? [], heads);
  const read = (name: string) => source.read(`model.layers.${layer}.self_attn.${name}_proj.weight`);
  const weights = { q: await read('q'), v: await read('v'), o: await read('o') };
  const hidden = Math.sqrt(covariance.length);
  const stacked = Float64Array.from(stackedRows(await read('k'), weights.v, dims, heads, hidden));
  const { energies } = await addon.lowRank(weighed(stacked, outputMetric(weights, covariance, dims, heads), hidden), {
    rows: stacked.length / hidden,
    columns: hidden,
    rank: 1,
    covariance,
  });
  return energies;
}

type Inputs = { wanted: Float32Array; given: Float32Array; same: boolean };

/** Reduced-rank regression of the keys without positions and the values of the original on the inputs of the converted layer. */
async function factorised(
  { addon, heads }: Recovering,
  { q, k, v, o }: Weights,
  dims: readonly Dims[],
  { wanted, given, same }: Inputs,
  latent: number,
): Promise<Omit<Fitted, 'o'>> {
  const hidden = k.length / (heads.kv * heads.dim);
  const stacked = stackedRows(k, v, dims, heads, hidden);
  const covariance = covarianceOf(given, hidden);
  const missing = same
    ? null
    : timesTransposed(
        wanted.map((value, i) => value - (given[i] as number)),
        stacked,
        hidden,
      );
  const target = missing ? regressed(stacked, missing, given, covariance, RIDGE) : Float64Array.from(stacked);
  const blocks = outputMetric({ q, v, o }, covariance, dims, heads);
  const found = await addon.lowRank(weighed(target, blocks, hidden), {
    rows: target.length / hidden,
    columns: hidden,
    rank: latent,
    covariance: damped(covariance, hidden, DAMPING),
  });
  const up = unweighed(found.up, blocks, latent);
  const cut = ((stacked.length - v.length) / hidden) * latent;
  return { down: found.down, upK: up.slice(0, cut), upV: up.slice(cut), error: found.error };
}

/** L^T times the rows of each block, [rows, columns]. */
function weighed(matrix: Float64Array, blocks: readonly Block[], columns: number): Float64Array {
  const out = new Float64Array(matrix.length);
  let first = 0;
  for (const { size, lower } of blocks) {
    for (let i = 0; i < size; i++) {
      for (let k = i; k < size; k++) {
        const factor = lower[k * size + i] as number;
        const [to, from] = [(first + i) * columns, (first + k) * columns];
        for (let j = 0; j < columns; j++) (out[to + j] as number) += factor * (matrix[from + j] as number);
      }
    }
    first += size;
  }
  return out;
}

/** The opposite: L^-T times the rows of each block. */
function unweighed(matrix: Float32Array, blocks: readonly Block[], columns: number): Float32Array {
  const out = new Float32Array(matrix.length);
  let first = 0;
  for (const { size, lower } of blocks) {
    for (let j = 0; j < columns; j++) {
      const x = Float64Array.from({ length: size }, (_, i) => matrix[(first + i) * columns + j] as number);
      backwards(lower, x, size);
      for (let i = 0; i < size; i++) out[(first + i) * columns + j] = x[i] as number;
    }
    first += size;
  }
  return out;
}

function convertedTensors(
  { k, all }: Weights,
  dims: readonly Dims[],
  { down, upK, upV }: Omit<Fitted, 'o'>,
  latent: number,
  heads: Heads,
  hidden: number,
): Map<string, { shape: readonly number[]; values: Float32Array }> {
  const retained = dims.flatMap((own, head) => own.retained.map((dim) => head * heads.dim + dim));
  const rope = Float32Array.from(retained.flatMap((row) => [...k.subarray(row * hidden, (row + 1) * hidden)]));
  const tensors = new Map(all);
  tensors.delete('self_attn.k_proj.weight');
  tensors.delete('self_attn.v_proj.weight');
  const put = (name: string, values: Float32Array, columns: number) =>
    tensors.set(`self_attn.${name}.weight`, { shape: [values.length / columns, columns], values });
  put('W_k_r', rope, hidden);
  put('W_down_k', down, hidden);
  put('W_up_k', upK, latent);
  put('W_up_v', upV, latent);
  return tensors;
}

/** o_proj such that the states behind the converted attention are those behind the original one, as nearly as may be. */
async function withOutput(
  asked: Recovering,
  layer: number,
  { o, all }: Weights,
  tensors: Map<string, { shape: readonly number[]; values: Float32Array }>,
  { original, converted }: Streams,
): Promise<{ o: Float32Array; tensors: LayerTensors }> {
  const { query, dim } = asked.heads;
  const columns = query * dim;
  const hidden = o.length / columns;
  const wanted = await behindAttention(asked, asked.config, all, original);
  const inputs = await attended(asked, layer, tensors, converted, columns);
  const made = await behindAttention(asked, asked.configOf(layer), tensors, converted);
  const missing = wanted.map((value, i) => value - (made[i] as number));
  const fitted = Float32Array.from(regressed(o, missing, inputs, covarianceOf(inputs, columns), RIDGE));
  const whole = new Map(tensors).set('self_attn.o_proj.weight', { shape: [hidden, columns], values: fitted });
  return { o: fitted, tensors: whole };
}

/** What goes into o_proj, [tokens, columns]: read behind one that copies, as many columns at a time as there are states. */
async function attended(
  asked: Recovering,
  layer: number,
  tensors: LayerTensors,
  states: Float32Array,
  columns: number,
): Promise<Float32Array> {
  const tokens = asked.windows.reduce((sum, { length }) => sum + length, 0);
  const hidden = states.length / tokens;
  const out = new Float32Array(tokens * columns);
  for (let first = 0; first < columns; first += hidden) {
    const count = Math.min(hidden, columns - first);
    const values = new Float32Array(hidden * columns);
    for (let i = 0; i < count; i++) values[i * columns + first + i] = 1;
    const copying = new Map(tensors).set('self_attn.o_proj.weight', { shape: [hidden, columns], values });
    const found = await behindAttention(asked, asked.configOf(layer), copying, states);
    for (let token = 0; token < tokens; token++)
      for (let i = 0; i < count; i++)
        out[token * columns + first + i] =
          (found[token * hidden + i] as number) - (states[token * hidden + i] as number);
  }
  return out;
}

const behind = (
  { addon, folder, windows, signal }: Recovering,
  config: Record<string, unknown>,
  tensors: LayerTensors,
  states: Float32Array,
): Promise<Float32Array> =>
  statesBehind({ addon, folder, config, tensors, signal, lengths: windows.map(({ length }) => length) }, states);

function behindAttention(
  asked: Recovering,
  config: Record<string, unknown>,
  tensors: LayerTensors,
  states: Float32Array,
): Promise<Float32Array> {
  const hidden = tensors.get('input_layernorm.weight')?.values.length ?? 0;
  const zeros = new Map(tensors);
  for (const name of ['gate', 'up', 'down']) {
    const shape = name === 'down' ? [hidden, NO_MLP] : [NO_MLP, hidden];
    zeros.set(`mlp.${name}_proj.weight`, { shape, values: new Float32Array(NO_MLP * hidden) });
  }
  return behind(asked, { ...config, intermediate_size: NO_MLP }, zeros, states);
}
