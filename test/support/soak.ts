/** `npm run test:soak` repeats random tests much longer than `npm test` does. */
export const soaking: boolean = process.env.LONGHAND_SOAK === '1';
export const runs = (short: number, factor = 50): number => (soaking ? short * factor : short);
/** A test's time limit for that many runs. */
export const limitMs = (short: number, factor = 50): number => (soaking ? short * factor : short);

/** Seconds that `npm run test:fuzz` gives to one property instead of a number of runs. */
const fuzzSeconds = Number(process.env.LONGHAND_FUZZ_SECONDS ?? 0);

/** Parameters of a fast-check property: so many runs, or as many as fit into the time. */
export const fuzzed = (short: number): { numRuns: number; interruptAfterTimeLimit?: number } =>
  fuzzSeconds > 0
    ? { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: fuzzSeconds * 1000 }
    : { numRuns: runs(short) };
export const fuzzLimitMs = (short: number): number => (fuzzSeconds > 0 ? fuzzSeconds * 1000 + short : limitMs(short));
