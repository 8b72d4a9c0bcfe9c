import type { Element, Word } from '../../element.ts';
import type { PagePiece } from './paragraphs.ts';
import { keepsHyphen } from './paragraphs.ts';

//  Merges pages into one text: detects headings (larger or bolder than most text) and paragraphs that continue on the next page.

export function createFlow() {
  /** Characters per font size, to half a point: the most frequent is the body size. */
  const sizes = new Map<number, number>();
  let held: PagePiece | null = null;

  function bodySize(): number {
    let [best, most] = [0, 0];
    for (const [size, count] of sizes) if (count > most) [best, most] = [size, count];
    return best;
  }

  function named(piece: PagePiece): PagePiece {
    if (piece.kind === 'row' || piece.text.length > 200 || !/\p{L}{2}/u.test(piece.text)) return piece;
    const ratio = piece.size / (bodySize() || piece.size);
    const level = ratio >= 1.7 ? 1 : ratio >= 1.35 ? 2 : ratio >= 1.12 ? 3 : 0;
    if (level > 0) return { ...piece, kind: 'heading', level };
    const ends = /[.;,:!?]$/.test(piece.text) && !/^\d/.test(piece.text);
    return piece.bold && !ends && piece.text.length <= 120 ? { ...piece, kind: 'heading', level: 4 } : piece;
  }

  return {
    /** Adds the elements of the next page; the last one is held back until it is clear whether it continues. */
    add(pieces: readonly PagePiece[]): Element[] {
      for (const { size, text } of pieces) {
        const rounded = Math.round(size * 2) / 2;
        sizes.set(rounded, (sizes.get(rounded) ?? 0) + text.length);
      }
      const [first, ...rest] = pieces.map(named);
      if (!first) return [];
      const all = held && goesOn(held, first) ? [joined(held, first), ...rest] : [held, first, ...rest];
      const done = all.filter((piece) => piece !== null);
      held = done.pop() ?? null;
      return done.map(bare);
    },
    end: (): Element[] => (held ? [bare(held)] : []),
  };
}

const bare = ({ size: _, bold: __, ...piece }: PagePiece): Element => piece;

/** A paragraph spans a page or two at most. */
const MAX_JOINED = 20_000;

function goesOn(before: PagePiece, after: PagePiece): boolean {
  if (before.kind !== 'paragraph' && before.kind !== 'item') return false;
  if (before.text.length > MAX_JOINED) return false;
  if (after.kind !== 'paragraph' || Math.abs(before.size - after.size) > before.size * 0.12) return false;
  return /[\p{L}\p{N},\-–—(]$/u.test(before.text) && /^[\p{Ll}\p{N}(]/u.test(after.text);
}

function joined(before: PagePiece, after: PagePiece): PagePiece {
  const cut = /\p{Ll}[-\u2010]$/u.test(before.text) && /^\p{Ll}/u.test(after.text);
  const head = cut ? before.text.slice(0, -1) : keepsHyphen(before.text, after.text) ? before.text : `${before.text} `;
  const words: Word[] = before.where.words.map((word) => ({ ...word, end: Math.min(word.end, head.length) }));
  for (const word of after.where.words) {
    words.push({ ...word, start: word.start + head.length, end: word.end + head.length });
  }
  return { ...before, text: head + after.text, where: { kind: 'page', words } };
}
