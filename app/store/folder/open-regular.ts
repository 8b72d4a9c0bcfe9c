import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { codeOfSystem, LonghandError } from '../../protocol/index.ts';

//  Safe opening of untrusted paths. Opening a named pipe blocks until somebody writes to it: asynchronously that occupies one of
//  Node's few file threads, synchronously the whole process; and a device may be endless, or have side effects when
//  opened. So: stat, open without blocking, and stat what was opened.

/** Windows has neither. */
const {
  O_RDONLY,
  O_RDWR,
  O_CREAT,
  O_NONBLOCK = 0,
  O_NOCTTY = 0,
} = constants as { O_RDONLY: number; O_RDWR: number; O_CREAT: number } & Record<string, number | undefined>;
const FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY;
const WRITE_FLAGS = O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY;

/** Opens a regular file for reading. The caller closes it.
 *  @throws LonghandError `unreadable` for anything other than a regular file, else as `fileFailure` */
export const openRegular = (path: string): Promise<FileHandle> => opened(path, FLAGS);

/** The same for reading and writing; creates a missing file, private to its owner. Does not truncate.
 *  @throws LonghandError as `openRegular` */
export const openRegularToWrite = (path: string): Promise<FileHandle> => opened(path, WRITE_FLAGS);

async function opened(path: string, flags: number): Promise<FileHandle> {
  try {
    const there = flags === WRITE_FLAGS ? await stat(path).catch(() => null) : await stat(path);
    if (there) demandFile(path, there);
    const handle = await open(path, flags, 0o600);
    try {
      demandFile(path, await handle.stat());
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw fileFailure(path, error);
  }
}

/** All bytes of a regular file, at most `most`, even if it grows while being read.
 *  @throws LonghandError as `openRegular`, and `too-large` */
export async function readRegular(path: string, most: number): Promise<Buffer> {
  const handle = await openRegular(path);
  try {
    const { size } = await handle.stat();
    demandSize(path, size, most);
    const pieces: Buffer[] = [];
    for (let length = 0; ; ) {
      const piece = Buffer.allocUnsafe(roomFor(size));
      const { bytesRead } = await handle.read(piece, 0, piece.length, length);
      if (bytesRead === 0) return Buffer.concat(pieces, length);
      length += bytesRead;
      demandSize(path, length, most);
      pieces.push(piece.subarray(0, bytesRead));
    }
  } catch (error) {
    throw fileFailure(path, error);
  } finally {
    await handle.close();
  }
}

/** The same synchronously, for small files read at startup. */
export function readRegularSync(path: string, most: number): Buffer {
  let file: number | null = null;
  try {
    demandFile(path, statSync(path));
    file = openSync(path, FLAGS);
    const found = fstatSync(file);
    demandFile(path, found);
    demandSize(path, found.size, most);
    const pieces: Buffer[] = [];
    for (let length = 0; ; ) {
      const piece = Buffer.allocUnsafe(roomFor(found.size));
      const read = readSync(file, piece, 0, piece.length, length);
      if (read === 0) return Buffer.concat(pieces, length);
      length += read;
      demandSize(path, length, most);
      pieces.push(piece.subarray(0, read));
    }
  } catch (error) {
    throw fileFailure(path, error);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** A regular file in chunks. */
export async function* piecesOfRegular(
  path: string,
  {
    start = 0,
    end = Number.POSITIVE_INFINITY,
    atOnce = 1 << 20,
  }: { start?: number; end?: number; atOnce?: number } = {},
): AsyncGenerator<Buffer> {
  const handle = await openRegular(path);
  try {
    for (let at = start; at < end; ) {
      const piece = Buffer.allocUnsafe(Math.min(atOnce, end - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Converts file system errors for the protocol. Other errors stay unchanged. */
export function fileFailure(path: string, error: unknown): unknown {
  // Node rejects names with a zero byte as invalid arguments; for the user, there is no such file.
  const code = path.includes('\0') ? 'not-found' : codeOfSystem(error);
  return code === null
    ? error
    : new LonghandError(code, `[file] ${path}: ${(error as Error).message}`, { cause: error });
}

function demandFile(path: string, found: Stats): void {
  if (found.isFile()) return;
  throw new LonghandError('unreadable', `[file] ${path} is ${kindOf(found)}, expected a file`);
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a named pipe';
  if (found.isSocket()) return 'a socket';
  return 'a device';
}

function demandSize(path: string, size: number, most: number): void {
  if (size <= most) return;
  throw new LonghandError('too-large', `[file] ${path} has more than ${most} bytes, which is the limit`);
}

/** One byte more than the file size, to detect its end with the first read; kernel files report 0 but have content. */
const roomFor = (size: number): number => Math.max(size + 1, 64 * 1024);
