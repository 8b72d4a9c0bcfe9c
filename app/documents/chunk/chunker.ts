import type { Block, Place, Span } from '../../protocol/index.ts';
import type { NewPassage } from '../../store/documents/chunks.ts';
import type { Element, Where } from '../element.ts';
import { cutText } from './chunk-sentences.ts';
import { packSpans } from './span-codec.ts';
import { countTokens } from './token-estimate.ts';

//  Groups elements into passages. A passage holds whole elements while they fit; an element that is too long is cut between sentences, and
//  the next part repeats the last sentence. A heading starts a new passage unless the previous one would be too short.

export type SplitOptions = {
  /** Maximum tokens per passage, according to countTokens. */
  most?: number;
  /** Shorter passages are merged with the next section. */
  scrap?: number;
  /** Maximum tokens of overlap. */
  overlap?: number;
};

export type Chunker = {
  /** Returns the completed block and passages. */
  add(piece: Element): { block: Block | null; passages: NewPassage[] };
  end(): NewPassage[];
};

/** Characters [start, end) of a piece. */
type Part = { piece: Element; block: number; start: number; end: number; tokens: number; repeated: boolean };

export function createChunker({ most = 230, scrap = 60, overlap = 40 }: SplitOptions = {}): Chunker {
  let parts: Part[] = [];
  let tokens = 0;
  let headings: { level: number; text: string }[] = [];
  /** The headings above the current passage. */
  let above: string[] = [];
  let blocks = 0;
  let head: Part | null = null;

  const fresh = () => parts.every(({ repeated }) => repeated);

  function finish(): NewPassage[] {
    const passage = fresh() ? [] : [build(parts, above)];
    parts = [];
    tokens = 0;
    above = headings.map(({ text }) => text);
    return passage;
  }

  function put(part: Part) {
    parts.push(part);
    tokens += part.tokens;
  }

  /** Ends the passage in the middle of a section: the next one starts with the overlap. */
  function turnOver(): NewPassage[] {
    const last = parts.at(-1);
    const done = finish();
    if (!last) return done;
    if (last.piece.kind === 'row') {
      if (head && head.tokens <= most / 3 && last.piece !== head.piece) put({ ...head, repeated: true });
      return done;
    }
    const prose = last.piece.kind === 'paragraph' || last.piece.kind === 'item' || last.piece.kind === 'quote';
    const tail = prose ? lastSentence(last) : null;
    if (tail && tail.tokens <= overlap) put({ ...tail, repeated: true });
    return done;
  }

  function addPart(part: Part): NewPassage[] {
    const done = tokens + part.tokens > most && !fresh() ? turnOver() : [];
    // Drop the overlap if the new text needs the room.
    if (tokens + part.tokens > most) {
      parts = [];
      tokens = 0;
    }
    put(part);
    return done;
  }

  function addHeading(part: Part): NewPassage[] {
    const level = part.piece.level ?? 1;
    const own = parts.some(({ piece }) => piece.kind !== 'heading');
    const done = own && tokens >= scrap ? finish() : [];
    headings = [...headings.filter((one) => one.level < level), { level, text: part.piece.text }];
    if (parts.length === 0) above = headings.slice(0, -1).map(({ text }) => text);
    return [...done, ...addPart(part)];
  }

  /** Slides and sheets are separate passages, however short. */
  function beginSection(part: Part): NewPassage[] {
    const done = parts.some(({ piece }) => piece.kind !== 'slide' && piece.kind !== 'sheet') ? finish() : [];
    headings = [{ level: 0, text: part.piece.text }];
    above = [];
    return [...done, ...addPart(part)];
  }

  return {
    add(piece) {
      const paged = piece.where.kind === 'page';
      const number = paged ? 0 : ++blocks;
      const block = paged ? null : blockOf(piece, number);
      if (piece.text.trim() === '') return { block, passages: [] };
      const whole: Part = {
        piece,
        block: number,
        start: 0,
        end: piece.text.length,
        tokens: countTokens(piece.text),
        repeated: false,
      };
      if (piece.kind !== 'row') head = null;
      else if (piece.head) head = whole;
      if (piece.kind === 'slide' || piece.kind === 'sheet') return { block, passages: beginSection(whole) };
      if (piece.kind === 'heading' && whole.tokens <= most / 2) return { block, passages: addHeading(whole) };
      if (whole.tokens <= most) return { block, passages: addPart(whole) };
      const cuts = cutText(piece.text, most - overlap, piece.kind === 'code');
      return { block, passages: cuts.flatMap((cut) => addPart({ ...whole, ...cut })) };
    },
    end: finish,
  };
}

function blockOf({ kind, level, text, cells }: Element, number: number): Block {
  return { number, kind, ...(level !== undefined && { level }), text, ...(cells && { cells }) };
}

function lastSentence(part: Part): Omit<Part, 'repeated'> | null {
  const text = part.piece.text.slice(part.start, part.end);
  const cut = cutText(text, 0, false).at(-1);
  if (!cut) return null;
  return { ...part, start: part.start + cut.start, end: part.start + cut.end, tokens: cut.tokens };
}

function build(parts: readonly Part[], headings: string[]): NewPassage {
  let text = '';
  let overlap = 0;
  const spans: Span[] = [];
  for (const [at, part] of parts.entries()) {
    if (at > 0) text += separator(parts[at - 1] as Part, part);
    for (const { start, end, place } of placesOf(part)) {
      spans.push({ start: text.length + start - part.start, end: text.length + end - part.start, place });
    }
    text += part.piece.text.slice(part.start, part.end);
    if (part.repeated) overlap = text.length;
  }
  return { text, overlap, headings, spans: packSpans(spans) };
}

function separator(before: Part, after: Part): string {
  if (before.piece === after.piece) return before.piece.kind === 'code' ? '\n' : ' ';
  const close = ['row', 'item', 'code'];
  return close.includes(after.piece.kind) && before.piece.kind === after.piece.kind ? '\n' : '\n\n';
}

/** Spans of a part, in characters of its piece. */
function placesOf({ piece, block, start, end }: Part): Span[] {
  const { where } = piece;
  switch (where.kind) {
    case 'page':
      return where.words
        .filter((word) => word.start < end && word.end > start)
        .map(({ start, end, page, box }) => ({ start, end, place: { kind: 'page', page, rectangles: [box] } }));
    case 'lines':
      return [{ start, end, place: linesOf(where, block, start, end) }];
    case 'block':
      return [{ start, end, place: { kind: 'block', block, start, end } }];
    case 'slide':
      return [{ start, end, place: { kind: 'slide', slide: where.slide, block, start, end } }];
    case 'cells':
      return [{ start, end, place: { kind: 'cells', sheet: where.sheet, range: where.range, block, start, end } }];
  }
}

function linesOf(where: Extract<Where, { kind: 'lines' }>, block: number, start: number, end: number): Place {
  const lineAt = (offset: number) => {
    const after = where.starts.findIndex((first) => first > offset);
    return where.from + (after < 0 ? where.starts.length : after) - 1;
  };
  return { kind: 'lines', from: lineAt(start), to: lineAt(Math.max(start, end - 1)), block, start, end };
}
