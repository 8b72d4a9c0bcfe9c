import { lstat, rm } from 'node:fs/promises';

/** Removes a link of ours; never a real file. */
export async function removeLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink()) await rm(path);
}
