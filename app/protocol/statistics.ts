//  Statistics of measured runs: median, spread, and whether two sets of runs differ at all.

export type Spread = { median: number; low: number; high: number; count: number };

/** Median, 10th and 90th percentile. Null without numbers. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const sorted = values
    .filter((value): value is number => value !== null && Number.isFinite(value))
    .sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.1),
    high: quantile(sorted, 0.9),
    count: sorted.length,
  };
}

/** Linear interpolation, as R's type 7. `sorted` is not empty. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}

export type Comparison =
  | { verdict: 'too-few' }
  /** `change`: of B relative to A; `noise`: the relative change that the spread alone can explain. */
  | { verdict: 'none' | 'higher' | 'lower'; change: number; noise: number };

/** Clocks and schedulers alone move a median this much. */
const LEAST_NOISE = 0.005;
export const FEWEST_RUNS = 3;

/** Medians differ if they are more than two standard errors of their difference apart, estimated from
 *  the median absolute deviation, which one disturbed run does not inflate. */
export function compare(a: readonly (number | null)[], b: readonly (number | null)[]): Comparison {
  const one = centre(a);
  const other = centre(b);
  if (!one || !other || one.median === 0) return { verdict: 'too-few' };
  const change = (other.median - one.median) / one.median;
  const noise = Math.max(LEAST_NOISE, (2 * Math.hypot(one.error, other.error)) / Math.abs(one.median));
  if (Math.abs(change) <= noise) return { verdict: 'none', change, noise };
  return { verdict: change > 0 ? 'higher' : 'lower', change, noise };
}

/** 1.4826: from the median deviation to the standard deviation; 1.2533: from the error of a mean to that of a median. */
function centre(values: readonly (number | null)[]): { median: number; error: number } | null {
  const spread = spreadOf(values);
  if (!spread || spread.count < FEWEST_RUNS) return null;
  const deviations = values.flatMap((value) =>
    value !== null && Number.isFinite(value) ? [Math.abs(value - spread.median)] : [],
  );
  const deviation = spreadOf(deviations)?.median ?? 0;
  return { median: spread.median, error: (1.2533 * 1.4826 * deviation) / Math.sqrt(spread.count) };
}
