import { link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import type { ModelId } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { openRegularToWrite, piecesOfRegular, readRegular } from '../../store/folder/open-regular.ts';
import {
  addBlob,
  blocksOfBlob,
  forgetBlocksOfBlob,
  hasBlob,
  listDownloads,
  removeBlob,
  setBlocksOfBlob,
} from '../../store/models/downloads.ts';
import { findModel } from '../../store/models/models.ts';
import { damagedIn } from './block-repair.ts';
import { exists } from './fs-probe.ts';
import type { LibraryLocation } from './library-location.ts';

//  models/
//    blobs/<sha256>            every file, stored once by its content
//    blobs/<sha256>.damaged    a damaged file: its intact blocks are reused when it is downloaded again
//    incoming/<n>.part         downloads in progress
//    <org>--<name>@<commit>/   a model: names of the repository, each a hard link to its blob
//      .longhand.json          its origin and the hashes of its files
//    <name>@made-<id>/         the same of a model that was made here (../shrinking/); its files are no blobs
//    removed/<id>/             a removed model that can still be restored
//
//  Always in the data folder:
//    linked/<name>.gguf        a symbolic link to a file of another program that has no extension
//
//  A file shared by several models is stored once and deleted with the last of them.

/** The folder of downloaded models. */
export type BlobStore = {
  folder(): string;
  partPath(download: string, file: number): string;
  blobPath(sha256: string): string;
  /** Whether a complete file with this content exists. */
  has(sha256: string, size: number): Promise<boolean>;
  /** Moves a complete, verified file into the blobs and stores its block hashes; `also` is written in the same
   *  transaction. */
  accept(path: string, sha256: string, size: number, blocks: Uint8Array, also: () => void): Promise<void>;
  /** Completes an `accept` that was interrupted by the end of the app. False if there is nothing to complete. */
  acceptAgain(path: string, sha256: string | null, size: number): Promise<boolean>;
  /** Block hashes of a file that is or was complete here. */
  blocksOf(sha256: string): Uint8Array | null;
  /** The remains of a damaged file. */
  damaged(sha256: string): Promise<{ path: string; hashes: Uint8Array } | null>;
  /** Creates the model's folder with all its files atomically. Returns its path. */
  assemble(model: string, manifest: Manifest): Promise<string>;
  /** Checks whether it is readable: its drive may not be mounted. */
  look(): Promise<boolean>;
  /** Whether a path is in this folder. */
  owns(path: string): boolean;
  /** Bytes that deleting a model's folder would free. */
  frees(path: string): Promise<number>;
  /** Moves a model's folder to the trash until it is restored or deleted. Returns its path there. */
  setAside(path: string, id: string): Promise<void>;
  takeBack(id: string, path: string): Promise<void>;
  /** Deletes a folder in the trash. */
  discardAside(id: string): Promise<void>;
  /** Deletes a model's folder and the blobs that no other model uses. Returns the bytes freed. */
  discard(path: string): Promise<number>;
  /** Deletes blobs that no model and no download uses. Returns the bytes freed. */
  sweep(): Promise<number>;
  /** Empties the trash at start; a model that is still in the library is restored: the app ended during its removal. */
  discardRemoved(): Promise<void>;
  /** Removes a damaged file of a model from the store; its remains are kept for the repair. */
  drop(sha256: string, path: string): Promise<void>;
};

/** Metadata beside the files of a model, so that a folder is self-describing without the database. */
export const Manifest = z.object({
  name: z.string(),
  source: z.string(),
  repository: z.string(),
  commit: z.string(),
  files: z.array(
    z.object({ name: z.string(), size: z.number(), sha256: z.string(), etag: z.string().nullable().default(null) }),
  ),
  /** When all files last had these hashes. */
  checkedAt: z.number(),
});
export type Manifest = z.infer<typeof Manifest>;

/** `source` of a model that was made here of another one; `repository` is the name of that. */
export const MADE = 'made';

const MANIFEST = '.longhand.json';
/** A repository of 10,000 files, 200 bytes for each, and room. */
const MAX_MANIFEST = 16 * 1024 * 1024;
export const isManifest = (path: string): boolean => basename(path) === MANIFEST;
/** The temporary name of a model's folder while it is being created or removed. */
export const building = (folder: string): string => `${folder}.new`;
export const isModelFolder = async (folder: string): Promise<boolean> =>
  /.@[\w.-]+\.new$/.test(folder) || exists(join(folder, MANIFEST));
const never = new AbortController().signal;

/** Null for a folder that was not made by `assemble`. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  try {
    return Manifest.parse(JSON.parse((await readRegular(join(folder, MANIFEST), MAX_MANIFEST)).toString()));
  } catch {
    return null;
  }
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, MANIFEST);
  await writeFile(`${path}.new`, JSON.stringify(manifest));
  await rename(`${path}.new`, path);
}

export function createBlobStore(db: Database, location: LibraryLocation): BlobStore {
  const { folder } = location;
  const blobs = () => join(folder(), 'blobs');
  const blobPath = (sha256: string) => join(blobs(), sha256);
  const asidePath = (id: string) => join(folder(), 'removed', id);
  const damagedPath = (sha256: string) => `${blobPath(sha256)}.damaged`;

  return {
    folder,
    look: location.look,
    owns: location.owns,
    blobPath,
    partPath: (download, file) => join(folder(), 'incoming', `${download}-${file}.part`),
    async has(sha256, size) {
      if (!hasBlob(db, sha256, size)) return false;
      const found = await stat(blobPath(sha256)).catch(() => null);
      if (found?.size === size) return true;
      if (await location.look()) removeBlob(db, sha256);
      return false;
    },
    // Record the blob before renaming it: an unrecorded blob would be downloaded again.
    async accept(path, sha256, size, blocks, also) {
      await mkdir(blobs(), { recursive: true });
      db.transaction(() => {
        addBlob(db, sha256, size);
        setBlocksOfBlob(db, sha256, blocks);
        also();
      });
      await rename(path, blobPath(sha256));
    },
    async acceptAgain(path, sha256, size) {
      if (sha256 === null || !hasBlob(db, sha256, size) || !(await exists(path))) return false;
      await rename(path, blobPath(sha256));
      return true;
    },
    blocksOf: (sha256) => blocksOfBlob(db, sha256),
    async damaged(sha256) {
      const hashes = blocksOfBlob(db, sha256);
      const path = damagedPath(sha256);
      return hashes !== null && (await exists(path)) ? { path, hashes } : null;
    },
    async assemble(model, manifest) {
      const target = join(folder(), model);
      const partial = building(target);
      await rm(partial, { recursive: true, force: true });
      for (const { name, sha256 } of manifest.files) {
        const path = join(partial, name);
        await mkdir(dirname(path), { recursive: true });
        await linkOrCopy(blobPath(sha256), path);
      }
      await writeManifest(partial, manifest);
      await rm(target, { recursive: true, force: true });
      await rename(partial, target);
      return target;
    },
    async frees(path) {
      const manifest = await readManifest(path);
      if (!manifest) return 0;
      const sizes = manifest.files.map(async ({ name }) => {
        const found = await stat(join(path, name)).catch(() => null);
        // Two links, one here and one among the blobs: no other model uses it.
        return found && found.nlink <= 2 ? found.size : 0;
      });
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    async setAside(path, id) {
      const aside = asidePath(id);
      await mkdir(dirname(aside), { recursive: true });
      await rm(aside, { recursive: true, force: true });
      await rename(path, aside);
    },
    async takeBack(id, path) {
      await rename(asidePath(id), path);
    },
    async discardAside(id) {
      await this.discard(asidePath(id));
    },
    async discardRemoved() {
      for (const id of await readdir(join(folder(), 'removed')).catch((): string[] => [])) {
        const path = findModel(db, id as ModelId)?.path;
        const [name] = path ? relative(folder(), path).split(sep) : [];
        const target = name && path && this.owns(path) ? join(folder(), name) : null;
        if (target === null) await this.discardAside(id);
        else if (!(await exists(target))) await this.takeBack(id, target);
      }
    },
    async drop(sha256, path) {
      const blob = await stat(blobPath(sha256)).catch(() => null);
      const file = await stat(path).catch(() => null);
      // Without hard links the model has a copy, and the blob may be intact.
      const apart = blob !== null && blob.ino !== file?.ino;
      const hashes = blocksOfBlob(db, sha256);
      if (apart && hashes && (await damagedIn(blobPath(sha256), blob.size, hashes, never)).length === 0) return;
      removeBlob(db, sha256);
      await rename(blob === null ? path : blobPath(sha256), damagedPath(sha256)).catch(() => {}); // both are missing
    },
    async discard(path) {
      await rm(path, { recursive: true, force: true });
      return this.sweep();
    },
    async sweep() {
      const wanted = new Set(listDownloads(db).flatMap(({ files }) => files.map((file) => file.sha256)));
      let freed = 0;
      for (const name of await readdir(blobs()).catch((): string[] => [])) {
        const sha256 = name.replace(/\.damaged$/, '');
        const blob = await stat(join(blobs(), name)).catch(() => null);
        if (blob && blob.nlink <= 1 && !wanted.has(sha256)) {
          await rm(join(blobs(), name), { force: true });
          removeBlob(db, sha256);
          forgetBlocksOfBlob(db, sha256);
          freed += blob.size;
        }
      }
      return freed;
    },
  };
}

/** On volumes without hard links (exFAT), copies instead. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM' && error.code !== 'ENOTSUP' && error.code !== 'EXDEV' && error.code !== 'EMLINK')
      throw error;
    await copy(from, to);
  });
}

async function copy(from: string, to: string): Promise<void> {
  const target = await openRegularToWrite(to);
  try {
    await target.truncate();
    for await (const piece of piecesOfRegular(from)) await target.writeFile(piece);
  } finally {
    await target.close();
  }
}
