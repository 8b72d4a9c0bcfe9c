import type { Block, Place, Rectangle, Span } from '../../app/protocol/index.ts';
import type { Mark } from '../stores/documents/state.ts';

//  From a passage to its marks. Nothing is guessed: what cannot be located is not marked.

export type Strength = 'current' | 'soft';
export type PageMark = { rectangle: Rectangle; strength: Strength };

const overlaps = (span: Span, [start, end]: readonly [number, number]) => span.start < end && span.end > start;

/** The evidence is marked fully, the rest of the passage softly; without evidence everything is marked fully. */
export function strengthOf(mark: Mark, span: Span): Strength {
  const says = (other: Span) => mark.evidence.some((range) => overlaps(other, range));
  return says(span) || !mark.spans.some(says) ? 'current' : 'soft';
}

export const pageOf = (place: Place): number | null =>
  place.kind === 'page' ? place.page : place.kind === 'slide' ? place.slide : null;

/** The page to show: that of the evidence, otherwise the first. */
export function firstPlace(mark: Mark): Place | null {
  const best = mark.spans.find((span) => strengthOf(mark, span) === 'current') ?? mark.spans[0];
  return best?.place ?? null;
}

export const pageMarks = (mark: Mark | null, page: number): PageMark[] => marksByPage(mark, []).get(page) ?? [];

/** Marks by page: the passage fully, other hits of the same search softly; adjacent words become one stroke. */
export function marksByPage(mark: Mark | null, others: readonly Mark[]): Map<number, PageMark[]> {
  const marks = new Map<number, PageMark[]>();
  const put = (span: Span, strength: Strength) => {
    if (span.place.kind !== 'page') return;
    const known = marks.get(span.place.page) ?? [];
    for (const rectangle of span.place.rectangles) known.push({ rectangle, strength });
    marks.set(span.place.page, known);
  };
  for (const other of others) {
    if (other.key === mark?.key) continue;
    for (const span of other.spans) if (strengthOf(other, span) === 'current') put(span, 'soft');
  }
  for (const span of mark?.spans ?? []) put(span, strengthOf(mark as Mark, span));
  return new Map([...marks].map(([page, all]) => [page, strokesOf(all)]));
}

/** Joins the words of a line into one stroke. */
function strokesOf(marks: readonly PageMark[]): PageMark[] {
  const strokes: PageMark[] = [];
  for (const mark of marks) {
    const last = strokes.at(-1);
    const joined = last?.strength === mark.strength ? joinedLine(last.rectangle, mark.rectangle) : null;
    if (joined) strokes[strokes.length - 1] = { rectangle: joined, strength: mark.strength };
    else strokes.push(mark);
  }
  return strokes;
}

/** One rectangle for two words of a line, in either reading direction; null if they are apart. */
function joinedLine([x, y, width, height]: Rectangle, [x2, y2, width2, height2]: Rectangle): Rectangle | null {
  const top = Math.min(y, y2);
  const bottom = Math.max(y + height, y2 + height2);
  const left = Math.min(x, x2);
  const right = Math.max(x + width, x2 + width2);
  const lower = Math.min(height, height2);
  const sameLine = Math.min(y + height, y2 + height2) - Math.max(y, y2) > 0.6 * lower;
  const gap = right - left - width - width2;
  return sameLine && gap < 1.2 * lower ? [left, top, right - left, bottom - top] : null;
}

/** The upper edge of the marks on a page, in points; null if there are none. */
export function topOf(marks: readonly PageMark[]): number | null {
  const full = marks.filter(({ strength }) => strength === 'current');
  const tops = (full.length > 0 ? full : marks).map(({ rectangle }) => rectangle[1]);
  return tops.length === 0 ? null : Math.min(...tops);
}

export const isLocated = (mark: Mark): boolean =>
  mark.spans.some(({ place }) => place.kind !== 'page' || place.rectangles.length > 0);

export type TextMark = { start: number; end: number; strength: Strength };

const inBlock = (place: Place) => (place.kind === 'page' || place.block === undefined ? null : place);

/** Positions of the passage's characters in the text of a block. A block without them gets no mark. */
export function blockMarks(mark: Mark | null, block: Block): TextMark[] {
  if (!mark) return [];
  return mark.spans.flatMap((span) => {
    const place = inBlock(span.place);
    if (place?.block !== block.number) return [];
    const piece = mark.text.slice(span.start, span.end);
    const given: [number, number] = [place.start ?? 0, place.end ?? block.text.length];
    const found = isSame(block.text.slice(...given), piece) ? given : locate(block.text, piece);
    return found ? partsOf(mark, span, found) : [];
  });
}

/** The mark of a span, split where the evidence begins and ends. A text that was matched with different white space cannot
 *  be split so finely: it is marked as a whole. */
function partsOf(mark: Mark, span: Span, [start, end]: [number, number]): TextMark[] {
  const whole = strengthOf(mark, span);
  if (whole === 'soft' || end - start !== span.end - span.start) return [{ start, end, strength: whole }];
  const best = mark.evidence.filter((range) => overlaps(span, range));
  const parts: TextMark[] = [];
  let at = start;
  for (const [from, to] of best) {
    const first = Math.max(at, start + from - span.start);
    const last = Math.min(end, start + to - span.start);
    if (last <= first) continue;
    if (first > at) parts.push({ start: at, end: first, strength: 'soft' });
    parts.push({ start: first, end: last, strength: 'current' });
    at = last;
  }
  if (at < end) parts.push({ start: at, end, strength: best.length > 0 ? 'soft' : 'current' });
  return parts;
}

const isSame = (one: string, other: string) => withoutSpace(one).text === withoutSpace(other).text;

/** The position of `piece` in `text`, ignoring white space. Null if it does not occur. */
export function locate(text: string, piece: string): [number, number] | null {
  const wanted = piece.trim();
  if (wanted === '') return null;
  const at = text.indexOf(wanted);
  if (at !== -1) return [at, at + wanted.length];
  const plain = withoutSpace(text);
  const found = plain.text.indexOf(withoutSpace(wanted).text);
  if (found === -1) return null;
  const last = found + withoutSpace(wanted).text.length - 1;
  return [plain.places[found] as number, (plain.places[last] as number) + 1];
}

function withoutSpace(text: string): { text: string; places: number[] } {
  const places: number[] = [];
  let plain = '';
  for (let at = 0; at < text.length; at += 1) {
    if (/\s/.test(text[at] as string)) continue;
    plain += text[at];
    places.push(at);
  }
  return { text: plain, places };
}

export type Piece = { text: string; strength: Strength | null };

/** Splits a text at its marks. */
export function piecesOf(text: string, marks: readonly TextMark[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { start, end, strength } of [...marks].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), strength: null });
    pieces.push({ text: text.slice(Math.max(at, start), end), strength });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), strength: null });
  return pieces;
}
