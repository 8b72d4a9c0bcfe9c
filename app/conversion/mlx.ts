import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AbortFlag, InputFactor, WeightSource } from '../../native/addon/index.d.ts';
import { LonghandError } from '../protocol/index.ts';
import { columnsOf, type Planned, type Rounding, rowsOf, storedType } from './plan.ts';
import { keyOf, type Leftovers, type Progress, ProgressLog } from './resumption.ts';
import {
  bytesOf,
  createSafetensors,
  type Entry,
  encoded,
  type SafetensorsFile,
  type StoredType,
} from './safetensors-file.ts';
import { rowsFor, type Stretch, stretchesOf } from './stretches.ts';

export type MlxRequest = {
  source: WeightSource;
  /** Copies companion files, above all the tokenizer. */
  accompany: (part: string) => Promise<void>;
  config: Record<string, unknown>;
  plan: readonly Planned[];
  /** Default bits in config.json; modules with other bits get their own entry. */
  bits: number;
  group: number;
  rounding: Rounding;
  /** What is known of the inputs of a matrix. */
  inputsOf: (planned: Planned) => Promise<Inputs>;
  signal: AbortSignal;
  flag: AbortFlag;
  progress: (done: number, total: number) => void;
  /** What a killed run left, and what decides the content beside the plan: the files and the text that are read. */
  leftovers: Leftovers;
  origin: unknown;
};

/** Of the inputs of a matrix. */
export type Inputs = {
  /** Mean squares per column. */
  importance?: Float32Array;
  /** Their covariance, for rounding with error feedback. */
  feedback?: InputFactor;
};

/** Relative error over all quantised matrices. */
export type Written = { relativeError: number; left: string[] };

/** How tensors are rounded, and from where they are read. */
export type Rounder = Pick<MlxRequest, 'source' | 'group' | 'rounding' | 'inputsOf' | 'signal' | 'flag' | 'progress'>;

/** A folder as mlx-lm writes it, under the names that it gives: codes as U32, scales and biases in the type of the weights. */
export async function writeMlx(part: string, request: MlxRequest): Promise<Written> {
  const { plan, config, bits, group, rounding, origin } = request;
  const { kept, left } = storable(plan, config);
  const key = keyOf([origin, group, rounding, kept.map((one) => [one.name, one.bits])]);
  const known = await request.leftovers.adopt(key, part);
  if (!known) await mkdir(part);
  const relativeError = await writeTensors(join(part, 'model.safetensors'), kept, request, known ?? nothing(key));
  await request.accompany(part);
  await writeFile(
    join(part, 'config.json'),
    `${JSON.stringify(quantisedConfig(config, kept, bits, group), null, 2)}\n`,
  );
  return { relativeError, left: left.map(({ tensor }) => tensor.name) };
}

/** Integers are no weights, and a head that is the embedding is not stored twice. */
export function storable(
  plan: readonly Planned[],
  config: Record<string, unknown>,
): { kept: Planned[]; left: Planned[] } {
  const tied = config.tie_word_embeddings === true;
  const fits = ({ tensor, refused }: Planned) =>
    refused !== true && storedType(tensor) !== null && !(tied && tensor.name.endsWith('lm_head.weight'));
  return { kept: plan.filter(fits), left: plan.filter((planned) => !fits(planned)) };
}

export function quantisedConfig(
  config: Record<string, unknown>,
  plan: readonly Planned[],
  bits: number,
  group: number,
): Record<string, unknown> {
  const quantization = { group_size: group, bits, mode: 'affine', ...exceptions(plan, bits, group) };
  return { ...withPositions(config), quantization, quantization_config: quantization };
}

/** transformers 5 has positions in one object; for some families mlx-lm reads the keys that came before, and would take its defaults. */
function withPositions(config: Record<string, unknown>): Record<string, unknown> {
  const { rope_parameters: rope, rope_theta } = config as {
    rope_parameters?: Record<string, unknown>;
    rope_theta?: unknown;
  };
  if (typeof rope?.rope_theta !== 'number' || rope_theta !== undefined) return config;
  const scaled = rope.rope_type !== undefined && rope.rope_type !== 'default';
  return { ...config, rope_theta: rope.rope_theta, ...(scaled ? { rope_scaling: rope } : {}) };
}

const nothing = (key: string): Progress => ({ key, tensors: [], error: 0, energy: 0 });

/** Relative error over all that was rounded. `known`: what of the file is there already; null: it is not worth keeping. */
export async function writeTensors(
  path: string,
  plan: readonly Planned[],
  rounder: Rounder,
  known: Progress | null = null,
): Promise<number> {
  const lost = { error: known?.error ?? 0, energy: known?.energy ?? 0 };
  const resumes = known !== null && known.tensors.length > 0;
  const entries = distinct(plan.flatMap((one) => entriesOf(one, rounder.group)));
  const file = await createSafetensors(path, entries, 'pt', { resumes });
  const log = known && new ProgressLog(dirname(path), known, file.sync);
  try {
    const total = plan.reduce((sum, one) => sum + rowsOf(one) * columnsOf(one), 0);
    let done = 0;
    // The last matrix is always rounded: for it the text is read that the card names.
    const last = plan.findLastIndex(({ bits }) => bits !== null);
    for (const [at, planned] of plan.entries()) {
      if (log?.has(planned.name)) {
        done += rowsOf(planned) * columnsOf(planned);
        rounder.progress(done, total);
        continue;
      }
      const inputs = planned.bits === null ? {} : await rounder.inputsOf(planned);
      for (const stretch of stretchesOf(planned)) {
        rounder.signal.throwIfAborted();
        await writeStretch(file, planned, stretch, rounder, inputs, lost);
        done += stretch.count * columnsOf(planned);
        rounder.progress(done, total);
      }
      if (at < last) await log?.add(planned.name, lost);
    }
  } finally {
    await file.close();
  }
  await log?.end();
  return lost.energy > 0 ? Math.sqrt(lost.error / lost.energy) : 0;
}

const moduleOf = (name: string): string => name.replace(/\.weight$/, '');
const typeOf = ({ tensor }: Planned) => storedType(tensor) ?? 'F32';

/** Modules with other bits than the rest. */
function exceptions(plan: readonly Planned[], bits: number, group: number): Record<string, unknown> {
  return Object.fromEntries(
    plan.flatMap(({ name, within, bits: own }): [string, unknown][] =>
      own === null || own === bits ? [] : [[moduleOf(within?.name ?? name), { group_size: group, bits: own }]],
    ),
  );
}

/** Rows of the tensor that it is, or is a part of, as long as its own. */
const rowsIn = (planned: Planned): number => valuesOf(planned.within ?? planned) / columnsOf(planned);
const valuesOf = ({ shape }: Pick<Planned, 'shape'>): number => shape.reduce((product, size) => product * size, 1);

/** All parts of a tensor become the same entries. */
const distinct = (entries: readonly Entry[]): Entry[] => [...new Map(entries.map((one) => [one.name, one])).values()];

/** What a tensor, or the one that it is a part of, becomes in the file. */
export function entriesOf(planned: Planned, group: number): Entry[] {
  const { bits } = planned;
  const { name, shape } = planned.within ?? planned;
  const type: StoredType = typeOf(planned);
  if (bits === null) return [{ name, type, shape }];
  const outer = shape.slice(0, -1);
  const module = moduleOf(name);
  const scales = { type, shape: [...outer, columnsOf(planned) / group] };
  return [
    { name, type: 'U32', shape: [...outer, (columnsOf(planned) * bits) / 32] },
    { name: `${module}.scales`, ...scales },
    { name: `${module}.biases`, ...scales },
  ];
}

async function writeStretch(
  file: SafetensorsFile,
  planned: Planned,
  stretch: Stretch,
  { source, group, rounding, flag }: Rounder,
  inputs: Inputs,
  lost: { error: number; energy: number },
): Promise<void> {
  const { tensor, bits } = planned;
  const [values, scales, biases] = entriesOf(planned, group);
  const at = (entry: Entry) => (bytesOf(entry) / rowsIn(planned)) * ((planned.within?.first ?? 0) + stretch.first);
  if (values === undefined) throw new LonghandError('internal', `[quantize] ${planned.name} has no place`);
  const asked = { ...rowsFor(planned, stretch), signal: flag };
  if (planned.plus !== undefined) {
    const plus = planned.plus;
    const added = (await source.read(tensor.name, { signal: flag })).map((value) => value + plus);
    await file.put(values.name, encoded(added, values.type), 0);
    return;
  }
  if (bits === null || scales === undefined || biases === undefined) {
    await file.put(values.name, await source.blocks(tensor.name, { ...asked, type: typeOf(planned) }), at(values));
    return;
  }
  const made = await source.affine(tensor.name, {
    ...asked,
    bits,
    group,
    scales: typeOf(planned),
    method: rounding,
    ...inputs,
  });
  await file.put(values.name, made.codes, at(values));
  await file.put(scales.name, made.scales, at(scales));
  await file.put(biases.name, made.biases, at(biases));
  lost.error += made.error;
  lost.energy += made.energy;
}
