//  Classifies repeating text: three identical sentences are a loop; a horizontal rule or a grid of zeros is not.

export type Sort = 'words' | 'data';

const letters = /[\p{L}\p{M}\p{Extended_Pictographic}]|\u200d|\ufe0f/gu;
const marks = /[{}[\]=<>|_\\/*#+^~`$&@%]/g;
const brackets = /[()"“”«»;]/g;
/** Calls, members, options and names in camel case: a(b), a.b, a::b, --a, aB. */
const joined = /[\p{L}\p{N}]\(|\p{L}\.\p{L}{2}|::|--\p{L}|\p{Ll}\p{Lu}/gu;
/** Base64, hashes, long identifiers: longer than any word. */
const unbroken = /[A-Za-z0-9+/=_-]{41}/;
/** Markup, table and log rows repeat more often than other data. */
export const isMarkup = (once: string): boolean => /^\s*[|<>]|<td|\| *\|/.test(once) || logged.test(once);
/** A regular expression: its parts repeat, as for the four bytes of an IP address. */
export const isPattern = (once: string): boolean => /\[[^\]\n]*\w-\w[^\]\n]*\]|\\[dws][+*?{\\]/.test(once);
/** Empty cells and tags, lines to be filled in. */
export const isForm = (once: string): boolean =>
  /_{8}|\.{8}/.test(once) || (/<td|<tr|\| *\|/.test(once) && !/\p{L}/u.test(once.replace(/<[^>]*>?|^[^<>]*>/g, '')));
/** Encoded data without line breaks within a page width. */
export const isEncoded = (run: string): boolean => !isProse(run) && !isOverlong(run);
export const isOverlong = (run: string): boolean => /[A-Za-z0-9+/=]{129}/.test(run);
export const isUnbroken = (text: string): boolean => unbroken.test(text);
/** Memory addresses, process ids and long paths: a log or a stack trace. */
const logged = /\b0x[\da-f]{6}|==\d+==|(?:\/[\w.-]+){4}/i;
const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

export function isProse(text: string): boolean {
  const solid = text.replace(/\s+/g, '');
  if (solid.length === 0 || logged.test(text)) return false;
  if (count(solid, marks) + count(text, joined) > 0.04 * solid.length) return false;
  if (count(solid, brackets) > Math.max(2, 0.07 * solid.length)) return false;
  return count(solid, letters) >= 0.6 * [...solid].length;
}

/** `once`: one copy; `run`: the visible part of all copies. */
export function sortOf(once: string, run: string): Sort {
  const solid = run.replace(/\s+/g, '');
  if (solid === '') return run.includes('\n') ? 'words' : 'data';
  if (new Set(solid).size <= 3) return rule(run, solid);
  return isProse(once) && !unbroken.test(run) ? 'words' : 'data';
}

const cells = /^(?:[\p{N}\p{P}\p{S}\p{Extended_Pictographic}]|\ufe0f|\u200d)+$/u;

/** Classifies grids: digits or symbols, few distinct ones, in lines or brackets; `rows` if all are the same,
 *  `pattern` if lines alternate as in a chessboard, `blank` if a block contains a single digit. Digits on a single line are not a grid. */
export function gridOf(once: string, run: string): 'rows' | 'pattern' | 'blank' | null {
  const solid = run.replace(/\s+/g, '');
  if (!cells.test(solid)) return null;
  const signs = new Set(solid.replace(/[[\](){},.;:|]/g, ''));
  const picture = signs.size <= 2 && /\p{Extended_Pictographic}/u.test(solid) && !/\p{N}/u.test(solid);
  if (signs.size > 5 || !(picture || /[\n[\]]/.test(run))) return null;
  if (once.trim().split('\n').length <= 2) return 'rows';
  return signs.size > 1 ? 'pattern' : 'blank';
}

/** Line length beyond any page or table. */
const WIDE = 320;
/** Maximum length of dot leaders. */
const DOTTED = 128;

/** One or two repeated characters: a horizontal rule or the zeros of a number, up to the width of a page. Letters of other scripts are
 *  never used for rules. */
function rule(run: string, solid: string): Sort {
  if (/[^\p{ASCII}]/u.test(solid) && isProse(solid)) return 'words';
  if (/^[!?,;]+$/.test(solid)) return 'words';
  const widest = Math.max(...run.split('\n').map((line) => line.length));
  const spaced = /\s/.test(run) && !run.includes('\n');
  if (/\p{N}/u.test(solid)) return widest > (spaced ? WIDE : 128) ? 'words' : 'data';
  if (/^\.+$/.test(solid)) return widest > DOTTED ? 'words' : 'data';
  return widest > (/^[\p{ASCII}]*$/u.test(solid) && !/[a-z]/i.test(solid) ? WIDE : 95) || (spaced && isProse(solid))
    ? 'words'
    : 'data';
}

const step = /[\p{L}\p{M}\p{N}]+['′]?|[-=]?>|[→←↑↓⇒]/gu;
/** Symbols: single letters, digits and arrows for pieces, cells, directions, truth values. */
const symbol =
  /^(?:\P{L}+|\p{L}['′]?|\p{L}{0,2}\p{N}+['′]?|up|down|left|right|north|south|east|west|true|false|yes|no)$/iu;
/** Minimum share of symbols of a trace. */
const SYMBOLS = 1 / 3;

/** Traces (moves of a game, states of a search, rows of digits) are inherently repetitive. */
export const isTrace = (text: string): boolean => symbolsIn(text) >= SYMBOLS;

/** Share of words that are symbols. */
export function symbolsIn(text: string): number {
  const words = text.match(step) ?? [];
  const symbols = words.filter((word) => symbol.test(word) && word !== 'a' && word !== 'I');
  return words.length === 0 ? 0 : symbols.length / words.length;
}
