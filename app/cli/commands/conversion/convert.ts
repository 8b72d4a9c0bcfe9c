import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { TensorEntry } from '../../../../native/addon/index.d.ts';
import { observe } from '../../../conversion/making/calibration.ts';
import { type Card, qualityOf, writeCard } from '../../../conversion/making/quality-card.ts';
import { type Layout, type Svd, writeMla } from '../../../conversion/mla.ts';
import { checkFree, whole } from '../../../conversion/output.ts';
import { fixedPairs, type Heads, type Pairs, type Rope, strongestPairs } from '../../../conversion/partial-rope.ts';
import { isPlain } from '../../../conversion/plan.ts';
import { LonghandError } from '../../../protocol/index.ts';
import { type Context, command, type Flags, UsageError, type Values } from '../../runtime/command.ts';
import { addonOf, modelPath } from '../../runtime/open-model.ts';
import { readCalibration } from './calibration.ts';
import { linesOf } from './card-lines.ts';
import { workshopOf } from './terminal-workshop.ts';

const FLAGS = {
  mla: { kind: 'yes', help: 'latent attention: one short vector replaces the keys and values of each token (MHA2MLA)' },
  model: { kind: 'text', value: 'PATH', help: 'safetensors folder of a Llama-family model, or "starter"' },
  out: { kind: 'text', value: 'PATH', help: 'folder to create; existing files are never overwritten' },
  rope: {
    kind: 'text',
    value: 'high|low|uniform|2-norm',
    oneOf: ['high', 'low', 'uniform', '2-norm'],
    help: 'rotary pairs to keep: fastest, slowest, evenly spaced, or those a text uses most (default: 2-norm)',
  },
  pairs: { kind: 'count', value: 'R', help: 'rotary pairs to keep per head' },
  svd: {
    kind: 'text',
    value: 'split|joint|whitened',
    oneOf: ['split', 'joint', 'whitened'],
    help: 'factorise keys and values separately, together, or together weighted by the activations of a text (default: joint)',
  },
  rank: { kind: 'count', value: 'K', help: 'length of the latent vector per key-value head' },
  layout: {
    kind: 'text',
    value: 'published|new',
    oneOf: ['published', 'new'],
    help: 'tensor names of the published checkpoints (default) or of newer code; Longhand loads both',
  },
  calibration: {
    kind: 'text',
    value: 'FILE',
    help: 'for 2-norm and whitened: a text, or JSON lists of token ids (default: the manual)',
  },
  'skip-quality': { kind: 'yes', help: 'do not measure the quality loss' },
} as const satisfies Flags;
type ConvertValues = Values<typeof FLAGS>;

export const convert = command({
  name: 'convert',
  summary: 'Convert a model to latent attention so its context takes less memory, and measure the quality loss.',
  usage: '--mla --model PATH --out PATH --rope high|low|uniform|2-norm --pairs R --svd split|joint|whitened --rank K',
  flags: FLAGS,
  async run(context, values) {
    const card = await convertToMla(context, values);
    context.terminal.out(context.json ? `${JSON.stringify(card)}\n` : `${linesOf(card).join('\n')}\n`);
    return 0;
  },
});

async function convertToMla(context: Context, values: ConvertValues): Promise<Card> {
  const { mla, model, pairs: count, rank, rope = '2-norm', svd = 'joint', layout = 'published' } = values;
  if (!mla) throw new UsageError('[convert] --mla is missing: it is the only conversion');
  if (model === undefined || values.out === undefined || count === undefined || rank === undefined)
    throw new UsageError('[convert] give --model PATH, --out PATH, --pairs R and --rank K');
  const path = modelPath(context, model);
  const out = resolve(context.places.here, values.out);
  checkFree(out);
  const addon = addonOf(context);
  const described = await addon.inspect(path);
  const config = described.config as Record<string, unknown>;
  const heads = headsOf(described.family, config, described.tensors);
  checkSizes(heads, count, rank, svd as Svd);
  const began = Date.now();
  const found = await measured(context, path, heads, described.layers.length, values);
  const pairs = found.pairs ?? fixedPairs(rope as Exclude<Rope, '2-norm'>, count, heads, described.layers.length);
  const folder = statSync(path).isFile() ? dirname(path) : path;
  const bar = context.terminal.progress('converting');
  try {
    return await whole(out, async (part) => {
      const source = await addon.openWeights(path);
      const errors = await writeMla(part, {
        lowRank: addon.lowRank,
        source,
        folder,
        tensors: described.tensors,
        config,
        heads,
        rope: rope as Rope,
        pairs,
        svd: svd as Svd,
        rank,
        layout: layout as Layout,
        covariance: found.covariance,
        signal: context.signal,
        progress: (done, total) => bar.show(done, total),
      }).finally(() => source.close());
      bar.end();
      const seconds = (Date.now() - began) / 1000;
      const quality = values['skip-quality']
        ? { skipped: '--skip-quality' }
        : await qualityOf(workshopOf(context), path, part);
      const cache = described.contextBytesPerToken;
      const made = await addon.inspect(part);
      return await writeCard(workshopOf(context), part, {
        made_from: path,
        out,
        method: `MHA2MLA ${rope} ${count} pairs, ${svd} rank ${rank}`,
        format: 'safetensors',
        source_bytes: described.weightBytes,
        cache_bytes_per_token: made.contextBytesPerToken,
        source_cache_bytes_per_token: cache,
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
    if (context.signal.aborted) throw new LonghandError('cancelled', '[convert] cancelled; nothing was kept');
    throw error;
  } finally {
    bar.end();
  }
}

const meanSquare = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length);

function headsOf(family: string, config: Record<string, unknown>, tensors: readonly TensorEntry[]): Heads {
  const fail = (why: string) => new LonghandError('model-unsupported', `[convert] ${why}`);
  if (family !== 'llama')
    throw fail(
      `got a model of the family ${family}, expected a Llama-family model (Llama, SmolLM) that has not been converted yet`,
    );
  const of = (name: string) => tensors.find((tensor) => tensor.name === `model.layers.0.self_attn.${name}_proj.weight`);
  const [q, k] = [of('q'), of('k')];
  if (q === undefined || k === undefined) throw fail('got a .gguf file, expected a folder with safetensors');
  const rounded = tensors.find((tensor) => !isPlain(tensor) && tensor.name.endsWith('.weight'));
  if (rounded !== undefined)
    throw fail(`"${rounded.name}" is ${rounded.type}; expected F32, F16 or BF16: convert first, then quantise`);
  if (tensors.some(({ name }) => name.endsWith('self_attn.k_proj.bias')))
    throw fail('its projections have biases, which cannot be converted');
  const query = Number(config.num_attention_heads);
  const dim = (q.shape[0] ?? 0) / query;
  return { query, dim, kv: (k.shape[0] ?? 0) / dim };
}

function checkSizes({ dim, kv }: Heads, pairs: number, rank: number, svd: Svd): void {
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

type Measured = { pairs: Pairs | null; covariance: Map<number, Float64Array>; calibration: string | null };

/** Statistics from running the model: norms of rotary pairs, covariances of attention inputs. */
async function measured(
  context: Context,
  path: string,
  heads: Heads,
  layers: number,
  { rope = '2-norm', svd, pairs: count = 0, calibration: file }: ConvertValues,
): Promise<Measured> {
  const covariance = new Map<number, Float64Array>();
  const norms = rope === '2-norm';
  if (!norms && svd !== 'whitened') {
    if (file !== undefined) throw new UsageError('[convert] --calibration goes with --rope 2-norm and --svd whitened');
    return { pairs: null, covariance, calibration: null };
  }
  const { seen, calibration } = await observe(
    workshopOf(context),
    path,
    file === undefined ? undefined : readCalibration(context, file),
    {
      ...(svd === 'whitened' ? { covarianceOf: 'self_attn.k_proj.weight' } : {}),
      ...(norms ? { pairsOf: heads.dim } : {}),
    },
  );
  const pairs: Pairs = [];
  for (let layer = 0; layer < layers; layer++) {
    const own = seen.find(({ names }) => names.includes(`model.layers.${layer}.self_attn.k_proj.weight`));
    if (own === undefined) throw new LonghandError('internal', `[convert] layer ${layer} was not seen`);
    if (norms) pairs.push(strongestPairs(own.pairs, count, heads));
    if (svd === 'whitened') covariance.set(layer, damped(own.covariance));
  }
  return { pairs: norms ? pairs : null, covariance, calibration };
}

/** Directions the text did not use still get a small weight. */
function damped(covariance: Float64Array): Float64Array {
  const size = Math.sqrt(covariance.length);
  let trace = 0;
  for (let i = 0; i < size; i++) trace += covariance[i * (size + 1)] ?? 0;
  for (let i = 0; i < size; i++) covariance[i * (size + 1)] = (covariance[i * (size + 1)] ?? 0) + (1e-3 * trace) / size;
  return covariance;
}
