import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghandError, type ModelId } from '../../protocol/index.ts';

//  The files of evaluations in the profile: README.md.

const REFERENCES = 'references';
const MATERIAL = 'material';

export const folderOf = (root: string, id: string): string => join(root, id);
export const referencesOf = (root: string, modelId: ModelId): string => join(root, REFERENCES, modelId);

export async function beginFolder(root: string, id: string, material: string | null): Promise<void> {
  const folder = folderOf(root, id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (material !== null) await writeFile(join(folder, MATERIAL), material, { mode: 0o600 });
}

/** @throws LonghandError `not-found` when the folder was deleted by somebody else */
export async function materialOf(root: string, id: string): Promise<string> {
  const text = await readFile(join(folderOf(root, id), MATERIAL), 'utf8').catch(() => null);
  if (text === null) throw new LonghandError('not-found', `[quality] the text of test ${id} is no longer there`);
  return text;
}

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Removes what belongs to no unfinished test and to no model. */
export async function sweepFolders(
  root: string,
  isTest: (id: string) => boolean,
  isModel: (id: string) => boolean,
): Promise<void> {
  for (const name of await readdir(root).catch((): string[] => []))
    if (name !== REFERENCES && !isTest(name)) await removeFolder(join(root, name));
  for (const name of await readdir(join(root, REFERENCES)).catch((): string[] => []))
    if (!isModel(name)) await removeFolder(join(root, REFERENCES, name));
}
