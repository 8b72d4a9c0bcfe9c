import { basename } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { ClassName } from './classes.ts';
import { type Counts, keepCounts } from './counts.ts';

export type Tally = {
  /** Tries one attack. It was refused when `attack` ends without an error: it asserts what must not have happened. */
  refused(what: string, attack: () => unknown): Promise<void>;
  /** Fails the test with every attack that went through since the last time. */
  settle(): void;
};

/** Counts the attacks of one file of tests, so it is made once a file, outside its tests. A test that tried some ends with
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
