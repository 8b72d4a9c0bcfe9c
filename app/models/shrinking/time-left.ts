/** Sooner than this nothing can be told. */
const LEAST_MS = 1500;
const LEAST_SHARE = 0.01;

/** Estimates the seconds until the end of a phase from what it has taken so far; null until that can be told. `clock`: in milliseconds. */
export function createTimeLeft(clock: () => number): (phase: string, share: number) => number | null {
  let now = '';
  let since = 0;
  let from = 0;
  return (phase, share) => {
    if (phase !== now) {
      now = phase;
      since = clock();
      from = share;
    }
    const elapsed = clock() - since;
    const gone = share - from;
    if (elapsed < LEAST_MS || gone < LEAST_SHARE) return null;
    return (elapsed * (1 - share)) / gone / 1000;
  };
}
