// In CI a failed test is tried once more, alone. One that passes then depends on load or on the clock: it is named in the
// closing lines as unsteady, for somebody to mend, and does not hold up what has nothing to do with it.

/** More than so many are no coincidence: they stay failed. */
export const MAX_UNSTEADY = 3;

/** @param {import('./runners.mjs').Count} first
 *  @param {(patterns: string[]) => Promise<import('./runners.mjs').Count>} run
 *  @returns {Promise<import('./runners.mjs').Count & { unsteady: import('./runners.mjs').Failure[] }>} */
export async function withSecondTry(first, run) {
  const { failures } = first;
  const files = [...new Set(failures.map(({ file }) => file))];
  if (failures.length === 0 || failures.length > MAX_UNSTEADY || files.includes('')) return { ...first, unsteady: [] };
  const again = await run(files);
  const still = new Set(again.failures.map(keyOf));
  const unsteady = failures.filter((failure) => !still.has(keyOf(failure)));
  // Something else failed there, or less was run than asked for: nothing is known about the first failure.
  const known = again.failures.length === failures.length - unsteady.length && again.passed >= unsteady.length;
  if (!known) return { ...first, unsteady: [] };
  // What stood behind a failed test of a story was left out with it, and has had its turn now.
  const leftOut = first.skipped.filter(({ file, reason }) => reason === '' && files.includes(file));
  const stillOut = new Set(again.skipped.map(keyOf));
  const caughtUp = new Set(leftOut.filter((skip) => !stillOut.has(keyOf(skip))));
  return {
    passed: first.passed + unsteady.length + caughtUp.size,
    failures: failures.filter((failure) => still.has(keyOf(failure))),
    skipped: first.skipped.filter((skip) => !caughtUp.has(skip)),
    unsteady,
  };
}

const keyOf = ({ file, name }) => `${file}\n${name}`;
