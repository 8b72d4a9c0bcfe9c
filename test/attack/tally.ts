import { basename } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { ClassName } from './classes.ts';
import { type Counts, keepCounts } from './counts.ts';

export type Tally = {
  /** Tries one attack. It counts as refused if `attack` throws nothing: it asserts that no harm was done. */
  refused(what: string, attack: () => unknown): Promise<void>;
  /** Fails the test with all attacks that succeeded since the last call. */
  settle(): void;
};

/** Counts the attacks of a test file; create it once per file, outside the tests. A test with attacks ends with
 *  `settle()`. */
export function tallyOf(name: ClassName): Tally {
  const counts: Counts = { tried: 0, refused: 0 };
  const wentThrough: string[] = [];
  let file = '';
  afterAll(() => keepCounts(name, file, counts));
  return {
    async refused(what, attack) {
      file ||= basename(expect.getState().testPath ?? '');
      counts.tried++;
      try {
        await attack();
        counts.refused++;
      } catch (error) {
        wentThrough.push(`${what}: ${error instanceof Error ? error.message : error}`);
      }
    },
    settle: () => expect(wentThrough.splice(0)).toEqual([]),
  };
}
