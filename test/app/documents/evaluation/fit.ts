//  Fits the weights by which a statement is judged (app/documents/search/ranking-features.ts): softmax over the statements of a question and
//  "none of them", Adam on the negative log likelihood, from zero; the same numbers give the same weights.

/** One question: features of its statements, and which of them say the answer; none: it has none. */
export type Example = { features: readonly (readonly number[])[]; says: readonly number[]; weight: number };
export type Model = { bias: number; factors: number[] };

const STEPS = 200;
const FIRST_BIAS = -3;

/** All statements one below the other. `rows`: [statements, size], scaled to mean 0 and spread 1. `starts`: of each question. */
type Table = { size: number; rows: Float64Array; says: Uint8Array; starts: number[]; shares: number[] };

/** `shrink`: how strongly weights are drawn to zero. */
export function fitWeights(examples: readonly Example[], shrink: number): Model {
  const { table, means, spreads } = tableOf(examples);
  const { size } = table;
  // The bias is the last.
  const weights = new Float64Array(size + 1);
  weights[size] = FIRST_BIAS;
  const [first, second] = [new Float64Array(size + 1), new Float64Array(size + 1)];
  for (let step = 1; step <= STEPS; step++) {
    const slope = slopeOf(table, weights);
    const rate = step < STEPS / 2 ? 0.1 : step < STEPS * 0.8 ? 0.03 : 0.01;
    for (let at = 0; at <= size; at++) {
      const own = of(slope, at) + (at < size ? shrink * of(weights, at) : 0);
      first[at] = 0.9 * of(first, at) + 0.1 * own;
      second[at] = 0.999 * of(second, at) + 0.001 * own ** 2;
      const moved = of(first, at) / (1 - 0.9 ** step) / (Math.sqrt(of(second, at) / (1 - 0.999 ** step)) + 1e-8);
      weights[at] = of(weights, at) - rate * moved;
    }
  }
  const factors = Array.from({ length: size }, (_, at) => of(weights, at) / of(spreads, at));
  return { bias: factors.reduce((sum, factor, at) => sum - factor * of(means, at), of(weights, size)), factors };
}

const of = (values: ArrayLike<number>, at: number): number => values[at] ?? 0;

function tableOf(examples: readonly Example[]): { table: Table; means: Float64Array; spreads: Float64Array } {
  const all = examples.flatMap(({ features }) => features);
  const size = all[0]?.length ?? 0;
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const table: Table = {
    size,
    rows: new Float64Array(all.length * size),
    says: new Uint8Array(all.length),
    starts: [0],
    shares: examples.map(({ weight }) => weight / total),
  };
  for (const { features, says } of examples) {
    const start = of(table.starts, table.starts.length - 1);
    for (const at of says) table.says[start + at] = 1;
    table.starts.push(start + features.length);
  }
  const [means, spreads] = [new Float64Array(size), new Float64Array(size)];
  for (const row of all) for (let at = 0; at < size; at++) means[at] = of(means, at) + of(row, at) / all.length;
  for (const row of all) {
    for (let at = 0; at < size; at++) spreads[at] = of(spreads, at) + (of(row, at) - of(means, at)) ** 2 / all.length;
  }
  for (let at = 0; at < size; at++) spreads[at] = Math.sqrt(of(spreads, at)) || 1;
  for (const [place, row] of all.entries()) {
    for (let at = 0; at < size; at++) table.rows[place * size + at] = (of(row, at) - of(means, at)) / of(spreads, at);
  }
  return { table, means, spreads };
}

function slopeOf({ size, rows, says, starts, shares }: Table, weights: Float64Array): Float64Array {
  const slope = new Float64Array(size + 1);
  for (const [question, share] of shares.entries()) {
    const [from, to] = [of(starts, question), of(starts, question + 1)];
    const scores = Array.from({ length: to - from }, (_, place) => {
      let score = of(weights, size);
      for (let at = 0; at < size; at++) score += of(rows, (from + place) * size + at) * of(weights, at);
      return score;
    });
    const top = Math.max(0, ...scores);
    const chances = scores.map((score) => Math.exp(score - top));
    const all = chances.reduce((sum, one) => sum + one, Math.exp(-top));
    const right = chances.reduce((sum, one, place) => sum + (says[from + place] === 1 ? one : 0), 0);
    for (const [place, chance] of chances.entries()) {
      const wanted = says[from + place] === 1 ? chance / right : 0;
      const off = (chance / all - wanted) * share;
      for (let at = 0; at < size; at++) slope[at] = of(slope, at) + off * of(rows, (from + place) * size + at);
      slope[size] = of(slope, size) + off;
    }
  }
  return slope;
}
