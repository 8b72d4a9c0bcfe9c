import { LonghandError } from '../../protocol/index.ts';
import type { Bytes } from '../network/download-error.ts';

/** Whether there was no room: for a file, or for the database. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof LonghandError) return error.code === 'disk-full';
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

export type Space = {
  /** What is still to be written. */
  left: () => Bytes;
  /** What may be written now; below zero when even the little that everybody needs is not there. */
  room: () => Promise<Bytes>;
  sleep: (ms: number) => Promise<void>;
};

const POLL_MS = 2000;
/** Of a small write that failed nobody knows more. */
const LEAST: Bytes = 1;

/** Does what needs room, again when there is some. Tells the bytes that are missing while it waits. */
export async function* whenRoom<T>(work: () => T | Promise<T>, space: Space): AsyncGenerator<Bytes, T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
    yield* afterFull(space);
  }
}

/** Waits after a write that found no room. */
export async function* afterFull(space: Space): AsyncGenerator<Bytes, void> {
  yield Math.max(LEAST, await missingNow(space));
  await space.sleep(POLL_MS);
  yield* untilRoom(space);
}

/** Waits until what is left has room. */
export async function* untilRoom(space: Space): AsyncGenerator<Bytes, void> {
  for (let missing = await missingNow(space); missing > 0; missing = await missingNow(space)) {
    yield missing;
    await space.sleep(POLL_MS);
  }
}

const missingNow = async ({ left, room }: Space): Promise<Bytes> => left() - (await room());
