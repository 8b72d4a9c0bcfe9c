// In CI a failed test is retried once, alone. If it passes then, it depends on load or on the clock: the closing lines name it
// as unsteady, so that somebody mends it, and unrelated work is not held up.

/** More failures than this are no coincidence and are not retried. */
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
  // Another test failed, or fewer ran than were asked for: the retry says nothing about the first failure.
  const known = again.failures.length === failures.length - unsteady.length && again.passed >= unsteady.length;
  if (!known) return { ...first, unsteady: [] };
  // The tests after a failed one in the same story were skipped with it, and have run now.
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
