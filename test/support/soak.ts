/** True for `npm run test:soak`, which repeats random tests much longer than `npm test`. */
export const soaking: boolean = process.env.LONGHAND_SOAK === '1';
export const runs = (short: number, factor = 50): number => (soaking ? short * factor : short);
/** The time limit of a test with that many runs. */
export const limitMs = (short: number, factor = 50): number => (soaking ? short * factor : short);

/** The seconds that `npm run test:fuzz` spends on one property, instead of a number of runs. */
const fuzzSeconds = Number(process.env.LONGHAND_FUZZ_SECONDS ?? 0);

/** Parameters of a fast-check property: this many runs, or as many as the time allows. */
export const fuzzed = (short: number): { numRuns: number; interruptAfterTimeLimit?: number } =>
  fuzzSeconds > 0
    ? { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: fuzzSeconds * 1000 }
    : { numRuns: runs(short) };
export const fuzzLimitMs = (short: number): number => (fuzzSeconds > 0 ? fuzzSeconds * 1000 + short : limitMs(short));
