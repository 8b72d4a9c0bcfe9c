//  Boosted trees of depth three for the logarithm of odds, with thresholds out of some quantiles and leaves that shrink. Nothing
//  is drawn at random: the same examples give the same trees.

export interface Example {
  readonly values: readonly number[];
  readonly positive: boolean;
  readonly weight: number;
}

export interface FitOptions {
  readonly trees: number;
  readonly rate: number;
  /** Weight of examples that a leaf needs, and what shrinks it. */
  readonly least: number;
  readonly shrink: number;
}

export interface Fitted {
  readonly bias: number;
  readonly trees: number[][];
}

const BINS = 48;
const DEPTH = 3;
const SPLITS = 2 ** DEPTH - 1;
/** A threshold that no value is above, where no split gains anything. */
const ALL_BELOW = 1e9;

export function fitTrees(examples: readonly Example[], { trees, rate, least, shrink }: FitOptions): Fitted {
  const width = examples[0]?.values.length ?? 0;
  const cuts = Array.from({ length: width }, (_, feature) => cutsOf(examples, feature));
  const binned = cuts.map((cut, feature) =>
    Uint8Array.from(examples, ({ values }) => binOf(cut, values[feature] as number)),
  );
  const sum = (positive: boolean) =>
    examples.reduce((total, one) => total + (one.positive === positive ? one.weight : 0), 0);
  const bias = Math.log(sum(true) / sum(false));
  const odds = new Float64Array(examples.length).fill(bias);
  const grown = Array.from({ length: trees }, () => {
    const tree = grow(examples, odds, binned, cuts, { least, shrink, rate });
    return tree;
  });
  return { bias: rounded(bias), trees: grown };
}

const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

function cutsOf(examples: readonly Example[], feature: number): number[] {
  const sorted = Float64Array.from(examples, ({ values }) => values[feature] as number).sort();
  const cuts = new Set<number>();
  for (let bin = 1; bin < BINS; bin++) cuts.add(rounded(sorted[Math.floor((bin * sorted.length) / BINS)] as number));
  return [...cuts].sort((a, b) => a - b);
}

function binOf(cuts: readonly number[], value: number): number {
  let bin = 0;
  while (bin < cuts.length && value > (cuts[bin] as number)) bin += 1;
  return bin;
}

type Sums = { gradient: number; curve: number };
type Growth = { least: number; shrink: number; rate: number };

function grow(
  examples: readonly Example[],
  odds: Float64Array,
  binned: readonly Uint8Array[],
  cuts: readonly number[][],
  { least, shrink, rate }: Growth,
): number[] {
  const gradient = new Float64Array(examples.length);
  const curve = new Float64Array(examples.length);
  for (const [at, { positive, weight }] of examples.entries()) {
    const chance = 1 / (1 + Math.exp(-(odds[at] as number)));
    gradient[at] = weight * (Number(positive) - chance);
    curve[at] = weight * chance * (1 - chance);
  }
  const node = new Uint8Array(examples.length);
  const tree: number[] = [];
  for (let level = 0; level < DEPTH; level++) {
    const from = 2 ** level - 1;
    for (let split = from; split < 2 * from + 1; split++) {
      const best = bestSplit(node, split, binned, cuts, gradient, curve, {
        least,
        shrink,
      });
      tree[2 * split] = best.feature;
      tree[2 * split + 1] = cuts[best.feature]?.[best.bin] ?? ALL_BELOW;
      const bins = binned[best.feature] as Uint8Array;
      for (let at = 0; at < node.length; at++) {
        if (node[at] === split) node[at] = 2 * split + ((bins[at] as number) > best.bin ? 2 : 1);
      }
    }
  }
  const leaves = Array.from({ length: SPLITS + 1 }, (): Sums => ({ gradient: 0, curve: 0 }));
  for (let at = 0; at < node.length; at++) {
    const leaf = leaves[(node[at] as number) - SPLITS] as Sums;
    leaf.gradient += gradient[at] as number;
    leaf.curve += curve[at] as number;
  }
  for (const [at, leaf] of leaves.entries())
    tree[2 * SPLITS + at] = rounded((rate * leaf.gradient) / (leaf.curve + shrink));
  for (let at = 0; at < node.length; at++)
    odds[at] = (odds[at] as number) + (tree[SPLITS + (node[at] as number)] as number);
  return tree;
}

function bestSplit(
  node: Uint8Array,
  split: number,
  binned: readonly Uint8Array[],
  cuts: readonly number[][],
  gradient: Float64Array,
  curve: Float64Array,
  { least, shrink }: { least: number; shrink: number },
): { feature: number; bin: number } {
  let best = { feature: 0, bin: BINS, gain: 0 };
  const value = (one: Sums) => one.gradient ** 2 / (one.curve + shrink);
  for (const [feature, bins] of binned.entries()) {
    const sums = Array.from(
      { length: (cuts[feature] as number[]).length + 1 },
      (): Sums => ({ gradient: 0, curve: 0 }),
    );
    for (let at = 0; at < node.length; at++) {
      if (node[at] !== split) continue;
      const sum = sums[bins[at] as number] as Sums;
      sum.gradient += gradient[at] as number;
      sum.curve += curve[at] as number;
    }
    const all = sums.reduce((one, other) => add(one, other), {
      gradient: 0,
      curve: 0,
    });
    let left: Sums = { gradient: 0, curve: 0 };
    for (let bin = 0; bin + 1 < sums.length; bin++) {
      left = add(left, sums[bin] as Sums);
      const right = {
        gradient: all.gradient - left.gradient,
        curve: all.curve - left.curve,
      };
      if (left.curve < least || right.curve < least) continue;
      const gain = value(left) + value(right) - value(all);
      if (gain > best.gain) best = { feature, bin, gain };
    }
  }
  return best;
}

const add = (one: Sums, other: Sums): Sums => ({
  gradient: one.gradient + other.gradient,
  curve: one.curve + other.curve,
});
