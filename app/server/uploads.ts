import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { LonghandError, type Upload } from '../protocol/index.ts';

const mostBytes = 2 * 1024 ** 3;
const keptMs = 60 * 60 * 1000;

/** Files from a browser, written as they come and kept until they have been read, at most an hour. */
export type Uploads = {
  /** @throws LonghandError `too-large`, `disk-full`, `cancelled` */
  receive(body: ReadableStream<Uint8Array>, name: string): Promise<Upload>;
  close(): void;
};

export function createUploads(): Uploads {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-uploads-'));
  const timers = new Set<NodeJS.Timeout>();

  async function receive(body: ReadableStream<Uint8Array>, given: string): Promise<Upload> {
    const name = basename(given.replaceAll('\\', '/')).slice(0, 200) || 'file';
    const path = join(folder, randomUUID());
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Uint8Array, _, done) {
        bytes += chunk.length;
        if (bytes > mostBytes)
          done(new LonghandError('too-large', `[upload] ${name} has more than ${mostBytes} bytes`));
        else done(null, chunk);
      },
    });
    try {
      await pipeline(Readable.fromWeb(body), counted, createWriteStream(path, { mode: 0o600 }));
    } catch (error) {
      await rm(path, { force: true });
      throw uploadError(error, name);
    }
    timers.add(setTimeout(() => rm(path, { force: true }).catch(() => {}), keptMs).unref());
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

function uploadError(error: unknown, name: string): LonghandError {
  if (error instanceof LonghandError) return error;
  const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  return new LonghandError(
    full ? 'disk-full' : 'cancelled',
    `[upload] ${name}: ${error instanceof Error ? error.message : error}`,
  );
}
