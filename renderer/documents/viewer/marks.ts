import type { Block, Place, Rectangle, Span } from '../../../app/protocol/index.ts';
import type { Mark } from '../state.ts';

//  From a passage to what is painted. Nothing is guessed: what cannot be located is not marked.

export type Strength = 'current' | 'soft';
export type PageMark = { rectangle: Rectangle; strength: Strength };

const overlaps = (span: Span, [start, end]: readonly [number, number]) => span.start < end && span.end > start;

/** What says it best is marked full, the rest of the passage softly; without evidence all of it is full. */
export function strengthOf(mark: Mark, span: Span): Strength {
  const says = (other: Span) => mark.evidence.some((range) => overlaps(other, range));
  return says(span) || !mark.spans.some(says) ? 'current' : 'soft';
}

export const pageOf = (place: Place): number | null =>
  place.at === 'page' ? place.page : place.at === 'slide' ? place.slide : null;

/** The page the reader is brought to: that of the evidence, else the first. */
export function firstPlace(mark: Mark): Place | null {
  const best = mark.spans.find((span) => strengthOf(mark, span) === 'current') ?? mark.spans[0];
  return best?.place ?? null;
}

export const pageMarks = (mark: Mark | null, page: number): PageMark[] => marksByPage(mark, []).get(page) ?? [];

/** The passage full, other passages of the same search softly, page by page. */
export function marksByPage(mark: Mark | null, others: readonly Mark[]): Map<number, PageMark[]> {
  const marks = new Map<number, PageMark[]>();
  const put = (one: Mark, of: (span: Span) => Strength) => {
    for (const span of one.spans) {
      if (span.place.at !== 'page') continue;
      const known = marks.get(span.place.page) ?? [];
      const more = span.place.rectangles.map((rectangle) => ({ rectangle, strength: of(span) }));
      marks.set(span.place.page, [...known, ...more]);
    }
  };
  for (const other of others) if (other.key !== mark?.key) put(other, () => 'soft');
  if (mark) put(mark, (span) => strengthOf(mark, span));
  return marks;
}

/** The upper edge of what is marked on a page, in points; null when nothing is. */
export function topOf(marks: readonly PageMark[]): number | null {
  const full = marks.filter(({ strength }) => strength === 'current');
  const tops = (full.length > 0 ? full : marks).map(({ rectangle }) => rectangle[1]);
  return tops.length === 0 ? null : Math.min(...tops);
}

export const isLocated = (mark: Mark): boolean =>
  mark.spans.some(({ place }) => place.at !== 'page' || place.rectangles.length > 0);

export type TextMark = { start: number; end: number; strength: Strength };

const inBlock = (place: Place) => (place.at === 'page' || place.block === undefined ? null : place);

/** Where the passage's characters stand in the text of a block. A block that does not hold them gets no mark. */
export function blockMarks(mark: Mark | null, block: Block): TextMark[] {
  if (!mark) return [];
  return mark.spans.flatMap((span) => {
    const place = inBlock(span.place);
    if (place?.block !== block.number) return [];
    const piece = mark.text.slice(span.start, span.end);
    const given: [number, number] = [place.start ?? 0, place.end ?? block.text.length];
    const found = isSame(block.text.slice(...given), piece) ? given : locate(block.text, piece);
    return found ? [{ start: found[0], end: found[1], strength: strengthOf(mark, span) }] : [];
  });
}

const isSame = (one: string, other: string) => withoutSpace(one).text === withoutSpace(other).text;

/** The place of `piece` in `text`, whatever white space either has. Null when it is not there. */
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

/** A text cut at its marks. */
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
