import type { Dims, Heads } from '../partial-rope.ts';
import { cholesky, damped, times, timesTransposed } from './matrices.ts';

//  What an error of a key or of a value costs at the output of attention, to first order. An error of a key e moves the score of a
//  query q by q e / sqrt(dim), and the output by as much as the values differ: q^T e e^T q times the energy of what a head's values
//  give around their mean. An error of a value is multiplied by the columns of o_proj of the heads that read it.

/** Of one layer, fp32 by rows: q [query * dim, hidden], v [kv * dim, hidden], o [hidden, query * dim]. */
export type AttentionWeights = { q: Float32Array; v: Float32Array; o: Float32Array };

/** A block of rows of the stacked matrix [keys without positions; values] whose errors count as |L^T e|^2. */
export type Block = { size: number; lower: Float64Array };

const DAMPING = 1e-2;

/** Blocks in the order of the rows: the keys of each key-value head, then its values. `covariance` of the inputs, [hidden, hidden]. */
export function outputMetric(
  { q, v, o }: AttentionWeights,
  covariance: Float64Array,
  dims: readonly Dims[],
  heads: Heads,
): Block[] {
  const { dim, kv, query } = heads;
  const share = query / kv;
  const hidden = Math.sqrt(covariance.length);
  const values = dims.map((_, group) => rowsOf(v, hidden, group * dim, dim));
  const spread = values.map((rows) => timesTransposed(times(rows, covariance, hidden), rows, hidden));
  const keys = dims.map(({ rest }, group) => {
    const sum = new Float64Array(rest.length ** 2);
    for (let head = group * share; head < (group + 1) * share; head++) {
      const reads = columnProducts(o, query * dim, head * dim, dim);
      const gain = reads.reduce((total, value, i) => total + value * (spread[group]?.[i] ?? 0), 0) / dim;
      const rows = Float32Array.from(rest.flatMap((at) => [...rowsOf(q, hidden, head * dim + at, 1)]));
      const products = timesTransposed(times(rows, covariance, hidden), rows, hidden);
      for (let i = 0; i < sum.length; i++) (sum[i] as number) += gain * (products[i] as number);
    }
    return blockOf(sum, rest.length);
  });
  const read = dims.map((_, group) => {
    const sum = new Float64Array(dim * dim);
    for (let head = group * share; head < (group + 1) * share; head++) {
      const products = columnProducts(o, query * dim, head * dim, dim);
      for (let i = 0; i < sum.length; i++) (sum[i] as number) += products[i] as number;
    }
    return blockOf(sum, dim);
  });
  return [...keys, ...read];
}

const blockOf = (matrix: Float64Array, size: number): Block => ({
  size,
  lower: cholesky(damped(matrix, size, DAMPING), size),
});

const rowsOf = (matrix: Float32Array, columns: number, first: number, count: number): Float32Array =>
  matrix.subarray(first * columns, (first + count) * columns);

/** M^T M of columns [first, first + count) of a matrix with `columns`. */
function columnProducts(matrix: Float32Array, columns: number, first: number, count: number): Float64Array {
  const out = new Float64Array(count * count);
  for (let row = 0; row < matrix.length; row += columns) {
    for (let i = 0; i < count; i++) {
      const factor = matrix[row + first + i] as number;
      for (let j = 0; j < count; j++) (out[i * count + j] as number) += factor * (matrix[row + first + j] as number);
    }
  }
  return out;
}
