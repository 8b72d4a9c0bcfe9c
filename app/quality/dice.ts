/** A number from 0 to below. */
export type Roll = (below: number) => number;

/** The same for the same numbers, on every machine (mulberry32). */
export function dice(seed: number): Roll {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export const one = <T>(list: readonly T[], roll: Roll): T => list[roll(list.length)] as T;

export function shuffled<T>(list: readonly T[], roll: Roll): T[] {
  const out = [...list];
  for (let at = out.length - 1; at > 0; --at) {
    const other = roll(at + 1);
    [out[at], out[other]] = [out[other] as T, out[at] as T];
  }
  return out;
}
