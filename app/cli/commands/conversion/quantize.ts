import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Described } from '../../../conversion/making/origin.ts';
import { type Asked, make } from '../../../conversion/making/quantise.ts';
import { checkFree } from '../../../conversion/output.ts';
import { checkForm, quantisedIn } from '../../../conversion/plan.ts';
import { LonghandError, SHRINK_TYPES } from '../../../protocol/index.ts';
import { type Context, command, type Flags, UsageError, type Values } from '../../runtime/command.ts';
import { addonOf, modelPath } from '../../runtime/open-model.ts';
import { readCalibration } from './calibration.ts';
import { linesOf } from './card-lines.ts';
import { workshopOf } from './terminal-workshop.ts';

const FLAGS = {
  model: {
    kind: 'text',
    value: 'PATH',
    help: 'safetensors folder, .gguf file, "assistant" or "starter"',
  },
  out: {
    kind: 'text',
    value: 'PATH',
    help: 'folder or .gguf file to create; existing files are never overwritten',
  },
  bits: {
    kind: 'count',
    value: 'N',
    help: 'bits per weight: 2, 3, 4, 5, 6 or 8 (default: 4)',
  },
  group: {
    kind: 'count',
    value: 'G',
    help: 'weights per scale: 32, 64 or 128 (default: 64)',
  },
  method: {
    kind: 'text',
    value: 'rtn|hqq|weighted|gptq|mixed',
    oneOf: ['rtn', 'hqq', 'weighted', 'gptq', 'mixed'],
    help: 'round to nearest (default), half-quadratic, weighted by the activations of a text, with error feedback as well, or that with bits by the measured sensitivity of each layer',
  },
  'target-size': {
    kind: 'number',
    value: 'GB',
    help: 'with --method mixed: maximum size of the weights (default: 10 % more than --bits everywhere)',
  },
  'target-kld': {
    kind: 'number',
    value: 'NATS',
    help: 'with --method mixed: as small as a divergence of NATS per token allows, measured on the result',
  },
  format: {
    kind: 'text',
    value: 'mlx|gguf:TYPE',
    help: 'MLX folder (default), or a file for llama.cpp: Q4_0, Q4_K, Q5_K, Q6_K or Q8_0',
  },
  calibration: {
    kind: 'text',
    value: 'FILE',
    help: 'text similar to what the model will read, or JSON lists of token ids (default: the manual)',
  },
  'skip-quality': { kind: 'yes', help: 'do not measure the quality loss' },
  yes: { kind: 'yes', help: 'quantise again even if the model is already quantised' },
} as const satisfies Flags;
type QuantizeValues = Values<typeof FLAGS>;

export const quantize = command({
  name: 'quantize',
  summary:
    'Quantise a model to make it smaller, and measure the quality loss. A killed run is continued by the same command.',
  usage: '--model PATH --out PATH [--bits N --group G --method rtn|hqq|weighted|gptq|mixed] [--format mlx|gguf:TYPE]',
  flags: FLAGS,
  async run(context, values) {
    const asked = checked(context, values);
    checkFree(asked.out);
    const described = await addonOf(context).inspect(asked.source);
    checkSource(described, values);
    const card = await make(workshopOf(context), { ...asked, described });
    context.terminal.out(context.json ? `${JSON.stringify(card)}\n` : `${linesOf(card).join('\n')}\n`);
    return 0;
  },
});

function checked(context: Context, values: QuantizeValues): Omit<Asked, 'described'> {
  const { model, bits, group = 64, method = 'rtn', 'target-size': target, 'target-kld': divergence } = values;
  if (model === undefined || values.out === undefined)
    throw new UsageError('[quantize] give --model PATH and --out PATH');
  checkForm(bits ?? 4, group);
  if (target !== undefined && method !== 'mixed')
    throw new UsageError('[quantize] --target-size goes with --method mixed');
  if (divergence !== undefined && (method !== 'mixed' || target !== undefined))
    throw new UsageError('[quantize] --target-kld goes with --method mixed, without --target-size');
  if (divergence !== undefined && !(divergence > 0))
    throw new UsageError(`[--target-kld] got ${divergence}, expected nats per token above 0`);
  if (target !== undefined && !(target > 0))
    throw new UsageError(`[--target-size] got ${target}, expected gigabytes above 0`);
  if (values.calibration !== undefined && (method === 'rtn' || method === 'hqq'))
    throw new UsageError('[quantize] --calibration goes with --method weighted, gptq and mixed');
  const gguf = ggufOf(context, values);
  const source = modelPath(context, model);
  const isFile = statSync(source, { throwIfNoEntry: false })?.isFile() ?? false;
  const out = resolve(context.places.here, values.out);
  const path = gguf !== null && !out.endsWith('.gguf') ? `${out}.gguf` : out;
  return {
    source,
    folder: isFile ? dirname(source) : source,
    out: path,
    known: path,
    bits: bits ?? 4,
    group,
    method: method as Asked['method'],
    target: target === undefined ? null : target * 1e9,
    divergence: divergence ?? null,
    gguf,
    calibration: values.calibration === undefined ? undefined : readCalibration(context, values.calibration),
    measures: values['skip-quality'] !== true,
  };
}

function ggufOf(context: Context, { format = 'mlx', bits, group, method = 'rtn' }: QuantizeValues): Asked['gguf'] {
  if (format === 'mlx') return null;
  const named = /^gguf:(.*)$/.exec(format)?.[1]?.toUpperCase();
  const type = SHRINK_TYPES.find((one) => one === named);
  if (type === undefined)
    throw new UsageError(
      `[--format] got "${format}", expected one of mlx, ${SHRINK_TYPES.map((one) => `gguf:${one}`).join(', ')}`,
    );
  if (method !== 'rtn' && method !== 'weighted')
    throw new UsageError(`[--method] got ${method}; with --format ${format}, expected rtn or weighted`);
  if (bits !== undefined && bits !== Number(type[1]))
    throw new UsageError(`[--bits] got ${bits}, but ${type} has ${type[1]}`);
  if (group !== undefined) context.terminal.note('[--group] GGUF types have a fixed group size; ignored');
  return type;
}

function checkSource(described: Described, { yes }: QuantizeValues): void {
  if (!described.supported)
    throw new LonghandError('model-unsupported', `[quantize] ${described.problems[0] ?? 'this model cannot be read'}`);
  const quantised = quantisedIn(described.tensors);
  const first = quantised[0];
  if (first === undefined || yes) return;
  throw new LonghandError(
    'bad-request',
    `[quantize] this model is already quantised: "${first.name}" is ${first.type}, and so are ${quantised.length - 1} others; expected F32, F16 or BF16`,
    {
      hint: 'Quantising twice adds to the loss. Start from the original, or pass --yes.',
    },
  );
}
