import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { convert as makeLatent } from '../../../conversion/making/latent.ts';
import type { Card } from '../../../conversion/making/quality-card.ts';
import type { Layout } from '../../../conversion/mla.ts';
import { checkFree } from '../../../conversion/output.ts';
import { type LatentForm, readsText } from '../../../protocol/index.ts';
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
    value: 'split|joint|whitened|regression',
    oneOf: ['split', 'joint', 'whitened', 'regression'],
    help: 'factorise keys and values separately, together, together weighted by the activations of a text, or fit each layer on it to the original (default)',
  },
  rank: { kind: 'count', value: 'K', help: 'length of the latent vector per key-value head' },
  layout: {
    kind: 'text',
    value: 'published|new',
    oneOf: ['published', 'new'],
    help: 'tensor names of the published checkpoints (default) or of newer code; Longhand loads both',
  },
  'by-layer': {
    kind: 'yes',
    help: 'with --svd regression --layout new: a rank of its own for each layer, K on average',
  },
  calibration: {
    kind: 'text',
    value: 'FILE',
    help: 'for 2-norm, whitened and regression: a text, or JSON lists of token ids (default: the manual)',
  },
  'skip-quality': { kind: 'yes', help: 'do not measure the quality loss' },
} as const satisfies Flags;
type ConvertValues = Values<typeof FLAGS>;

export const convert = command({
  name: 'convert',
  summary: 'Convert a model to latent attention so its context takes less memory, and measure the quality loss.',
  usage:
    '--mla --model PATH --out PATH --rope high|low|uniform|2-norm --pairs R --svd split|joint|whitened|regression --rank K',
  flags: FLAGS,
  async run(context, values) {
    const card = await convertToMla(context, values);
    context.terminal.out(context.json ? `${JSON.stringify(card)}\n` : `${linesOf(card).join('\n')}\n`);
    return 0;
  },
});

async function convertToMla(context: Context, values: ConvertValues): Promise<Card> {
  const { mla, model, pairs, rank, rope = '2-norm', svd = 'regression', layout = 'published', calibration } = values;
  if (!mla) throw new UsageError('[convert] --mla is missing: it is the only conversion');
  if (model === undefined || values.out === undefined || pairs === undefined || rank === undefined)
    throw new UsageError('[convert] give --model PATH, --out PATH, --pairs R and --rank K');
  const form = { pairs, rank, rope, svd } as LatentForm;
  if (calibration !== undefined && !readsText(form))
    throw new UsageError('[convert] --calibration goes with --rope 2-norm and --svd whitened or regression');
  const byLayer = values['by-layer'] === true;
  if (byLayer && !(svd === 'regression' && layout === 'new'))
    throw new UsageError('[convert] --by-layer goes with --svd regression and --layout new');
  const source = modelPath(context, model);
  const out = resolve(context.places.here, values.out);
  checkFree(out);
  const described = await addonOf(context).inspect(source);
  const isFile = statSync(source, { throwIfNoEntry: false })?.isFile() ?? false;
  return makeLatent(workshopOf(context), {
    source,
    folder: isFile ? dirname(source) : source,
    described,
    out,
    known: out,
    form,
    layout: layout as Layout,
    byLayer,
    calibration: calibration === undefined ? undefined : readCalibration(context, calibration),
    measures: values['skip-quality'] !== true,
  });
}
