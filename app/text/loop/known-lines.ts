import { VALUES } from './near-duplicates.ts';
import type { Sentence } from './sentences.ts';

//  A text that goes round without a period: its lines come again and again, in changing order. How much of what was written last
//  stood there twice before, to the letter.

/** Weight of one token in the running share: half of it is the last 180 tokens. */
const FADE = 1 / 256;
const MOST = 1 << 14;

export interface KnownLines {
  readonly times: Map<number, number>;
  share: number;
  /** Share of lines that are rows, or of the shape of the line before with other values. */
  listed: number;
  /** Tokens since the share was last small, and copies of the lines written last, at the mean. */
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

/** Lines of one shape in a row are a list: there, values that come back are the matter of it. */
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
