import { createHash } from 'node:crypto';
import { mkdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { failureOf, LonghandError } from '../../protocol/index.ts';
import { openRegularToWrite } from '../../store/folder/open-regular.ts';
import { type Bytes, codeOfFailed, DownloadError } from '../network/download-error.ts';
import { hashOf } from '../storage/block-hash.ts';
import { BLOCK, type BlockMap } from '../storage/block-map.ts';
import { isDiskFull } from '../storage/disk-space.ts';

/** The file of a download in progress, preallocated to its full length. */
export type PartFile = Awaited<ReturnType<typeof openPartFile>>;

const HEADROOM: Bytes = 64 * 1024 * 1024;

/** Free bytes on the volume of `path` that a download may use. */
export const freeSpace = async (path: string): Promise<Bytes> => Math.max(0, await roomOn(path));

/** The same minus a reserve for other programs: negative if the disk is nearly full. */
export async function roomOn(path: string): Promise<Bytes> {
  const volume = await statfs(path);
  return volume.bavail * volume.bsize - HEADROOM;
}

export async function openPartFile(path: string, size: Bytes) {
  await mkdir(dirname(path), { recursive: true });
  const existing = await stat(path).catch(() => null);
  const handle = await openRegularToWrite(path).catch((error) => translate(error.cause ?? error));
  if (existing?.size !== size) {
    await handle.truncate(size).catch(async (error) => {
      await handle.close();
      // An existing file contains blocks; an empty one must not look as if it did.
      if (!existing) await rm(path, { force: true });
      translate(error);
    });
  }

  const readBlock = async (map: BlockMap, block: number) => {
    const bytes = Buffer.allocUnsafe(map.length(block));
    await handle.read(bytes, 0, bytes.length, map.start(block)).catch(translate);
    return bytes;
  };
  return {
    path,
    /** Whether it existed before, with data of an earlier run. */
    existed: existing !== null,
    /** Writes consecutive pieces without joining them first. */
    async write(pieces: readonly Uint8Array[], at: Bytes): Promise<void> {
      let [left, place] = [pieces, at];
      while (left.length > 0) {
        const { bytesWritten } = await handle.writev(left, place).catch(translate);
        place += bytesWritten;
        left = after(left, bytesWritten);
      }
    },
    /** Syncs to disk; must happen before the journal records it. */
    async sync(): Promise<void> {
      await handle.datasync().catch(translate);
    },
    async hashOfBlock(map: BlockMap, block: number): Promise<string> {
      return hashOf([await readBlock(map, block)]);
    },
    /** SHA-256 of the whole file, computed in steps of a megabyte. */
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
    /** Moves the finished file into place atomically. */
    async moveTo(target: string): Promise<void> {
      await mkdir(dirname(target), { recursive: true }).catch(translate);
      await handle.sync().catch(translate);
      await rename(path, target).catch(translate);
      await handle.close();
    },
    close: () => handle.close(),
    async remove(): Promise<void> {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}

/** The pieces without their first bytes. */
function after(pieces: readonly Uint8Array[], bytes: Bytes): Uint8Array[] {
  let passed = 0;
  return pieces.flatMap((piece) => {
    const from = Math.max(0, Math.min(piece.length, bytes - passed));
    passed += piece.length;
    return from < piece.length ? [piece.subarray(from)] : [];
  });
}

function translate(error: NodeJS.ErrnoException): never {
  if (isDiskFull(error)) throw error;
  const code = codeOfFailed(error);
  throw code === 'disk'
    ? new DownloadError(code, `[disk] ${error.message}`, { cause: error })
    : new LonghandError(failureOf(error).code, `[disk] ${error.message}`, { cause: error });
}
