/** Finds stop strings in streamed text. Text that could still become one is held back. */
export type StopFinder = {
  /** Returns text that is certain; `stopped` once a stop string was found (it and everything after it are dropped). */
  push(text: string): { text: string; stopped: string | null };
  /** Returns the text held back at the end of the stream. */
  flush(): string;
};

/** Empty strings are ignored: they would stop before the first character. */
export function createStopFinder(stops: readonly string[]): StopFinder {
  const wanted = [...new Set(stops)].filter((stop) => stop !== '');
  const longest = wanted.reduce((most, stop) => Math.max(most, stop.length), 0);
  let held = '';
  let stopped: string | null = null;

  return {
    push(text) {
      if (stopped !== null || wanted.length === 0) return { text: stopped === null ? text : '', stopped };
      held += text;
      const found = earliest(held, wanted);
      if (found) {
        stopped = found.stop;
        const before = held.slice(0, found.at);
        held = '';
        return { text: before, stopped };
      }
      const keep = prefixAtEnd(held, wanted, longest);
      const certain = held.slice(0, held.length - keep);
      held = held.slice(held.length - keep);
      return { text: certain, stopped: null };
    },
    flush() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

/** The stop string that ends first, as in token-by-token matching. */
function earliest(text: string, stops: readonly string[]): { at: number; stop: string } | null {
  let best: { at: number; stop: string } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (!best || at + stop.length < best.at + best.stop.length)) best = { at, stop };
  }
  return best;
}

/** Length of the longest suffix of `text` that is a prefix of a stop string. */
export function prefixAtEnd(text: string, words: readonly string[], longest: number): number {
  for (let length = Math.min(longest - 1, text.length); length > 0; --length) {
    const end = text.slice(text.length - length);
    if (words.some((word) => word.startsWith(end))) return length;
  }
  return 0;
}
