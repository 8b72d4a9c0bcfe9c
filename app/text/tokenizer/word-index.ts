/** Words that are looked for in texts: thousands of them, and none may cost more than its letters. */
export type WordIndex = {
  /** Length of the longest word that begins at a place; 0 for none. */
  lengthAt(text: string, at: number): number;
  /** Whether a word begins with this text. */
  begins(part: string): boolean;
  readonly longest: number;
};

/** Sorted by code units: the words that begin alike stand together, and each letter makes the part smaller that is left. */
export function indexOfWords(words: readonly string[]): WordIndex {
  const sorted = [...new Set(words)].filter((word) => word !== '').sort(byCodeUnits);
  const first = new Set(sorted.map((word) => word.charCodeAt(0)));
  const longest = sorted.reduce((most, word) => Math.max(most, word.length), 0);

  /** The first word in [low, high) whose letter at `place` is `code` or greater. */
  function bound(low: number, high: number, place: number, code: number): number {
    let from = low;
    let to = high;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (letter(sorted[middle], place) < code) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  return {
    longest,
    lengthAt(text, at) {
      if (!first.has(text.charCodeAt(at))) return 0;
      let low = 0;
      let high = sorted.length;
      let found = 0;
      for (let place = 0; at + place < text.length && low < high; ++place) {
        const code = text.charCodeAt(at + place);
        low = bound(low, high, place, code);
        high = bound(low, high, place, code + 1);
        // Of those that are left only the first may end here.
        if (low < high && sorted[low]?.length === place + 1) found = place + 1;
      }
      return found;
    },
    begins(part) {
      let low = 0;
      let high = sorted.length;
      for (let place = 0; place < part.length && low < high; ++place) {
        const code = part.charCodeAt(place);
        low = bound(low, high, place, code);
        high = bound(low, high, place, code + 1);
      }
      return low < high;
    },
  };
}

/** -1 behind the end of a word. */
const letter = (word: string | undefined, place: number): number =>
  word === undefined || place >= word.length ? -1 : word.charCodeAt(place);

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
