import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WeightSource } from '../../../native/addon/index.d.ts';
import { abortFlag } from '../../engine/process/addon.ts';
import { divergenceOf } from '../../quality/divergence.ts';
import { type Reference, takeReference } from '../../quality/reference-file.ts';
import type { Scorer } from '../../quality/scorer.ts';
import { type Window, windowsOf } from '../../quality/windows.ts';
import { groupOf } from '../allocate.ts';
import { entriesOf, quantisedConfig, type Rounder, storable, writeTensors } from '../mlx.ts';
import type { Planned } from '../plan.ts';
import type { Workshop } from './workshop.ts';

export type Measured = {
  /** The original, as the engine opens it, and its weights. */
  original: string;
  source: WeightSource;
  config: Record<string, unknown>;
  /** With the bits that are tried. */
  plan: readonly Planned[];
  bits: number;
  group: number;
  /** The text, in windows. */
  windows: readonly Int32Array[];
  /** For the models that are measured, made and removed: as large as the original and the result together. */
  folder: string;
};

/** Divergence (KLD, nats a token) of the model in which the matrices of one group alone are rounded to nearest, by group. Every
 *  group is in a file of its own, once as it is and once rounded: the index of the folder says which is meant. */
export async function sensitivitiesOf(workshop: Workshop, asked: Measured): Promise<Map<string, number>> {
  const { config, bits, group, folder } = asked;
  const { kept } = storable(asked.plan, config);
  const groups = Map.groupBy(kept, ({ name }) => groupOf(name));
  const rounded = [...groups].filter(([, own]) => own.some((planned) => planned.bits !== null)).map(([name]) => name);
  const bar = workshop.progress('choosing');
  await mkdir(folder);
  try {
    const shards = await writeShards(workshop, asked, groups);
    await writeFile(join(folder, 'config.json'), JSON.stringify(quantisedConfig(config, kept, bits, group)));
    const reference = await scoring(workshop, asked.original, asked.windows, (score, windows, vocabulary) =>
      takeReference(score, asked.original, windows, vocabulary),
    );
    const found = new Map<string, number>();
    for (const [done, name] of rounded.entries()) {
      bar.show(done, rounded.length);
      found.set(name, await divergenceWith(workshop, asked, shards, name, reference));
    }
    return found;
  } finally {
    bar.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The names of the tensors in the two files of each group. */
type Shards = Map<string, { plain: [file: string, names: string[]]; rounded: [file: string, names: string[]] }>;

async function writeShards(
  { addon, signal }: Workshop,
  { source, group, folder }: Measured,
  groups: ReadonlyMap<string, Planned[]>,
): Promise<Shards> {
  const { flag, release } = abortFlag(addon, signal);
  const shards: Shards = new Map();
  const rounder: Rounder = { source, group, signal, flag, rounding: 'rtn', inputsOf: async () => ({}), progress() {} };
  const written = async (file: string, plan: Planned[]): Promise<[string, string[]]> => {
    await writeTensors(join(folder, file), plan, rounder);
    return [file, plan.flatMap((planned) => entriesOf(planned, group).map(({ name }) => name))];
  };
  try {
    for (const [name, own] of groups) {
      const at = shards.size;
      shards.set(name, {
        plain: await written(
          `plain-${at}.safetensors`,
          own.map((planned) => ({ ...planned, bits: null })),
        ),
        rounded: await written(`rounded-${at}.safetensors`, own),
      });
    }
  } finally {
    release();
  }
  return shards;
}

async function divergenceWith(
  workshop: Workshop,
  { folder, windows }: Measured,
  shards: Shards,
  name: string,
  reference: Reference,
): Promise<number> {
  const map = [...shards].flatMap(([group, { plain, rounded }]) => {
    const [file, names] = group === name ? rounded : plain;
    return names.map((tensor) => [tensor, file]);
  });
  await writeFile(
    join(folder, 'model.safetensors.index.json'),
    JSON.stringify({ metadata: {}, weight_map: Object.fromEntries(map) }),
  );
  const { kld } = await scoring(workshop, folder, windows, (score, own) => divergenceOf(score, own, reference));
  return kld.value;
}

async function scoring<T>(
  { addon, signal }: Workshop,
  path: string,
  lists: readonly Int32Array[],
  work: (score: Scorer, windows: Window[], vocabulary: number) => Promise<T>,
): Promise<T> {
  const { flag, release } = abortFlag(addon, signal);
  try {
    const model = await addon.load(path, { signal: flag });
    try {
      const session = model.createSession();
      const score: Scorer = (tokens, options) =>
        session.score(tokens, { ...options, at: [...(options.at ?? [])], signal: flag });
      const windows = lists.flatMap((ids) => windowsOf(ids, ids.length, ids.length));
      return await work(score, windows, model.vocabularySize);
    } finally {
      model.close();
    }
  } finally {
    release();
  }
}
