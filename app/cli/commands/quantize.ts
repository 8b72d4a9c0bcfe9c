import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Description, TensorEntry } from '../../../native/addon/index.d.ts';
import { allocate } from '../../conversion/allocate.ts';
import { writeMlx } from '../../conversion/mlx.ts';
import { checkFree, whole } from '../../conversion/output.ts';
import {
  checkForm,
  columnsOf,
  isPlain,
  type Planned,
  planOf,
  type Rounding,
  rowsOf,
  sizeOf,
} from '../../conversion/plan.ts';
import { LonghandError } from '../../protocol/index.ts';
import { type Context, command, type Flags, UsageError, type Values } from '../runtime/command.ts';
import { abortFlag, addonOf, modelPath } from '../runtime/open-model.ts';
import { bytes } from '../runtime/terminal.ts';
import { observe } from './calibration.ts';
import { type Card, linesOf, qualityOf, writeCard } from './quality-card.ts';

const FLAGS = {
  model: {
    kind: 'text',
    value: 'PATH',
    help: 'the model: a folder with safetensors, or "starter"',
  },
  out: {
    kind: 'text',
    value: 'PATH',
    help: 'the folder that is made; nothing is ever overwritten',
  },
  bits: {
    kind: 'count',
    value: 'N',
    help: 'bits of a weight: 2, 3, 4, 5, 6 or 8 (default: 4)',
  },
  group: {
    kind: 'count',
    value: 'G',
    help: 'weights that share a scale: 32, 64 or 128 (default: 64)',
  },
  method: {
    kind: 'text',
    value: 'rtn|hqq|weighted|mixed',
    oneOf: ['rtn', 'hqq', 'weighted', 'mixed'],
    help: 'round to nearest (default), half-quadratic, weighted by what the model does with a text, or bits by sensitivity',
  },
  'target-size': {
    kind: 'number',
    value: 'GB',
    help: 'with --method mixed: how large the weights may be',
  },
  calibration: {
    kind: 'text',
    value: 'FILE',
    help: 'a text of the kind the model will read, or lists of token ids as JSON (default: the manual)',
  },
  'skip-quality': { kind: 'yes', help: 'do not measure the loss afterwards' },
  yes: { kind: 'yes', help: 'also where the model is quantised already' },
} as const satisfies Flags;
type QuantizeValues = Values<typeof FLAGS>;

export const quantize = command({
  name: 'quantize',
  summary: 'Make a model smaller, and measure what that cost.',
  usage: '--model PATH --out PATH [--bits N --group G --method rtn|hqq|weighted|mixed]',
  flags: FLAGS,
  async run(context, values) {
    const asked = checked(context, values);
    const { source, folder, out } = asked;
    checkFree(out);
    const described = await addonOf(context).inspect(source);
    checkSource(described, values);
    const plan = planOf(described.tensors, asked.bits, asked.group);
    if (plan.every(({ bits }) => bits === null))
      throw new LonghandError(
        'bad-request',
        `[--group] got ${asked.group}; no matrix of this model has rows of whole groups`,
      );
    await checkRoom(out, sizeOf(plan, asked.group));
    const card = await make(context, values, {
      ...asked,
      folder,
      described,
      plan,
    });
    context.terminal.out(context.json ? `${JSON.stringify(card)}\n` : `${linesOf(card).join('\n')}\n`);
    return 0;
  },
});

type Asked = {
  source: string;
  folder: string;
  out: string;
  bits: number;
  group: number;
  rounding: Rounding;
};

function checked(context: Context, values: QuantizeValues): Asked {
  const { model, out, bits = 4, group = 64, method = 'rtn' } = values;
  if (model === undefined || out === undefined) throw new UsageError('[quantize] give --model PATH and --out PATH');
  checkForm(bits, group);
  if (values['target-size'] !== undefined && !(values['target-size'] > 0))
    throw new UsageError(`[--target-size] got ${values['target-size']}, allowed are gigabytes above 0`);
  if (values['target-size'] !== undefined && method !== 'mixed')
    throw new UsageError('[quantize] --target-size goes with --method mixed');
  const source = modelPath(context, model);
  const isFile = statSync(source, { throwIfNoEntry: false })?.isFile() ?? false;
  return {
    source,
    folder: isFile ? dirname(source) : source,
    out: resolve(context.places.here, out),
    bits,
    group,
    rounding: method === 'mixed' ? 'weighted' : (method as Rounding),
  };
}

type Described = Description & { config: unknown; tensors: TensorEntry[] };

function checkSource(described: Described, { yes }: QuantizeValues): void {
  if (!described.supported)
    throw new LonghandError('model-unsupported', `[quantize] ${described.problems[0] ?? 'this model cannot be read'}`);
  if (described.container === 'gguf')
    throw new LonghandError('bad-request', '[quantize] a .gguf file came; allowed are folders with safetensors');
  const quantised = described.tensors.filter((tensor) => !isPlain(tensor) && !/^[IUF]\d+$|^BOOL/.test(tensor.type));
  const first = quantised[0];
  if (first === undefined || yes) return;
  throw new LonghandError(
    'bad-request',
    `[quantize] this model is quantised already: "${first.name}" is ${first.type}, and ${quantised.length - 1} others are too; allowed are F32, F16 and BF16`,
    {
      hint: 'What was lost then stays lost, and the new loss comes on top. Start from the original, or say --yes.',
    },
  );
}

async function checkRoom(out: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(out));
  if (bavail * bsize > needed) return;
  throw new LonghandError(
    'disk-full',
    `[--out] the disk of ${out} has ${bytes(bavail * bsize)} left, ${bytes(needed)} are needed`,
  );
}

/** What the columns of each tensor are multiplied with, where the method asks for it. */
async function weighed(
  context: Context,
  { method, calibration }: QuantizeValues,
  { source }: Asked,
): Promise<{ importance: Map<string, Float32Array>; calibration: string | null }> {
  const importance = new Map<string, Float32Array>();
  if (method !== 'weighted' && method !== 'mixed') {
    if (calibration !== undefined)
      throw new UsageError('[quantize] --calibration goes with --method weighted and --method mixed');
    return { importance, calibration: null };
  }
  const observed = await observe(context, source, calibration, {});
  for (const { names, squares } of observed.seen) {
    const mean = squares.reduce((sum, square) => sum + square, 0) / squares.length;
    // A column that this text did not use may be used by another one.
    for (const name of names)
      importance.set(
        name,
        Float32Array.from(squares, (square) => square + 1e-3 * mean),
      );
  }
  return { importance, calibration: observed.calibration };
}

/** Of the matrices that were made smaller. */
function bitsPerWeight(plan: readonly Planned[], group: number): number {
  const matrices = plan.filter(({ bits }) => bits !== null);
  const weights = matrices.reduce((sum, planned) => sum + rowsOf(planned) * columnsOf(planned), 0);
  return (8 * sizeOf(matrices, group)) / weights;
}

async function make(
  context: Context,
  values: QuantizeValues,
  asked: Asked & { described: Described; plan: Planned[] },
): Promise<Card> {
  const began = Date.now();
  const addon = addonOf(context);
  const { flag, release } = abortFlag(addon, context.signal);
  const bar = context.terminal.progress('writing');
  try {
    const { importance, calibration } = await weighed(context, values, asked);
    return await whole(asked.out, async (part) => {
      const source = await addon.openWeights(asked.source);
      const common = { source, group: asked.group, importance, signal: context.signal };
      const plan =
        values.method === 'mixed'
          ? await allocate({
              ...common,
              plan: asked.plan,
              target:
                values['target-size'] === undefined ? sizeOf(asked.plan, asked.group) : values['target-size'] * 1e9,
              progress: (done, total) => bar.show(done, 2 * total),
            })
          : asked.plan;
      const written = await writeMlx(part, {
        ...common,
        folder: asked.folder,
        config: asked.described.config as Record<string, unknown>,
        plan,
        bits: asked.bits,
        rounding: asked.rounding,
        flag,
        progress: (done, total) => bar.show(done, total),
      }).finally(() => source.close());
      bar.end();
      const seconds = (Date.now() - began) / 1000;
      const quality = values['skip-quality']
        ? { skipped: '--skip-quality' }
        : await qualityOf(context, asked.source, part);
      return await writeCard(part, {
        made_from: asked.source,
        out: asked.out,
        method: values.method ?? 'rtn',
        format: 'mlx',
        bits: asked.bits,
        bits_per_weight: bitsPerWeight(plan, asked.group),
        group: asked.group,
        source_bytes: asked.described.weightBytes,
        seconds,
        calibration,
        relative_error: written.relativeError,
        left_out: written.left,
        quality,
      });
    });
  } catch (error) {
    if (context.signal.aborted) throw new LonghandError('cancelled', '[quantize] cancelled; nothing was kept');
    throw error;
  } finally {
    bar.end();
    release();
  }
}
