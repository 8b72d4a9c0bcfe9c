import { lstat, rm } from 'node:fs/promises';

/** Takes away a link of ours; a real file is never touched. */
export async function removeLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink()) await rm(path);
}
