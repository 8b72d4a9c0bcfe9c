import { join, posix } from 'node:path';
import type { EmbedderTarget } from '../engine/ipc-protocol.ts';
import { builtInEmbedder, canChat, type ModelEntry } from '../protocol/index.ts';

//  The names of models for other programs.

/** A model that is not in the library because it can be neither removed nor moved. */
export type BuiltIn = { name: string; kind: 'encoder' | 'ranker'; target: Pick<EmbedderTarget, 'path' | 'adapter'> };

export type ServedModel = { id: string; name: string } & (
  | { kind: 'chat' | 'encoder' | 'ranker'; entry: ModelEntry; target?: never }
  | (BuiltIn & { entry: null })
);

export const builtInModels = (resources: string): BuiltIn[] => {
  const path = join(resources, 'encoder');
  return [
    { name: builtInEmbedder.name, kind: 'encoder', target: { path } },
    { name: 'longhand-reader', kind: 'ranker', target: { path, adapter: join(resources, 'reader') } },
  ];
};

/** Every model gets a unique, URL-safe name: of two equal names the later one gets a number. */
export function servedModels(entries: readonly ModelEntry[], builtIn: readonly BuiltIn[]): ServedModel[] {
  const taken = new Set<string>();
  const named = (name: string): string => {
    const slug = slugOf(name);
    let id = slug;
    for (let number = 2; taken.has(id); number++) id = `${slug}-${number}`;
    taken.add(id);
    return id;
  };
  const library = entries.flatMap((entry): ServedModel[] => {
    const kind = kindOf(entry);
    // Requests of other programs are never forwarded to another computer.
    return entry.missing || entry.remote || kind === null
      ? []
      : [{ id: named(entry.name), name: entry.name, kind, entry }];
  });
  return [...library, ...builtIn.map((one): ServedModel => ({ ...one, id: named(one.name), entry: null }))];
}

function kindOf(entry: ModelEntry): ServedModel['kind'] | null {
  if (entry.description?.reranker) return 'ranker';
  if (entry.description?.encoder) return 'encoder';
  return canChat(entry) ? 'chat' : null;
}

const slugOf = (name: string): string =>
  posix
    .basename(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|-+$/g, '') || 'model';
