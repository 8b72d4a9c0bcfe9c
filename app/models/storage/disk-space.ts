import { LonghandError } from '../../protocol/index.ts';
import type { Bytes } from '../network/download-error.ts';

/** Whether an error of a file or the database means that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof LonghandError) return error.code === 'disk-full';
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

export type Space = {
  /** Bytes still to be written. */
  left: () => Bytes;
  /** Bytes that may be written now; negative if even the reserve is used up. */
  room: () => Promise<Bytes>;
  sleep: (ms: number) => Promise<void>;
};

const POLL_MS = 2000;
/** The missing bytes reported for a small write that failed. */
const LEAST: Bytes = 1;

/** Runs work that needs disk space and retries it when there is some. Yields the missing bytes while waiting. */
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

/** Waits after a write that failed for lack of space. */
export async function* afterFull(space: Space): AsyncGenerator<Bytes, void> {
  yield Math.max(LEAST, await missingNow(space));
  await space.sleep(POLL_MS);
  yield* untilRoom(space);
}

/** Waits until there is space for the rest. */
export async function* untilRoom(space: Space): AsyncGenerator<Bytes, void> {
  for (let missing = await missingNow(space); missing > 0; missing = await missingNow(space)) {
    yield missing;
    await space.sleep(POLL_MS);
  }
}

const missingNow = async ({ left, room }: Space): Promise<Bytes> => left() - (await room());
