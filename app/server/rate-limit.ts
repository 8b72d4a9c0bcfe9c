/** Wrong secrets per minute before further wrong ones are rejected unread for the rest of it. A correct one is
 *  always accepted, so that nobody can lock the owner out. */
export const maxGuesses = 20;
const windowMs = 60_000;

/** Counts wrong secrets by the monotonic clock, since the wall clock can be set. */
export function createRateLimit(now: () => number = () => performance.now()) {
  let times: number[] = [];
  return {
    /** Records one; true if there were too many. */
    wrong(): boolean {
      const since = now() - windowMs;
      times = [...times.filter((time) => time > since), now()].slice(-maxGuesses - 1);
      return times.length > maxGuesses;
    },
  };
}
