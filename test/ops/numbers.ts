// Random inputs and comparisons.
import { expect } from 'vitest';

/** Deterministic: the same name gives the same numbers on every machine. Normal, mean 0. */
export function normal(name: string, count: number, deviation = 1): Float32Array {
  let state = 2166136261;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 16777619) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return Float32Array.from(
    { length: count },
    () => deviation * Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next()),
  );
}

export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] as number) - (b[i] as number));
    if (!(difference <= largest)) largest = difference; // NaN ends here too
  }
  return largest;
}

/** Largest difference relative to the largest value, so that one threshold serves every scale. */
export function relativeDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let peak = 0;
  for (let i = 0; i < expected.length; i++) peak = Math.max(peak, Math.abs(expected[i] as number));
  return largestDifference(actual, expected) / Math.max(peak, 1e-30);
}

export const bytes = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

export const concat = (...parts: readonly Float32Array[]): Float32Array =>
  Float32Array.from(parts.flatMap((part) => [...part]));

/** Rows of several matrices beside each other: a packed projection. */
export function besides(rows: number, ...parts: readonly Float32Array[]): Float32Array {
  const row = (t: number) =>
    parts.flatMap((part) => [...part.subarray((t * part.length) / rows, ((t + 1) * part.length) / rows)]);
  return Float32Array.from(Array.from({ length: rows }, (_, t) => row(t)).flat());
}

/** The sizes at which blocks, tiles and vectors begin, end or do not fit. */
export const sizes = [1, 2, 63, 64, 65, 100, 127] as const;
/** Ways to split rows into passes. */
export const splits = (rows: number): Int32Array[] =>
  [1, 7, 64].map((size) =>
    Int32Array.from({ length: Math.ceil(rows / size) }, (_, i) => Math.min(size, rows - i * size)),
  );
