import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Database } from '../store/database.ts';
import { addBlob, hasBlob, removeBlob } from '../store/downloads.ts';

//  models/
//    blobs/<sha256>            every file once, by its content
//    incoming/<n>.part         what is being fetched
//    <org>--<name>@<commit>/   a model: names of the repository, each a hard link to its blob
//
//  A file that several models share is stored once and goes with the last of them.

/** The folder of downloaded models. */
export type Shelf = {
  readonly folder: string;
  partPath(download: string, file: number): string;
  blobPath(sha256: string): string;
  /** Whether a file with this content is here already, whole. */
  has(sha256: string, size: number): Promise<boolean>;
  /** Moves a finished, verified file among the blobs. */
  accept(path: string, sha256: string, size: number): Promise<void>;
  /** Makes the model's folder appear with all its files at once. Returns its path. */
  assemble(model: string, files: readonly { name: string; sha256: string }[]): Promise<string>;
  /** Removes a model's folder and the blobs that no other model uses. Returns the bytes that were freed. */
  discard(path: string): Promise<number>;
};

export function createShelf(db: Database, folder: string): Shelf {
  const blobs = join(folder, 'blobs');
  const blobPath = (sha256: string) => join(blobs, sha256);

  return {
    folder,
    blobPath,
    partPath: (download, file) => join(folder, 'incoming', `${download}-${file}.part`),
    async has(sha256, size) {
      if (!hasBlob(db, sha256, size)) return false;
      const found = await stat(blobPath(sha256)).catch(() => null);
      if (found?.size === size) return true;
      removeBlob(db, sha256);
      return false;
    },
    async accept(path, sha256, size) {
      await mkdir(blobs, { recursive: true });
      await rename(path, blobPath(sha256));
      addBlob(db, sha256, size);
    },
    async assemble(model, files) {
      const target = join(folder, model);
      const building = `${target}.new`;
      await rm(building, { recursive: true, force: true });
      for (const { name, sha256 } of files) {
        const path = join(building, name);
        await mkdir(dirname(path), { recursive: true });
        await linkOrCopy(blobPath(sha256), path);
      }
      await rm(target, { recursive: true, force: true });
      await rename(building, target);
      return target;
    },
    async discard(path) {
      await rm(path, { recursive: true, force: true });
      let freed = 0;
      for (const sha256 of await readdir(blobs).catch((): string[] => [])) {
        const blob = await stat(blobPath(sha256)).catch(() => null);
        if (blob && blob.nlink <= 1) {
          await rm(blobPath(sha256), { force: true });
          removeBlob(db, sha256);
          freed += blob.size;
        }
      }
      return freed;
    },
  };
}

/** Volumes without hard links (exFAT) hold a copy instead. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM' && error.code !== 'ENOTSUP' && error.code !== 'EXDEV' && error.code !== 'EMLINK')
      throw error;
    await copyFile(from, to);
  });
}
