import { VALUES } from './near-duplicates.ts';
import type { Sentence } from './sentences.ts';

//  Detects repetition without a period: lines that recur in changing order. Tracks how much of the recent text
//  occurred at least twice before, verbatim.

/** Weight of one token in the exponential average: half of it is the last 180 tokens. */
const FADE = 1 / 256;
const MOST = 1 << 14;

export interface KnownLines {
  readonly times: Map<number, number>;
  share: number;
  /** Share of lines that are table rows, or have the shape of the previous line with other values. */
  listed: number;
  /** Tokens since the share was last low, and the mean number of copies of recent lines. */
  tokens: number;
  copies: number;
  shape: number;
  since: number;
}

export const noLines = (): KnownLines => ({
  times: new Map(),
  share: 0,
  listed: 0,
  tokens: 0,
  copies: 1,
  shape: 0,
  since: 0,
});

/** Consecutive lines of one shape are a list, in which recurring values are normal. */
export function notice(known: KnownLines, { exact, shape, start, end, slots, row }: Sentence): void {
  const listed = row ? new Set(slots).size < VALUES : shape === known.shape && slots.length > 0;
  known.shape = shape;
  const times = known.times.get(exact) ?? 0;
  if (times > 0 || known.times.size < MOST) known.times.set(exact, times + 1);
  const tokens = end - start;
  const weight = 1 - (1 - FADE) ** tokens;
  known.share += weight * ((times >= (row ? 4 : 2) && !listed ? 1 : 0) - known.share);
  known.listed += weight * (Number(listed) - known.listed);
  known.copies += weight * (times + 1 - known.copies);
  if (known.share < 0.5) {
    known.tokens = 0;
    known.since = end;
  } else known.tokens += tokens;
}
