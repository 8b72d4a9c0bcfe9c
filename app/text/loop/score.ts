import forest from './score.json' with { type: 'json' };

//  How likely a round is a loop: boosted trees of depth three over what the round is made of. test/bench/fit-loops.ts fitted them.

/** Shares are of the tokens of the latest copy. */
export interface Features {
  /** Logarithms to base 2: copies, tokens of one, tokens of all but the first, sentences of one. */
  readonly copies: number;
  readonly period: number;
  readonly length: number;
  readonly lines: number;
  /** Same to the letter, a counter that moved, values seen before, other values, other words, seen for the first time. */
  readonly same: number;
  readonly counter: number;
  readonly back: number;
  readonly values: number;
  readonly words: number;
  readonly first: number;
  /** Content words in common with the copy before. */
  readonly similar: number;
  /** With a word, with a number that was never in the text. */
  readonly fresh: number;
  readonly numbers: number;
  /** Rows of values, prose, takes the matter up again. */
  readonly rows: number;
  readonly prose: number;
  readonly cued: number;
  /** As far from the copy before as the latest sentence is; copied as often. */
  readonly aligned: number;
  readonly deep: number;
  /** Words of the latest sentence, of the whole copy; values among all. */
  readonly fixed: number;
  readonly said: number;
  readonly density: number;
  /** Copies that brought nothing new; copies in all that was written since the second began. */
  readonly stale: number;
  readonly repeated: number;
  /** How far apart the copies stand, and how much longer they get. */
  readonly stretched: number;
  readonly growing: number;
}

/** Feature names, and each tree: three levels of [feature, threshold] in the order of a heap, then eight leaves. */
interface Forest {
  readonly names: readonly string[];
  readonly bias: number;
  readonly trees: readonly (readonly number[])[];
}

const { names, bias, trees } = forest as Forest;
const SPLITS = 7;

/** The logarithm of the odds that the round is a loop. */
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
