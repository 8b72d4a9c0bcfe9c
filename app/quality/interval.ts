/** A figure with its 95 % interval. */
export type Estimate = { value: number; low: number; high: number };

const Z = 1.959964;

/** A share, with the interval of Wilson (1927). */
export function shareOf(hits: number, of: number): Estimate {
  if (of === 0) return { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  const share = hits / of;
  const middle = (share + (Z * Z) / (2 * of)) / (1 + (Z * Z) / of);
  const half = (Z * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of))) / (1 + (Z * Z) / of);
  return { value: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** The mean of a sequence. Neighbours in a text are correlated, so the variance is taken over blocks. */
export function meanOf(values: readonly number[], block = 64): Estimate {
  const value = average(values);
  const blocks: number[] = [];
  for (let at = 0; at < values.length; at += block) blocks.push(average(values.slice(at, at + block)));
  if (blocks.length < 2) return { value, low: Number.NaN, high: Number.NaN };
  const spread = blocks.reduce((sum, one) => sum + (one - value) ** 2, 0) / (blocks.length - 1);
  const half = Z * Math.sqrt(spread / blocks.length);
  return { value, low: value - half, high: value + half };
}

const average = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
