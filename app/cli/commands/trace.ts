import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { table } from '../runtime/arguments.ts';
import {
  type Context,
  command,
  type Flags,
  MODEL_FLAGS,
  PRECISION_FLAG,
  UsageError,
  type Values,
} from '../runtime/command.ts';
import { openModel, textOf } from '../runtime/open-model.ts';
import { outputFile, readSafetensors, type Tensor, writeSafetensors } from '../runtime/safetensors.ts';

const FLAGS = {
  device: MODEL_FLAGS.device,
  threads: MODEL_FLAGS.threads,
  'metal-emulator': MODEL_FLAGS['metal-emulator'],
  ...PRECISION_FLAG,
  tokens: { kind: 'ids', value: '1,2,3', help: 'the prompt' },
  prompt: { kind: 'text', value: 'TEXT', help: 'the prompt as text, instead of --tokens' },
  out: { kind: 'text', value: 'FILE', help: 'write the layers as safetensors' },
} as const satisfies Flags;
type TraceValues = Values<typeof FLAGS>;

export const trace = command({
  name: 'trace',
  summary:
    'Show the mean and deviation after every layer; with B, the largest difference between two files, devices or paths.',
  usage: 'A [B] --tokens 1,2,3      A: model or .safetensors   B: model, .safetensors, device id, exact or fast',
  words: [1, 2],
  flags: FLAGS,
  async run(context, values, [a = '', b]) {
    const file = values.out === undefined ? undefined : outputFile(context.places.here, values.out);
    const left = await layersOf(context, values, a);
    const right = b === undefined ? null : await other(context, values, a, b);
    if (file !== undefined) await writeSafetensors(file, left);
    const rows = left.map((tensor) => ({ ...figures(tensor), ...(right && difference(tensor, right)) }));
    const largest = Math.max(...rows.map((row) => ('difference' in row ? (row.difference ?? 0) : 0)));
    if (context.json) {
      context.terminal.out(`${JSON.stringify({ layers: rows, ...(right && { largest_difference: largest }) })}\n`);
      return 0;
    }
    const head = ['layer', 'shape', 'mean', 'std', ...(right ? ['difference'] : [])];
    const lines = rows.map((row) => [
      row.name,
      `[${row.shape.join(', ')}]`,
      ...[row.mean, row.std, ...('difference' in row ? [row.difference] : [])].map(digits),
    ]);
    context.terminal.out(`${table([head, ...lines])}\n`);
    return 0;
  },
});

const digits = (value: number | null | undefined): string => (value == null ? '–' : value.toExponential(3));

/** A file's tensors, or a model's activations after each layer. */
async function layersOf(context: Context, values: TraceValues, place: string): Promise<Tensor[]> {
  const file = resolve(context.places.here, place);
  if (place.endsWith('.safetensors') && existsSync(file)) return readSafetensors(file);
  // The Metal emulator applies only to the side that is asked to run on Metal.
  const emulated = values['metal-emulator'] === true && values.device === 'metal';
  const model = await openModel(context, { ...values, model: place, 'metal-emulator': emulated });
  try {
    const tokens = values.tokens ?? (await tokensOf(model, values.prompt));
    const path = values.precision === 'fast' ? 'fast' : 'exact';
    const session = model.native.createSession({ path });
    const layers = await session.trace(Int32Array.from(tokens), { path });
    session.close();
    return layers.map(({ name, rows, columns, data }) => ({ name, shape: [rows, columns], data }));
  } finally {
    model.close();
  }
}

async function tokensOf(model: Awaited<ReturnType<typeof openModel>>, prompt: string | undefined): Promise<number[]> {
  if (prompt === undefined) throw new UsageError('[trace] a model needs --tokens or --prompt');
  const { tokenizer } = await textOf(model.addon, model.path);
  return tokenizer.encode(tokenizer.split(prompt));
}

/** B is another file or model, or the same model on another path or device. */
function other(context: Context, values: TraceValues, a: string, b: string): Promise<Tensor[]> {
  if (b === 'exact' || b === 'fast') return layersOf(context, { ...values, precision: b }, a);
  if (/^(cpu|metal|vulkan(:\d+)?)$/.test(b)) return layersOf(context, { ...values, device: b }, a);
  return layersOf(context, values, b);
}

function figures({ name, shape, data }: Tensor) {
  let sum = 0;
  for (const value of data) sum += value;
  const mean = sum / data.length;
  let squares = 0;
  for (const value of data) squares += (value - mean) ** 2;
  return { name, shape, mean, std: Math.sqrt(squares / data.length) };
}

/** null: B has no tensor of this name and size. */
function difference(tensor: Tensor, others: readonly Tensor[]): { difference: number | null } {
  const same = others.find(({ name }) => name === tensor.name);
  if (!same || same.data.length !== tensor.data.length) return { difference: null };
  let largest = 0;
  for (const [i, value] of tensor.data.entries()) largest = Math.max(largest, Math.abs(value - (same.data[i] ?? 0)));
  return { difference: largest };
}
