/** Finds the end of a value of JSON or of Python's calls while it is written, each character looked at once. */
export type BodyScanner = {
  /** The next piece of the body; `last`: no more comes. The length of the whole value, from the first piece on; null: not there
   *  yet; -1: this can never be one. */
  push(piece: string, last: boolean): number | null;
};

export function createBodyScanner(kind: 'json' | 'python'): BodyScanner {
  const begins = kind === 'json' ? /[[{]/ : /[[\p{L}_`]/u;
  const quotes = kind === 'json' ? '"' : '"\'';
  /** What has not been looked at, and how much stood before it. */
  let rest = '';
  let before = 0;
  let depth = 0;
  let quote = '';
  let begun = false;
  let found: number | null = null;

  /** Moves over what stands at `at`: where to go on, and whether the value ended there. */
  function step(at: number): { at: number; ended: boolean } {
    const next = rest[at] ?? '';
    if (quote !== '') {
      if (next === '\\') return { at: at + 2, ended: false };
      if (!rest.startsWith(quote, at)) return { at: at + 1, ended: false };
      const { length } = quote;
      quote = '';
      return { at: at + length, ended: false };
    }
    if (quotes.includes(next)) {
      quote = kind === 'python' && rest.startsWith(next.repeat(3), at) ? next.repeat(3) : next;
      return { at: at + quote.length, ended: false };
    }
    if ('[{('.includes(next)) depth++;
    const closes = ']})'.includes(next);
    if (closes) depth--;
    return { at: at + 1, ended: closes && depth <= 0 };
  }

  function take(length: number) {
    rest = rest.slice(length);
    before += length;
  }

  /** A block of code ends where its call does: by its marks. */
  function fenced(): number | null {
    const end = rest.indexOf(FENCE);
    if (end < 0) take(Math.max(0, rest.length - FENCE.length));
    else found = before + end + FENCE.length;
    return found;
  }

  return {
    push(piece, last) {
      if (found !== null) return found;
      rest += piece;
      if (!begun) {
        const blank = rest.length - rest.trimStart().length;
        if (blank === rest.length) return null;
        if (!begins.test(rest[blank] ?? '')) return -1;
        begun = true;
        take(blank);
        if (rest[0] === '`') {
          quote = FENCE;
          take(1);
        }
      }
      if (quote === FENCE) return fenced();
      let at = 0;
      // Three quotes are told from one by what follows.
      while (found === null && at < (last ? rest.length : rest.length - 2)) {
        const moved = step(at);
        at = moved.at;
        if (moved.ended) found = before + at;
      }
      take(at);
      return found;
    },
  };
}

const FENCE = '\n```';
