import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BLOCK, type BlockMap } from './blocks.ts';
import { type Bytes, DownloadError } from './state.ts';

/** The file a download grows in, at its full length from the start. */
export type PartFile = Awaited<ReturnType<typeof openPartFile>>;

/** No room: how many bytes are missing. */
export class DiskFull extends Error {
  readonly missing: Bytes;
  constructor(missing: Bytes) {
    super(`[disk] ${missing} bytes are missing`);
    this.missing = missing;
  }
}

const HEADROOM: Bytes = 64 * 1024 * 1024;

/** Free bytes on the volume of `path` that a download may use. */
export async function freeSpace(path: string): Promise<Bytes> {
  const volume = await statfs(path);
  return Math.max(0, volume.bavail * volume.bsize - HEADROOM);
}

export async function openPartFile(path: string, size: Bytes) {
  await mkdir(dirname(path), { recursive: true });
  const existing = await stat(path).catch(() => null);
  const handle = await open(path, existing ? 'r+' : 'w+').catch(translate);
  if (existing?.size !== size) await handle.truncate(size).catch(translate);

  const readBlock = async (map: BlockMap, block: number) => {
    const bytes = Buffer.allocUnsafe(map.length(block));
    await handle.read(bytes, 0, bytes.length, map.start(block)).catch(translate);
    return bytes;
  };
  return {
    path,
    /** Whether it was there before, with what an earlier run wrote. */
    existed: existing !== null,
    async write(bytes: Uint8Array, at: Bytes): Promise<void> {
      let written = 0;
      while (written < bytes.length) {
        const result = await handle.write(bytes, written, bytes.length - written, at + written).catch(translate);
        written += result.bytesWritten;
      }
    },
    /** On the platter before the journal may say so. */
    async sync(): Promise<void> {
      await handle.datasync().catch(translate);
    },
    async hashOfBlock(map: BlockMap, block: number): Promise<string> {
      return hashOf(await readBlock(map, block));
    },
    /** SHA-256 of the whole file, a megabyte at a time. */
    async hash(progress: (checked: Bytes) => void, signal: AbortSignal): Promise<string> {
      const hash = createHash('sha256');
      const buffer = Buffer.allocUnsafe(4 * BLOCK);
      for (let at = 0; at < size; ) {
        signal.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at).catch(translate);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
        at += bytesRead;
        progress(at);
      }
      return hash.digest('hex');
    },
    /** Moves the finished file into place in one step. Nothing is replaced half. */
    async moveTo(target: string): Promise<void> {
      await handle.sync().catch(translate);
      await handle.close();
      await mkdir(dirname(target), { recursive: true });
      await rename(path, target).catch(translate);
    },
    close: () => handle.close(),
    async remove(): Promise<void> {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function translate(error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') throw new DiskFull(0);
  throw new DownloadError('disk', `[disk] ${error.message}`, { cause: error });
}
