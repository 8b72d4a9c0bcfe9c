//  Dense matrices by rows, in the few forms that fitting by least squares needs.

type Numbers = Float32Array | Float64Array;

/** Sums over tokens of a b^T: a [tokens, rows], b [tokens, columns], the result [rows, columns]. Four tokens at a time: sums are read
 *  and written a quarter as often. */
export function crossProducts(a: Numbers, rows: number, b: Numbers, columns: number): Float64Array {
  const out = new Float64Array(rows * columns);
  const tokens = a.length / rows;
  const whole = tokens - (tokens % 4);
  for (let token = 0; token < whole; token += 4) addFour(out, a, b, { rows, columns, token });
  for (let token = whole; token < tokens; token++) {
    for (let i = 0; i < rows; i++) {
      const factor = a[token * rows + i] as number;
      for (let j = 0; j < columns; j++) (out[i * columns + j] as number) += factor * (b[token * columns + j] as number);
    }
  }
  return out;
}

type Place = { rows: number; columns: number; token: number };

function addFour(out: Float64Array, a: Numbers, b: Numbers, { rows, columns, token }: Place): void {
  const first = token * columns;
  const [second, third, fourth] = [first + columns, first + 2 * columns, first + 3 * columns];
  for (let i = 0; i < rows; i++) {
    const at = token * rows + i;
    const [f, g, h, k] = [a[at], a[at + rows], a[at + 2 * rows], a[at + 3 * rows]] as [number, number, number, number];
    const to = i * columns;
    for (let j = 0; j < columns; j++)
      (out[to + j] as number) +=
        f * (b[first + j] as number) +
        g * (b[second + j] as number) +
        h * (b[third + j] as number) +
        k * (b[fourth + j] as number);
  }
}

/** Means over tokens of x x^T, x [tokens, columns]: the result [columns, columns]. */
export function covarianceOf(x: Numbers, columns: number): Float64Array {
  const tokens = x.length / columns;
  return crossProducts(x, columns, x, columns).map((sum) => sum / tokens);
}

/** a b^T: a [rows, inner], b [columns, inner], the result [rows, columns]. */
export function timesTransposed(a: Numbers, b: Numbers, inner: number): Float64Array {
  const rows = a.length / inner;
  const columns = b.length / inner;
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += (a[i * inner + k] as number) * (b[j * inner + k] as number);
      out[i * columns + j] = sum;
    }
  }
  return out;
}

/** a b: a [rows, inner], b [inner, columns]. */
export function times(a: Numbers, b: Numbers, inner: number): Float64Array {
  const rows = a.length / inner;
  const columns = b.length / inner;
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < inner; k++) {
      const factor = a[i * inner + k] as number;
      for (let j = 0; j < columns; j++) (out[i * columns + j] as number) += factor * (b[k * columns + j] as number);
    }
  }
  return out;
}

/** `matrix` [size, size] with `share` of the mean of its diagonal added to it. */
export function damped(matrix: Float64Array, size: number, share: number): Float64Array {
  let trace = 0;
  for (let i = 0; i < size; i++) trace += matrix[i * (size + 1)] as number;
  const out = matrix.slice();
  for (let i = 0; i < size; i++) (out[i * (size + 1)] as number) += (share * trace) / size;
  return out;
}

/** The lower triangle L of a positive definite matrix L L^T, [size, size]. */
export function cholesky(matrix: Float64Array, size: number): Float64Array {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let value = matrix[i * size + j] as number;
      for (let k = 0; k < j; k++) value -= (lower[i * size + k] as number) * (lower[j * size + k] as number);
      if (i === j && !(value > 0))
        throw new RangeError(`[cholesky] row ${i} of ${size} leaves ${value}, expected more than 0`);
      lower[i * size + j] = i === j ? Math.sqrt(value) : value / (lower[j * size + j] as number);
    }
  }
  return lower;
}

/** The rows x of x L L^T = `right`, [rows, size]. */
export function solveRows(lower: Float64Array, right: Float64Array, size: number): Float64Array {
  const out = right.slice();
  for (let row = 0; row < out.length; row += size) {
    const x = out.subarray(row, row + size);
    for (let i = 0; i < size; i++) {
      let value = x[i] as number;
      for (let k = 0; k < i; k++) value -= (lower[i * size + k] as number) * (x[k] as number);
      x[i] = value / (lower[i * size + i] as number);
    }
    backwards(lower, x, size);
  }
  return out;
}

/** x of L^T x = x, in place: column by column, since a row of L is what lies together. */
export function backwards(lower: Float64Array, x: Float64Array, size: number): void {
  for (let i = size - 1; i >= 0; i--) {
    const value = (x[i] as number) / (lower[i * size + i] as number);
    x[i] = value;
    for (let k = 0; k < i; k++) (x[k] as number) -= (lower[i * size + k] as number) * value;
  }
}

/** Ridge regression towards what is there: W + R^T X (X^T X + ridge)^-1, the linear map of least squared error that stays near
 *  W. `residuals` [tokens, rows]: what W x falls short by; `inputs` x [tokens, columns]; `covariance` of the inputs. */
export function regressed(
  weights: Numbers,
  residuals: Numbers,
  inputs: Numbers,
  covariance: Float64Array,
  ridge: number,
): Float64Array {
  const columns = Math.sqrt(covariance.length);
  const rows = weights.length / columns;
  const tokens = inputs.length / columns;
  const lower = cholesky(damped(covariance, columns, ridge), columns);
  const correction = solveRows(lower, crossProducts(residuals, rows, inputs, columns), columns);
  return Float64Array.from(weights, (weight, i) => weight + (correction[i] as number) / tokens);
}
