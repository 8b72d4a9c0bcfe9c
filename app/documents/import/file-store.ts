import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LonghandError } from '../../protocol/index.ts';
import { newId } from '../../store/database/uuid.ts';
import { openRegular, piecesOfRegular } from '../../store/folder/open-regular.ts';

//  documents/<sha256>.<extension>   every file, stored once by its content; the extension is for programs that open it
//  documents/<id>.part              copies in progress

/** Only files with such names are ours: the folder may be a link to somewhere else. */
const OURS = /^(?:[0-9a-f]{64}(?:\..*)?|[0-9a-f-]{36}\.part)$/;

export const MAX_BYTES = 2 * 1024 ** 3;

export type Copy = { storedName: string; sha256: string; bytes: number; changedAt: number };

export type FileStore = {
  pathOf(storedName: string): string;
  /** Copies a consistent snapshot of a file. `within`: a folder that it must not lead out of.
   *  @throws LonghandError `not-found`, `permission`, `too-large`, `disk-full`, `conflict` (it keeps changing) */
  take(path: string, fileName: string, within?: string | null): Promise<Copy>;
  /** The current hash of a file; null if unreadable. */
  hash(path: string): Promise<string | null>;
  /** Bytes [start, end) of a copy. */
  read(storedName: string, start: number, end: number): Promise<{ bytes: Buffer; total: number }>;
  /** Removes all copies that are not among these and existed before the call. */
  keepOnly(names: ReadonlySet<string>): Promise<void>;
};

/** File timestamps come from a clock with coarse steps: a file written just now may have a slightly earlier time. */
const CLOCK_TICK_MS = 10;

export function createFileStore(folder: string): FileStore {
  const pathOf = (storedName: string) => join(folder, storedName);
  const startedAt = Date.now() - CLOCK_TICK_MS;

  async function copyOnce(file: FileHandle, path: string, part: string): Promise<{ sha256: string; bytes: number }> {
    const hash = createHash('sha256');
    let bytes = 0;
    const hashed = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) return done(tooLarge(path, bytes));
        hash.update(chunk);
        done(null, chunk);
      },
    });
    const source = file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 });
    await pipeline(source, hashed, createWriteStream(part, { mode: 0o600, flush: true }));
    return { sha256: hash.digest('hex'), bytes };
  }

  return {
    pathOf,
    async take(path, fileName, within = null) {
      const part = pathOf(`${newId()}.part`);
      let file: FileHandle | null = null;
      try {
        await mkdir(folder, { recursive: true });
        for (let attempt = 0; attempt < 3; attempt++) {
          await file?.close();
          file = within === null ? await openRegular(path) : await openWithin(path, within);
          const before = await file.stat();
          if (before.size > MAX_BYTES) throw tooLarge(fileName, before.size);
          const { sha256, bytes } = await copyOnce(file, path, part);
          const after = await file.stat();
          if (after.mtimeMs !== before.mtimeMs || after.size !== before.size || after.size !== bytes) continue;
          const storedName = sha256 + endingOf(fileName);
          await rename(part, pathOf(storedName));
          return { storedName, sha256, bytes, changedAt: after.mtimeMs };
        }
        throw new LonghandError('conflict', `[documents] ${fileName} is being written by another program`);
      } catch (error) {
        throw copyError(error, fileName, path);
      } finally {
        await file?.close();
        await rm(part, { force: true }).catch(() => {}); // it does not exist
      }
    },
    async hash(path) {
      const hash = createHash('sha256');
      try {
        for await (const piece of piecesOfRegular(path)) hash.update(piece);
        return hash.digest('hex');
      } catch {
        return null;
      }
    },
    async read(storedName, start, end) {
      const file = await open(pathOf(storedName), 'r').catch((error) => {
        throw copyError(error, storedName, pathOf(storedName));
      });
      try {
        const { size } = await file.stat();
        const bytes = Buffer.alloc(Math.max(0, Math.min(end, size) - start));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        return { bytes: bytes.subarray(0, bytesRead), total: size };
      } finally {
        await file.close();
      }
    },
    async keepOnly(names) {
      for (const name of await readdir(folder).catch(() => [])) {
        if (names.has(name) || !OURS.test(name)) continue;
        // Newer files are being copied right now.
        const found = await stat(pathOf(name)).catch(() => null);
        if (found && found.ctimeMs < startedAt) await rm(pathOf(name), { force: true });
      }
    },
  };
}

/** Someone who can write to a watched folder must not be able to read the user's other files through a link, or through one that replaces
 *  a file or folder after it was checked. So the path of the opened descriptor is checked. */
async function openWithin(path: string, folder: string): Promise<FileHandle> {
  const file = await openRegular(path);
  try {
    const real = await realpath(path);
    const [opened, found] = await Promise.all([file.stat(), lstat(real)]);
    const same = opened.dev === found.dev && opened.ino === found.ino;
    if (same && isBelow(real, await realpath(folder))) return file;
    throw new LonghandError('permission', `[documents] ${path} leads out of the watched folder ${folder}`);
  } catch (error) {
    await file.close();
    throw error;
  }
}

export const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Only extensions that are safe for file systems and shells. */
function endingOf(fileName: string): string {
  const ending = extname(fileName).toLowerCase();
  return /^\.[a-z0-9]{1,8}$/.test(ending) ? ending : '';
}

const tooLarge = (name: string, bytes: number) =>
  new LonghandError('too-large', `[documents] ${name} has ${bytes} bytes, at most ${MAX_BYTES} are allowed`);

function copyError(error: unknown, fileName: string, source: string): LonghandError {
  if (error instanceof LonghandError) return error;
  const { code, message, path } = error as NodeJS.ErrnoException;
  if ((code === 'ENOENT' || code === 'ENOTDIR') && path === source) {
    return new LonghandError('not-found', `[documents] ${fileName} no longer exists`);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new LonghandError('disk-full', `[documents] there is no space left to store ${fileName}`);
  }
  return new LonghandError('permission', `[documents] ${fileName}: ${message}`);
}
