//  Figures with their 95 % intervals.

/** A figure with its 95 % interval; NaN where it cannot be told. */
export type Estimate = { value: number; low: number; high: number };

/** Of the normal distribution, for 95 %. */
export const Z = 1.959964;

/** A share, with the interval of Wilson (1927). */
export function shareOf(hits: number, of: number): Estimate {
  if (of === 0) return { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  const share = hits / of;
  const middle = (share + (Z * Z) / (2 * of)) / (1 + (Z * Z) / of);
  const half = (Z * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of))) / (1 + (Z * Z) / of);
  return { value: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** Neighbours in a text are correlated, so variances are taken over blocks of so many tokens. */
const BLOCK = 64;

/** The means of the blocks of a sequence. */
export function blockMeans(values: readonly number[], block = BLOCK): number[] {
  const blocks: number[] = [];
  for (let at = 0; at < values.length; at += block) blocks.push(average(values.slice(at, at + block)));
  return blocks;
}

/** The mean of a sequence. */
export const meanOf = (values: readonly number[], block = BLOCK): Estimate =>
  around(average(values), blockMeans(values, block));

/** `value` with the interval that the spread of these blocks gives. */
export function around(value: number, blocks: readonly number[]): Estimate {
  if (blocks.length < 2) return { value, low: Number.NaN, high: Number.NaN };
  const spread = blocks.reduce((sum, one) => sum + (one - value) ** 2, 0) / (blocks.length - 1);
  const half = Z * Math.sqrt(spread / blocks.length);
  return { value, low: value - half, high: value + half };
}

export const average = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
