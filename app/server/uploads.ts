import { randomUUID } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { codeOfSystem, guarded, LonghandError, type Upload } from '../protocol/index.ts';
import { emptyFolder } from '../store/folder/temporary-folders.ts';

export const uploadLimits = {
  /** Maximum per file. */
  bytes: 2 * 1024 ** 3,
  /** Maximum total size and number of stored uploads. */
  allBytes: 8 * 1024 ** 3,
  files: 10_000,
  /** Reserve of free disk space, which chats need as well. */
  freeBytes: 1024 ** 3,
  keptMs: 60 * 60 * 1000,
  /** A model is copied into the library by the download queue, which may take a while. */
  modelKeptMs: 24 * 60 * 60 * 1000,
};

/** Files uploaded by a browser, stored until they are read, for at most an hour. */
export type Uploads = {
  /** `announced`: size according to the browser; 0 if not given. `set`: the id of files that belong together: those
   *  of a model, which keep their names in one folder and may be as large as the disk allows.
   *  @throws LonghandError `bad-request`, `conflict`, `too-large`, `disk-full`, `cancelled` */
  receive(body: ReadableStream<Uint8Array>, name: string, announced: number, set?: string): Promise<Upload>;
  close(): void;
};

export function createUploads(dataFolder: string, limits = uploadLimits): Uploads {
  const folder = emptyFolder(dataFolder, 'uploads');
  /** Bytes received so far, per upload. */
  const uploads = new Map<string, number>();
  const coming = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  const all = () => [...uploads.values()].reduce((sum, bytes) => sum + bytes, 0);

  async function discard(path: string) {
    // Where no file can be written, there may be none to remove.
    await rm(path, { force: true }).catch(() => {});
    uploads.delete(path);
  }

  /** Refuses an upload into a file that is being written, or a file in place of a folder. */
  function demandPlace(path: string, name: string) {
    const clashes = (one: string) => one.startsWith(path + sep) || path.startsWith(one + sep);
    if (!coming.has(path) && ![...uploads.keys()].some(clashes)) return;
    throw new LonghandError('conflict', `[upload] ${name} has the same path as another file of its set`);
  }

  async function receive(
    body: ReadableStream<Uint8Array>,
    given: string,
    announced: number,
    set?: string,
  ): Promise<Upload> {
    const plain = basename(given.replaceAll('\\', '/')).replaceAll('\0', '').slice(0, 200) || 'file';
    const name = set === undefined ? plain : given;
    const path = set === undefined ? join(folder, randomUUID()) : placeInSet(folder, set, name);
    const demand = (bytes: number, free: number) => {
      if (set === undefined && bytes > limits.bytes) {
        throw new LonghandError('too-large', `[upload] ${name} has more than ${limits.bytes} bytes`);
      }
      const waiting = set === undefined ? all() + bytes - (uploads.get(path) ?? 0) : 0;
      if (uploads.size - Number(uploads.has(path)) >= limits.files || waiting > limits.allBytes) {
        throw new LonghandError(
          'too-large',
          `[upload] ${name}: too much is waiting; the limit is ${limits.allBytes} bytes`,
        );
      }
      if (free - bytes < limits.freeBytes) {
        throw new LonghandError('disk-full', `[upload] ${name}: ${limits.freeBytes} bytes of the disk must stay free`);
      }
    };
    const free = await freeBytes(folder);
    demand(announced, free);
    if (set !== undefined) demandPlace(path, name);
    uploads.set(path, 0);
    coming.add(path);
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Uint8Array, _, done) {
        bytes += chunk.length;
        try {
          demand(bytes, free);
          uploads.set(path, bytes);
          done(null, chunk);
        } catch (error) {
          done(error as Error);
        }
      },
    });
    try {
      if (set !== undefined) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await pipeline(Readable.fromWeb(body), counted, createWriteStream(path, { mode: 0o600 }));
    } catch (error) {
      await discard(path);
      throw uploadError(error, name);
    } finally {
      coming.delete(path);
    }
    const timer = setTimeout(
      guarded(console.error, () => {
        timers.delete(timer);
        return discard(path); // leftovers are removed at the next start
      }),
      set === undefined ? limits.keptMs : limits.modelKeptMs,
    ).unref();
    timers.add(timer);
    return { path, name, bytes };
  }

  return {
    receive,
    close() {
      for (const timer of timers) clearTimeout(timer);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Limit of most file systems. */
const MAX_NAME_BYTES = 255;
const SET = /^[0-9a-f-]{36}$/;
/** A name with at most three parent folders, none of which may lead outside. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NAME = /^(?:(?!\.)[^/\\\u0000-\u001f]{1,200}\/){0,3}(?!\.)[^/\\\u0000-\u001f]{1,200}$/;

function placeInSet(folder: string, set: string, name: string): string {
  const parts = name.split('/');
  if (SET.test(set) && NAME.test(name) && parts.every((part) => Buffer.byteLength(part) <= MAX_NAME_BYTES))
    return join(folder, set, ...parts);
  throw new LonghandError(
    'bad-request',
    `[upload] set ${JSON.stringify(set.slice(0, 100))}, name ${JSON.stringify(name.slice(0, 300))}: a UUID and a path of at most four plain names are allowed`,
  );
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function uploadError(error: unknown, name: string): LonghandError {
  if (error instanceof LonghandError) return error;
  return new LonghandError(
    codeOfSystem(error) ?? 'cancelled',
    `[upload] ${name}: ${error instanceof Error ? error.message : error}`,
  );
}
