//  What sort of text repeats? Words said three times in a row are a loop; a ruled line or a grid of zeros is not.

export type Sort = 'words' | 'data';

const letters = /[\p{L}\p{M}\p{Extended_Pictographic}]|\u200d|\ufe0f/gu;
const marks = /[{}[\]=<>|_\\/*#+^~`$&@%]/g;
const brackets = /[()"“”«»;]/g;
/** Calls, members, options and names in camel case: a(b), a.b, a::b, --a, aB. */
const joined = /[\p{L}\p{N}]\(|\p{L}\.\p{L}{2}|::|--\p{L}|\p{Ll}\p{Lu}/gu;
/** Base64, hashes, identifiers run together: no word is that long. */
const unbroken = /[A-Za-z0-9+/=_-]{41}/;
/** Rows of markup, of a table or of a log come back oftener than other data. */
export const isMarkup = (once: string): boolean => /^\s*[|<>]|<td|\| *\|/.test(once) || logged.test(once);
/** A regular expression: the four bytes of an address are written four times. */
export const isPattern = (once: string): boolean => /\[[^\]\n]*\w-\w[^\]\n]*\]|\\[dws][+*?{\\]/.test(once);
/** Cells and tags with nothing in them, lines to be filled in. */
export const isForm = (once: string): boolean =>
  /_{8}|\.{8}/.test(once) || (/<td|<tr|\| *\|/.test(once) && !/\p{L}/u.test(once.replace(/<[^>]*>?|^[^<>]*>/g, '')));
/** A line of an encoding, which no page is wider than. */
export const isEncoded = (run: string): boolean => !isProse(run) && !isOverlong(run);
export const isOverlong = (run: string): boolean => /[A-Za-z0-9+/=]{129}/.test(run);
export const isUnbroken = (text: string): boolean => unbroken.test(text);
/** Addresses, process numbers and long paths: a log or a trace. */
const logged = /\b0x[\da-f]{6}|==\d+==|(?:\/[\w.-]+){4}/i;
const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

export function isProse(text: string): boolean {
  const solid = text.replace(/\s+/g, '');
  if (solid.length === 0 || logged.test(text)) return false;
  if (count(solid, marks) + count(text, joined) > 0.04 * solid.length) return false;
  if (count(solid, brackets) > Math.max(2, 0.07 * solid.length)) return false;
  return count(solid, letters) >= 0.6 * [...solid].length;
}

/** `once` is one copy, `run` what can be seen of all copies. */
export function sortOf(once: string, run: string): Sort {
  const solid = run.replace(/\s+/g, '');
  if (solid === '') return run.includes('\n') ? 'words' : 'data';
  if (new Set(solid).size <= 3) return rule(run, solid);
  return isProse(once) && !unbroken.test(run) ? 'words' : 'data';
}

const cells = /^(?:[\p{N}\p{P}\p{S}\p{Extended_Pictographic}]|\ufe0f|\u200d)+$/u;

/** Rows of a matrix or a picture: figures or signs, few of them different, in lines or brackets; `rows` where all are the same,
 *  `pattern` where some lines come again as in a chessboard, `blank` where a block of them holds one figure alone. A run of figures in one line is none. */
export function gridOf(once: string, run: string): 'rows' | 'pattern' | 'blank' | null {
  const solid = run.replace(/\s+/g, '');
  if (!cells.test(solid)) return null;
  const signs = new Set(solid.replace(/[[\](){},.;:|]/g, ''));
  const picture = signs.size <= 2 && /\p{Extended_Pictographic}/u.test(solid) && !/\p{N}/u.test(solid);
  if (signs.size > 5 || !(picture || /[\n[\]]/.test(run))) return null;
  if (once.trim().split('\n').length <= 2) return 'rows';
  return signs.size > 1 ? 'pattern' : 'blank';
}

/** Characters of a line that no page and no table is as wide as. */
const WIDE = 320;
/** Dots between an entry and its page are shorter than this. */
const DOTTED = 128;

/** One letter or two again and again: a ruled line or the zeros of a number, up to the width of a page. No script but ours rules
 *  lines with its letters. */
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
/** Letters, figures and arrows that stand for something: names of pieces, cells of a grid, directions, truth. */
const symbol =
  /^(?:\P{L}+|\p{L}['′]?|\p{L}{0,2}\p{N}+['′]?|up|down|left|right|north|south|east|west|true|false|yes|no)$/iu;
/** Share of them from which on a text is a trace. */
const SYMBOLS = 1 / 3;

/** Moves of a game, states of a search, faces of a cube, rows of figures: what is the same in them is mostly the matter itself. */
export const isTrace = (text: string): boolean => symbolsIn(text) >= SYMBOLS;

/** How many of its words are symbols. */
export function symbolsIn(text: string): number {
  const words = text.match(step) ?? [];
  const symbols = words.filter((word) => symbol.test(word) && word !== 'a' && word !== 'I');
  return words.length === 0 ? 0 : symbols.length / words.length;
}
