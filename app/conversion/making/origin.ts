import type * as Addon from '../../../native/addon/index.d.ts';
import { copyCompanions } from '../companions.ts';
import { readingFrom, unpacked, writeTokenizer } from '../gguf/to-folder.ts';
import type { GgufSource } from '../gguf/write.ts';
import type { Planned } from '../plan.ts';

export type Described = Addon.Description & { config: unknown; tensors: Addon.TensorEntry[] };

/** The model that another is made of: what the engine opens, and the folder of its files. */
export type Origin = { source: string; folder: string; described: Described };

type SourceFolder = {
  tensors: Addon.TensorEntry[];
  config: Record<string, unknown>;
  plan: (plan: Planned[]) => Planned[];
  accompany: (part: string) => Promise<void>;
};

/** A folder as is; a GGUF file as the folder it was made from. */
export async function originOf(
  addon: Pick<typeof Addon, 'ggufMetadata'>,
  { described, source, folder }: Origin,
): Promise<SourceFolder> {
  if (described.container !== 'gguf') {
    return {
      tensors: described.tensors,
      config: described.config as Record<string, unknown>,
      plan: (plan) => plan,
      accompany: (part) => copyCompanions(folder, part),
    };
  }
  const metadata = await addon.ggufMetadata(source);
  const { tensors, config, from } = unpacked(metadata, described.tensors);
  return {
    tensors,
    config,
    plan: (plan) => readingFrom(plan, from),
    accompany: (part) => writeTokenizer(part, metadata),
  };
}

export const ggufSourceOf = ({ described, source, folder }: Origin): GgufSource => ({
  path: source,
  folder,
  container: described.container,
  config: described.config as Record<string, unknown>,
  tensors: described.tensors,
});
