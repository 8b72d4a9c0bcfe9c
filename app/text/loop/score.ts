import forest from './score.json' with { type: 'json' };

//  The probability that a cycle is a loop: boosted trees of depth three over its features, fitted by test/bench/loops/fit-loops.ts.

/** Features; shares are of the tokens of the latest copy. */
export interface Features {
  /** Base-2 logarithms: copies, tokens per copy, tokens of all but the first, sentences per copy. */
  readonly copies: number;
  readonly period: number;
  readonly length: number;
  readonly lines: number;
  /** Shares: identical, counter moved, values seen before, other values, other words, first occurrence. */
  readonly same: number;
  readonly counter: number;
  readonly back: number;
  readonly values: number;
  readonly words: number;
  readonly first: number;
  /** Share of content words in common with the previous copy. */
  readonly similar: number;
  /** Shares with a word, and with a number, that is new in the text. */
  readonly fresh: number;
  readonly numbers: number;
  /** Shares of table rows, of prose, and of sentences that reconsider. */
  readonly rows: number;
  readonly prose: number;
  readonly cued: number;
  /** Shares at the same distance from the previous copy as the latest sentence, and copied as often. */
  readonly aligned: number;
  readonly deep: number;
  /** Words of the latest sentence, of the whole copy; share of values. */
  readonly fixed: number;
  readonly said: number;
  readonly density: number;
  /** Share of copies without anything new; share of copies in the text since the second began. */
  readonly stale: number;
  readonly repeated: number;
  /** Distance of the copies, and its growth. */
  readonly stretched: number;
  readonly growing: number;
}

/** Feature names, and trees: three levels of [feature, threshold] in heap order, then eight leaves. */
interface Forest {
  readonly names: readonly string[];
  readonly bias: number;
  readonly trees: readonly (readonly number[])[];
}

const { names, bias, trees } = forest as Forest;
const SPLITS = 7;

/** Log-odds that the cycle is a loop. */
export function scoreOf(features: Features): number {
  const values = names.map((name) => features[name as keyof Features]);
  let sum = bias;
  for (const tree of trees) {
    let node = 0;
    while (node < SPLITS) {
      const value = values[tree[2 * node] as number] as number;
      node = 2 * node + (value > (tree[2 * node + 1] as number) ? 2 : 1);
    }
    sum += tree[2 * SPLITS + node - SPLITS] as number;
  }
  return sum;
}
