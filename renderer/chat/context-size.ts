const STEP = 16 * 1024;

/** The next size, in steps of 16k, that holds the prompt and still leaves a quarter of it for the answer. Null when the
 *  model cannot hold the prompt at all. */
export function nextContextSize(needed: number, longest: number): number | null {
  if (needed >= longest) return null;
  return Math.min(longest, Math.ceil((needed * 1.25) / STEP) * STEP);
}
