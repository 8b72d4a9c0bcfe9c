import type { Rectangle } from '../../../protocol/documents.ts';
import type { Glyph, PageFont } from './glyphs.ts';

//  Groups glyphs into words. Layout uses a frame in which text runs from left to right and lines from top to bottom;
//  a page has up to four such frames, one per text direction.

/** Quarter turns of the reading direction; vertical writing reads like text turned once. */
export type Turn = 0 | 1 | 2 | 3;

export type PageWord = {
  text: string;
  /** Preceded by a space. */
  spaced: boolean;
  /** In the frame: left, top, right, bottom, and baseline. */
  left: number;
  top: number;
  right: number;
  bottom: number;
  baseline: number;
  size: number;
  /** Letter spacing after its last character, in points. */
  tracking: number;
  font: PageFont;
  /** On the page. */
  box: Rectangle;
};

export type PageSize = { width: number; height: number };

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;
/** Ligatures and presentation forms, which are glyph variants of characters. */
const SHAPES = /[\ufb00-\ufb4f\ufb50-\ufdff\ufe30-\ufe4f\ufe70-\ufeff\u2e80-\u2fdf]/u;

/** Words of a page by direction, in the order they are drawn. */
export function wordsOf(glyphs: readonly Glyph[], page: PageSize): Map<Turn, PageWord[]> {
  const byTurn = new Map<Turn, PageWord[]>();
  let open: { word: PageWord; turn: Turn } | null = null;
  let spaced = false;
  for (const glyph of glyphs) {
    const text = characters(glyph.text);
    if (text.trim() === '') {
      spaced = true;
      if (text !== '') open = null;
      continue;
    }
    const turn = turnOf(glyph);
    const next = placed(glyph, text, turn, page);
    if (open && open.turn === turn && continues(open.word, next)) {
      join(open.word, next);
      continue;
    }
    next.spaced = spaced || !open || !(open.turn === turn && touches(open.word, next));
    spaced = false;
    open = { word: next, turn };
    const words = byTurn.get(turn) ?? [];
    words.push(next);
    byTurn.set(turn, words);
  }
  for (const [turn, words] of byTurn) byTurn.set(turn, once(words));
  return byTurn;
}

/** Maximum repetitions of a word on a page; more is not text. */
const MAX_REPEATED_GLYPHS = 1000;

/** Removes duplicates: bold is often faked by drawing a word twice with a slight offset. */
function once(words: readonly PageWord[]): PageWord[] {
  const seen = new Map<string, PageWord[]>();
  return words.filter((word) => {
    const same = seen.get(word.text) ?? [];
    const near = word.size * 0.12;
    for (let at = same.length - 1; at >= Math.max(0, same.length - MAX_REPEATED_GLYPHS); at--) {
      const one = same[at] as PageWord;
      if (Math.abs(one.left - word.left) < near && Math.abs(one.baseline - word.baseline) < near) return false;
    }
    same.push(word);
    seen.set(word.text, same);
    return true;
  });
}

/** The plain characters of a glyph. */
function characters(text: string): string {
  const whole = SHAPES.test(text) ? text.normalize('NFKC') : text;
  // Words are collected in visual order; `logical` reverses them later, including glyphs with several letters.
  const shaped = whole.length > 1 && isRtl(whole) ? [...whole].reverse().join('') : whole;
  // A soft hyphen that is drawn is a visible hyphen at a line end.
  const drawn = shaped.replaceAll('\u00ad', '-');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return drawn.replace(/[\u0000-\u0008\u000e-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g, '');
}

function turnOf({ along, vertical, up }: Glyph): Turn {
  if (vertical) return 1;
  // For a glyph without width, use its up vector.
  const [dx, dy] = along[0] === 0 && along[1] === 0 ? [-up[1], up[0]] : along;
  if (Math.abs(dx) >= Math.abs(dy)) return dx >= 0 ? 0 : 2;
  return dy >= 0 ? 1 : 3;
}

function placed(glyph: Glyph, text: string, turn: Turn, page: PageSize): PageWord {
  const { origin, up, font, vertical, tracking } = glyph;
  const size = Math.hypot(up[0], up[1]) || 1;
  const box = vertical ? uprightBox(glyph, vertical) : boxBetween(glyph);
  const [left, top, right, bottom] = framed(box, turn, page);
  const baseline = framed([origin[0], origin[1], 0, 0], turn, page)[1];
  return { text, spaced: false, left, top, right, bottom, baseline, size, tracking, font, box };
}

/** The box from pen position to pen position and from descent to ascent, for any rotation. */
function boxBetween({ origin: [x, y], along: [dx, dy], up: [ux, uy], ascent, descent }: Glyph): Rectangle {
  const left = x + Math.min(0, dx) + Math.min(ux * descent, ux * ascent);
  const right = x + Math.max(0, dx) + Math.max(ux * descent, ux * ascent);
  const top = y + Math.min(0, dy) + Math.min(uy * descent, uy * ascent);
  const bottom = y + Math.max(0, dy) + Math.max(uy * descent, uy * ascent);
  return [left, top, right - left, bottom - top];
}

/** For vertical writing: the pen is above the middle of the glyph and moves down. */
function uprightBox({ origin: [x, y], along, up }: Glyph, { side, width }: { side: number; width: number }): Rectangle {
  const [rx, ry] = [-up[1], up[0]];
  const wide = width > 0 ? width : 1;
  const [fromX, fromY] = [x - rx * side, y - ry * side];
  const [toX, toY] = [fromX + rx * wide + along[0], fromY + ry * wide + along[1]];
  return [Math.min(fromX, toX), Math.min(fromY, toY), Math.abs(toX - fromX), Math.abs(toY - fromY)];
}

/** A rectangle of the page in the frame of a direction: left, top, right, bottom. */
function framed([x, y, width, height]: Rectangle, turn: Turn, page: PageSize): [number, number, number, number] {
  switch (turn) {
    case 0:
      return [x, y, x + width, y + height];
    case 1:
      return [y, page.width - x - width, y + height, page.width - x];
    case 2:
      return [page.width - x - width, page.height - y - height, page.width - x, page.height - y];
    case 3:
      return [page.height - y - height, x, page.height - y, x + width];
  }
}

/** Whether a glyph continues the word: on the same line, directly after it. Ideographs and kana
 *  are separate words, so that each can be highlighted. */
function continues(word: PageWord, next: PageWord): boolean {
  if (WIDE.test(next.text) || WIDE.test(word.text)) return false;
  return touches(word, next) && Math.abs(word.size - next.size) <= word.size * 0.2;
}

function touches(word: PageWord, next: PageWord): boolean {
  const em = Math.max(word.size, next.size);
  const wide = WIDE.test(word.text) && WIDE.test(next.text);
  if (Math.abs(word.baseline - next.baseline) > em * 0.1) return false;
  // Letter-spaced characters may be drawn individually: the gap is at most the spacing.
  const most = em * (wide ? 0.6 : 0.14) + word.tracking;
  const gap = next.left - word.right;
  if (gap <= most && gap >= -em * 0.35) return true;
  // Right-to-left text drawn in logical order.
  const before = word.left - next.right;
  return isRtl(next.text) && before <= em * 0.14 + word.tracking && before >= -em * 0.35;
}

function join(word: PageWord, next: PageWord) {
  const before = isRtl(next.text) && next.right <= word.left + word.size * 0.35 && next.left < word.left;
  word.text = before ? next.text + word.text : word.text + next.text;
  word.tracking = next.tracking;
  word.left = Math.min(word.left, next.left);
  word.right = Math.max(word.right, next.right);
  word.top = Math.min(word.top, next.top);
  word.bottom = Math.max(word.bottom, next.bottom);
  const [x, y, width, height] = word.box;
  const [nx, ny, nwidth, nheight] = next.box;
  const left = Math.min(x, nx);
  const top = Math.min(y, ny);
  word.box = [left, top, Math.max(x + width, nx + nwidth) - left, Math.max(y + height, ny + nheight) - top];
}

const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
export const isRtl = (text: string): boolean => RTL.test(text);
export const isWide = (text: string): boolean => WIDE.test(text);

/** Converts visual to logical order; numbers and Latin runs keep theirs. */
export function logical(text: string): string {
  if (!isRtl(text)) return text;
  const mirrored: Record<string, string> = {
    '(': ')',
    ')': '(',
    '[': ']',
    ']': '[',
    '{': '}',
    '}': '{',
    '<': '>',
    '>': '<',
  };
  const runs = text.match(/[\p{Script=Latin}\p{N}.,:%+-]*[\p{Script=Latin}\p{N}]|./gsu) ?? [];
  // A combining mark belongs to the letter it is drawn over, which follows it here.
  const joined = runs.reverse().map((run) => mirrored[run] ?? run);
  return joined.join('').replace(/(\p{M}+)(\p{L})/gu, '$2$1');
}
