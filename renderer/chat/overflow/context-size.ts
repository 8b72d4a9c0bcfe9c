const STEP = 16 * 1024;

/** The next size, in steps of 16k, that holds the prompt and still leaves a quarter of it for the answer. Null when the
 *  model cannot hold the prompt at all. */
export function nextContextSize(needed: number, longest: number): number | null {
  if (needed >= longest) return null;
  return Math.min(longest, Math.ceil((needed * 1.25) / STEP) * STEP);
}

const SMALLEST = 512;

/** The next power of two below `current`, or what is known to fit. Null when less is not worth a chat. */
export function smallerContext(current: number, fits: number | null): number | null {
  const half = current < 2 ? 0 : 2 ** (Math.ceil(Math.log2(current)) - 1);
  const size = fits === null ? half : Math.min(half, Math.floor(fits / 256) * 256);
  return size < SMALLEST ? null : size;
}
