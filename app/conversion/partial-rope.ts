import { LonghandError } from '../protocol/index.ts';

export type Rope = 'high' | 'low' | 'uniform' | '2-norm';
export type Heads = { query: number; kv: number; dim: number };
/** Pairs (i, i + dim / 2) that keep their rotary position: [layers, key-value heads, pairs], ascending. */
export type Pairs = number[][][];

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

/** The selections that are the same in every layer and head (arXiv 2502.14837). */
export function fixedPairs(rope: Exclude<Rope, '2-norm'>, count: number, heads: Heads, layers: number): Pairs {
  const half = heads.dim / 2;
  if (rope === 'uniform' && half % count !== 0) {
    const allowed = upTo(half + 1).filter((pairs) => pairs > 0 && half % pairs === 0);
    throw new LonghandError(
      'bad-request',
      `[--pairs] got ${count}; with --rope uniform and ${half} pairs per head, expected one of ${allowed.join(', ')}`,
    );
  }
  const step = half / count;
  const pick = { high: (i: number) => i, low: (i: number) => half - count + i, uniform: (i: number) => i * step }[rope];
  return upTo(layers).map(() => upTo(heads.kv).map(() => upTo(count).map(pick)));
}

/** The highest-scoring pairs of one layer. Score: over the query heads of a key head, the sum of the mean norms of the query pairs,
 *  times that of the key's. `lengths`: of all query heads, then of all key heads. */
export function strongestPairs(lengths: Float64Array, count: number, heads: Heads): number[][] {
  const half = heads.dim / 2;
  const share = heads.query / heads.kv;
  return upTo(heads.kv).map((group) => {
    const scores = upTo(half).map((pair) =>
      upTo(share).reduce(
        (sum, i) =>
          sum + (lengths[(group * share + i) * half + pair] ?? 0) * (lengths[(heads.query + group) * half + pair] ?? 0),
        0,
      ),
    );
    return upTo(half)
      .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
      .slice(0, count)
      .sort((a, b) => a - b);
  });
}

export type Dims = { retained: number[]; rest: number[] };

/** The dims of each key-value head in column order: lower halves of the retained pairs, upper halves, then the others ascending. */
export const dimsOf = (pairs: readonly number[][], { dim }: Heads): Dims[] =>
  pairs.map((own) => {
    const retained = [...own, ...own.map((pair) => pair + dim / 2)];
    return { retained, rest: upTo(dim).filter((i) => !retained.includes(i)) };
  });
