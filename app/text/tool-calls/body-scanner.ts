/** Finds the end of a value of JSON or of Python's calls while it is written, each character looked at once. */
export type BodyScanner = {
  /** `text`: all of the body so far. The length of the whole value; null: not there yet; -1: this can never be one. */
  end(text: string): number | null;
};

export function createBodyScanner(kind: 'json' | 'python'): BodyScanner {
  const begins = kind === 'json' ? /[[{]/ : /[[\p{L}_`]/u;
  const quotes = kind === 'json' ? '"' : '"\'';
  let at = 0;
  let depth = 0;
  let quote = '';
  let begun = false;
  let found: number | null = null;

  /** Moves over what stands at `at`. Returns whether the value ended there. */
  function step(text: string): boolean {
    const next = text[at] ?? '';
    if (quote !== '') {
      if (next === '\\') at++;
      else if (text.startsWith(quote, at)) {
        at += quote.length - 1;
        quote = '';
      }
    } else if (quotes.includes(next)) {
      quote = kind === 'python' && text.startsWith(next.repeat(3), at) ? next.repeat(3) : next;
      at += quote.length - 1;
    } else if ('[{('.includes(next)) depth++;
    else if (']})'.includes(next)) depth--;
    at++;
    return depth <= 0 && quote === '' && ']})'.includes(next);
  }

  return {
    end(text) {
      if (found !== null) return found;
      if (!begun) {
        const blank = text.length - text.trimStart().length;
        if (blank === text.length) return null;
        if (!begins.test(text[blank] ?? '')) return -1;
        begun = true;
        at = blank;
        // A block of code ends where its call does: by its marks.
        if (text[blank] === '`') quote = FENCED;
      }
      if (quote === FENCED) {
        const end = text.indexOf('\n```', at + 3);
        found = end < 0 ? null : end + 4;
        return found;
      }
      // Three quotes are told from one by what follows.
      while (found === null && at < text.length - 2) if (step(text)) found = at;
      return found;
    },
  };
}

const FENCED = '\n```';
