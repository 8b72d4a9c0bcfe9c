import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import { textIfAny } from '../../engine/process/model/tokenizer-files.ts';
import {
  LonghandError,
  SHRINK_BITS,
  SHRINK_GROUPS,
  SHRINK_TYPES,
  type ShrinkForm,
  type ShrinkPlan,
} from '../../protocol/index.ts';
import { ggufSize } from '../gguf/write.ts';
import { planOf, quantisedIn, sizeOf } from '../plan.ts';
import { ggufSourceOf, type Origin, originOf } from './origin.ts';

export type Forms = Omit<ShrinkPlan, 'modelId' | 'free'>;

/** @throws LonghandError `model-unsupported` */
export async function openOrigin(addon: typeof Addon, source: string): Promise<Origin> {
  const described = await addon.inspect(source);
  if (!described.supported)
    throw new LonghandError('model-unsupported', `[shrink] ${described.problems[0] ?? 'this model cannot be read'}`);
  const isFile = statSync(source, { throwIfNoEntry: false })?.isFile() ?? false;
  return { source, folder: isFile ? dirname(source) : source, described };
}

/** What a model can become that is smaller than it is. */
export async function formsOf(addon: typeof Addon, origin: Origin): Promise<Forms> {
  const { tensors, weightBytes } = origin.described;
  const sizes = [...(await mlxSizes(addon, origin)), ...ggufSizes(origin)];
  return {
    bytes: weightBytes,
    quantised: quantisedIn(tensors).length > 0,
    reads: (await textIfAny(addon, origin.source)) !== null,
    sizes: sizes.filter(({ bytes }) => bytes < weightBytes),
  };
}

type Sizes = { form: ShrinkForm; bytes: number }[];

async function mlxSizes(addon: typeof Addon, origin: Origin): Promise<Sizes> {
  const folder = await originOf(addon, origin).catch(unlessUnsupported);
  if (!folder) return [];
  return SHRINK_GROUPS.flatMap((group) =>
    SHRINK_BITS.flatMap((bits): Sizes => {
      const plan = folder.plan(planOf(folder.tensors, bits, group));
      // No matrix has rows that divide into groups of this size.
      if (plan.every((planned) => planned.bits === null)) return [];
      return [{ form: { format: 'mlx', bits, group }, bytes: sizeOf(plan, group) }];
    }),
  );
}

function ggufSizes(origin: Origin): Sizes {
  const source = ggufSourceOf(origin);
  try {
    return SHRINK_TYPES.map((type) => ({ form: { format: 'gguf', type }, bytes: ggufSize(source, type) }));
  } catch (error) {
    return unlessUnsupported(error) ?? [];
  }
}

/** A family that cannot be written in a format has other formats. */
function unlessUnsupported(error: unknown): null {
  if (error instanceof LonghandError && error.code === 'model-unsupported') return null;
  throw error;
}
