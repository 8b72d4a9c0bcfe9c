import { type Element, row, type Where } from '../element.ts';

//  Splits elements that are far longer than any paragraph (a book on one line, a cell of a megabyte): processing costs
//  more than linear time in the splitter, the database and on screen.

/** Characters of the longest piece. */
export const MAX_PIECE = 8192;

/** Of the name of a slide or a sheet. */
const MAX_NAME = 200;

export function* portionsOf(piece: Element): Generator<Element> {
  const { kind, text, where, cells } = piece;
  if (text.length <= MAX_PIECE) yield piece;
  else if (kind === 'slide' || kind === 'sheet') yield { ...piece, text: text.slice(0, MAX_NAME) };
  else if (cells && where.kind !== 'page') yield* rows(cells, where);
  else {
    const { level: _, cells: __, head: ___, ...rest } = piece;
    const plain = { ...rest, kind: kind === 'heading' || kind === 'row' ? ('paragraph' as const) : kind };
    const place = placing(where);
    for (const [start, end] of cuts(text)) yield { ...plain, text: text.slice(start, end), where: place(start, end) };
  }
}

/** As many cells as fit into each row; a cell that is too long is split. */
function* rows(cells: readonly string[], where: Where): Generator<Element> {
  let open: string[] = [];
  let length = 0;
  for (const cell of cells) {
    for (const [start, end] of cuts(cell)) {
      if (length + end - start > MAX_PIECE && open.length > 0) {
        yield row(open, where);
        open = [];
        length = 0;
      }
      open.push(cell.slice(start, end));
      length += end - start + 3;
    }
  }
  if (open.length > 0) yield row(open, where);
}

/** [start, end) of the portions: each ends with a line, sentence or word if there is such an end in its second half. Separators
 *  are dropped. */
function* cuts(text: string): Generator<[number, number]> {
  let start = 0;
  while (text.length - start > MAX_PIECE) {
    const portion = text.slice(start, start + MAX_PIECE);
    const gap = [portion.lastIndexOf('\n'), portion.lastIndexOf('. ') + 1, portion.lastIndexOf(' ')].find(
      (at) => at > MAX_PIECE / 2,
    );
    const length = gap ?? (/[\ud800-\udbff]$/.test(portion) ? MAX_PIECE - 1 : MAX_PIECE);
    yield [start, start + length];
    start += length + (gap === undefined ? 0 : 1);
  }
  yield [start, text.length];
}

/** The position of characters [start, end) of an element. Call in ascending order. */
function placing(where: Where): (start: number, end: number) => Where {
  if (where.kind === 'page') {
    let next = 0;
    return (start, end) => {
      const words = [];
      while ((where.words[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
      for (let at = next; (where.words[at]?.start ?? Number.POSITIVE_INFINITY) < end; at++) {
        const word = where.words[at];
        if (word) words.push({ ...word, start: Math.max(0, word.start - start), end: Math.min(end, word.end) - start });
      }
      return { kind: 'page', words };
    };
  }
  if (where.kind !== 'lines') return () => where;
  let line = 0;
  return (start, end) => {
    while ((where.starts[line + 1] ?? Number.POSITIVE_INFINITY) <= start) line++;
    const starts = [0];
    for (let at = line + 1; (where.starts[at] ?? Number.POSITIVE_INFINITY) < end; at++) {
      starts.push((where.starts[at] ?? 0) - start);
    }
    return { kind: 'lines', from: where.from + line, starts };
  };
}
