import { expect, test } from 'vitest';
import {
  backwards,
  cholesky,
  covarianceOf,
  crossProducts,
  damped,
  regressed,
  solveRows,
  times,
  timesTransposed,
} from '../../../../app/conversion/recovery/matrices.ts';

const values = (count: number, seed: number) =>
  Float64Array.from({ length: count }, (_, i) => Math.sin(i * i * seed + i));
const close = (got: ArrayLike<number>, wanted: ArrayLike<number>) => {
  expect(got.length).toBe(wanted.length);
  for (let i = 0; i < got.length; i++) expect(got[i]).toBeCloseTo(wanted[i] ?? Number.NaN, 9);
};
const turned = (matrix: ArrayLike<number>, columns: number) => {
  const rows = matrix.length / columns;
  return Float64Array.from(
    { length: matrix.length },
    (_, i) => matrix[(i % rows) * columns + Math.floor(i / rows)] ?? 0,
  );
};

test('products agree with each other', () => {
  const [a, b] = [values(6 * 5, 0.7), values(4 * 5, 1.3)];
  close(timesTransposed(a, b, 5), times(a, turned(b, 5), 5));
  close(crossProducts(turned(a, 5), 6, turned(b, 5), 4), timesTransposed(a, b, 5));
  close(
    covarianceOf(a, 5),
    crossProducts(a, 5, a, 5).map((sum) => sum / 6),
  );
});

test('a triangle solves what it is made of', () => {
  const matrix = damped(covarianceOf(values(40 * 5, 0.9), 5), 5, 0.1);
  const lower = cholesky(matrix, 5);
  close(timesTransposed(lower, lower, 5), matrix);
  const right = values(15, 0.4);
  close(times(solveRows(lower, right, 5), matrix, 5), right);
  const x = Float64Array.from(right.subarray(0, 5));
  backwards(lower, x, 5);
  close(times(x, lower, 5), right.subarray(0, 5));
  expect(() => cholesky(Float64Array.of(1, 2, 2, 1), 2)).toThrow(/row 1 of 2 leaves -3/);
});

test('a regression finds the map that made the outputs, and a large ridge keeps what is there', () => {
  const inputs = values(50 * 4, 0.3);
  const [truth, start] = [values(3 * 4, 1.1), values(3 * 4, 2.3)];
  const missing = timesTransposed(
    inputs,
    truth.map((one, i) => one - (start[i] ?? 0)),
    4,
  );
  close(regressed(start, missing, inputs, covarianceOf(inputs, 4), 1e-13), truth);
  const held = regressed(start, missing, inputs, covarianceOf(inputs, 4), 1e13);
  close(held, start);
});
