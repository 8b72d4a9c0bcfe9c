import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { AbortFlag, TensorEntry, WeightSource } from '../../../native/addon/index.d.ts';
import { LonghandError, type SHRINK_TYPES } from '../../protocol/index.ts';
import { columnsOf, rowsOf } from '../plan.ts';
import { keyOf, type Leftovers, ProgressLog } from '../resumption.ts';
import { stretchesOf } from '../stretches.ts';
import {
  createGguf,
  encodeMetadata,
  type GgufFile,
  type GgufType,
  ggufBytes,
  type RawMetadata,
  readRawMetadata,
} from './file.ts';
import { type Config, metadataOf, ropeDivisors, textConfig } from './metadata.ts';
import { FAMILIES } from './names.ts';
import { recoded, type Target, targetsOf } from './targets.ts';
import { tokenizerMetadata } from './tokenizer.ts';

export type GgufTarget = (typeof SHRINK_TYPES)[number];
/** llama.cpp's `general.file_type` by the type of most tensors. */
const FILE_TYPES: Record<GgufTarget, number> = { Q4_0: 2, Q8_0: 7, Q4_K: 14, Q5_K: 16, Q6_K: 18 };

/** The contents of the file, decided before anything is written. */
export type GgufPlan = {
  metadata: RawMetadata[];
  targets: Target[];
  /** Computed from the configuration, not from a tensor. */
  divisors: Float32Array | null;
  left: string[];
  bytes: number;
};

export type GgufSource = {
  path: string;
  folder: string;
  container: string;
  config: Config;
  tensors: readonly TensorEntry[];
};

/** A family whose tensors have names in GGUF, with its targets. */
function targetsFrom(source: GgufSource, type: GgufTarget) {
  const config = textConfig(source.config);
  const family = FAMILIES[String(config.model_type)] ?? FAMILIES[String(source.config.model_type)];
  if (family === undefined || config.num_experts !== undefined) {
    throw new LonghandError(
      'model-unsupported',
      `[--format] a model of the type ${String(config.model_type)} came; allowed for GGUF are ${Object.keys(FAMILIES).join(', ')}`,
    );
  }
  return { config, family, ...targetsOf(family, config, source.tensors, type) };
}

const bytesOf = (targets: readonly Target[]): number => targets.reduce((sum, target) => sum + ggufBytes(target), 0);

/** The size of the weights, without reading anything else of the model. @throws LonghandError `model-unsupported` */
export const ggufSize = (source: GgufSource, type: GgufTarget): number =>
  bytesOf(source.container === 'gguf' ? recoded(source.tensors, type) : targetsFrom(source, type).targets);

export async function planGguf(source: GgufSource, type: GgufTarget): Promise<GgufPlan> {
  const facts = encodeMetadata({
    'general.file_type': { u32: FILE_TYPES[type] },
    'general.quantization_version': { u32: 2 },
  });
  if (source.container === 'gguf') {
    const own = await readRawMetadata(source.path, /^(general\.(file_type|quantization_version|alignment)$|split\.)/);
    return sized({ metadata: [own, facts], targets: recoded(source.tensors, type), divisors: null, left: [] });
  }
  const { config, family, targets, left } = targetsFrom(source, type);
  const up = targets.find(({ name }) => /^blk\.\d+\.ffn_up\.weight$/.test(name));
  const name = basename(source.folder);
  const metadata = encodeMetadata(metadataOf(family, config, name, up === undefined ? 0 : rowsOf(up)));
  const tokenizer = tokenizerMetadata(source.folder, family, config) ?? {
    'tokenizer.ggml.model': { text: 'no_vocab' },
  };
  return sized({
    metadata: [metadata, encodeMetadata(tokenizer), facts],
    targets,
    divisors: ropeDivisors(config),
    left,
  });
}

const sized = (plan: Omit<GgufPlan, 'bytes'>): GgufPlan => ({ ...plan, bytes: bytesOf(plan.targets) });

export type GgufRequest = {
  source: WeightSource;
  plan: GgufPlan;
  importance: ReadonlyMap<string, Float32Array>;
  signal: AbortSignal;
  flag: AbortFlag;
  progress: (done: number, total: number) => void;
  /** What a killed run left, and what decides the content beside the plan: the files and the text that are read. */
  leftovers: Leftovers;
  origin: unknown;
};

/** Writes the file `name` into the folder `part`. */
export async function writeGguf(part: string, name: string, request: GgufRequest): Promise<void> {
  const { plan, signal, progress } = request;
  const divisors = plan.divisors;
  // Where the tensors lie depends on the metadata before them.
  const metadata = plan.metadata.map(({ bytes }) => Buffer.from(bytes).toString('base64'));
  const key = keyOf([request.origin, name, metadata, plan.targets.map((target) => [target.name, target.type])]);
  const known = await request.leftovers.adopt(key, part);
  if (!known) await mkdir(part);
  const extra =
    divisors === null ? [] : [{ name: 'rope_freqs.weight', type: 'F32' as GgufType, shape: [divisors.length] }];
  const resumes = known !== null && known.tensors.length > 0;
  const file = await createGguf(join(part, name), plan.metadata, [...plan.targets, ...extra], { resumes });
  const log = new ProgressLog(part, known ?? { key, tensors: [], error: 0, energy: 0 }, file.sync);
  try {
    if (divisors !== null) await file.put('rope_freqs.weight', new Uint8Array(divisors.buffer), 0);
    let done = 0;
    for (const target of plan.targets) {
      signal.throwIfAborted();
      if (!log.has(target.name)) {
        await writeTarget(file, target, request);
        await log.add(target.name, { error: 0, energy: 0 });
      }
      done += ggufBytes(target);
      progress(done, plan.bytes);
    }
  } finally {
    await file.close();
  }
  await log.end();
}

async function writeTarget(
  file: GgufFile,
  target: Target,
  { source, importance, signal, flag }: GgufRequest,
): Promise<void> {
  const { name, tensor, type, from, columns, change } = target;
  // [C, 1, W] becomes [C, W], and a vector is one row: a row order applies to its elements.
  const shape = tensor.shape.length === 1 ? [1, tensor.shape[0] ?? 0] : target.shape;
  if (change !== undefined || shape[0] === 1) {
    const values = await source.read(tensor.name, { signal: flag });
    const moved = values.map((_, i) => values[from === undefined ? i : from(i)] ?? Number.NaN);
    const changed = change === undefined ? moved : moved.map((value) => change(value));
    await file.put(name, new Uint8Array(changed.buffer), 0);
    return;
  }
  const width = columnsOf({ shape });
  if (columnsOf(tensor) !== width) {
    // [C, W, 1], as mlx-lm has convolutions: what are rows here is none there.
    const values = await source.read(tensor.name, { signal: flag });
    const row = from ?? ((one: number) => one);
    const moved = values.map((_, i) => values[row(Math.floor(i / width)) * width + (i % width)] ?? Number.NaN);
    await file.put(name, new Uint8Array(moved.buffer), 0);
    return;
  }
  const known = importance.get(tensor.name);
  const weights = known && columns ? known.map((_, i) => known[columns[i] ?? i] ?? 1) : known;
  const row = ggufBytes({ type, shape: [columnsOf({ shape })] });
  for (const { first, count } of stretchesOf({ shape })) {
    signal.throwIfAborted();
    const rows = from && Int32Array.from({ length: count }, (_, i) => from(first + i));
    const bytes = await source.blocks(tensor.name, {
      first,
      count,
      type,
      signal: flag,
      ...(rows === undefined ? {} : { rows }),
      ...(columns === undefined ? {} : { columns }),
      ...(weights === undefined || type === 'F32' ? {} : { importance: weights }),
    });
    await file.put(name, bytes, row * first);
  }
}
