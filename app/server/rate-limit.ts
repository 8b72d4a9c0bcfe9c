/** Wrong secrets in a minute before those that give them are sent away unheard for the rest of it. Whoever has the right one is
 *  let in all the same: nobody can lock the owner out. */
export const maxGuesses = 20;
const windowMs = 60_000;

/** Counts wrong secrets by the monotonic clock, since the clock on the wall can be set. */
export function createRateLimit(now: () => number = () => performance.now()) {
  let times: number[] = [];
  return {
    /** Notes one; true when there were too many. */
    wrong(): boolean {
      const since = now() - windowMs;
      times = [...times.filter((time) => time > since), now()].slice(-maxGuesses - 1);
      return times.length > maxGuesses;
    },
  };
}
