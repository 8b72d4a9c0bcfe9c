/** `npm run test:soak` repeats random tests much longer than `npm test` does. */
export const soaking: boolean = process.env.LONGHAND_SOAK === '1';
export const runs = (short: number, factor = 50): number => (soaking ? short * factor : short);
/** A test's time limit for that many runs. */
export const limitMs = (short: number, factor = 50): number => (soaking ? short * factor : short);
