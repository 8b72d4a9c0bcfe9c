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
  /** Of one file. */
  bytes: 2 * 1024 ** 3,
  /** Of all that are kept, and how many those are. */
  allBytes: 8 * 1024 ** 3,
  files: 10_000,
  /** Left free on the disk, whatever comes: chats are saved there as well. */
  freeBytes: 1024 ** 3,
  keptMs: 60 * 60 * 1000,
  /** A model is copied into the library in its turn, which may come after other downloads. */
  modelKeptMs: 24 * 60 * 60 * 1000,
};

/** Files from a browser, written as they come and kept until they have been read, at most an hour. */
export type Uploads = {
  /** `announced`: how many bytes the browser says there are; 0 when it does not. `set`: the id of files that belong together: those
   *  of a model, which keep their names below one folder and may be as large as the disk allows.
   *  @throws LonghandError `bad-request`, `conflict`, `too-large`, `disk-full`, `cancelled` */
  receive(body: ReadableStream<Uint8Array>, name: string, announced: number, set?: string): Promise<Upload>;
  close(): void;
};

export function createUploads(dataFolder: string, limits = uploadLimits): Uploads {
  const folder = emptyFolder(dataFolder, 'uploads');
  /** Bytes of each, as far as it came. */
  const uploads = new Map<string, number>();
  const coming = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  const all = () => [...uploads.values()].reduce((sum, bytes) => sum + bytes, 0);

  async function discard(path: string) {
    await rm(path, { force: true });
    uploads.delete(path);
  }

  /** Two that are written into one, or a file where a folder stands, spoil each other. */
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
        return discard(path); // what stays goes at the next start
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

const SET = /^[0-9a-f-]{36}$/;
/** A name with at most three folders above it; none of them may lead elsewhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NAME = /^(?:(?!\.)[^/\\\u0000-\u001f]{1,200}\/){0,3}(?!\.)[^/\\\u0000-\u001f]{1,200}$/;

function placeInSet(folder: string, set: string, name: string): string {
  if (SET.test(set) && NAME.test(name)) return join(folder, set, ...name.split('/'));
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
