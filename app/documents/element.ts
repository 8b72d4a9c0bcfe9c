import type { Block, DocumentNotice, DocumentState, Rectangle } from '../protocol/index.ts';

//  What a reader of a format yields: pieces of text in reading order, each with where it stands.

/** Characters [start, end) of a piece's text and the rectangle that covers them. */
export type Word = { start: number; end: number; page: number; box: Rectangle };

export type Where =
  /** Words in order; characters between them (spaces, line ends) stand nowhere. */
  | { kind: 'page'; words: readonly Word[] }
  | { kind: 'block' }
  | { kind: 'cells'; sheet: string; range: string }
  | { kind: 'slide'; slide: number }
  /** `starts[i]`: where the text of line `from + i` begins in the piece's text. */
  | { kind: 'lines'; from: number; starts: readonly number[] };

export type Element = {
  kind: Block['kind'];
  /** 1-6 of a heading. */
  level?: number;
  text: string;
  /** Of a row. `text` joins them with `CELL_SEPARATOR`. */
  cells?: string[];
  /** A row that names the columns: it is repeated where the table goes on in another passage. */
  head?: boolean;
  where: Where;
};

export const CELL_SEPARATOR = ' | ';

export type Step = Extract<DocumentState, { status: 'reading' }>['step'];

/** Where readers put what they find. `add` may wait until what came before has been stored. */
export type Sink = {
  add(piece: Element): Promise<void> | void;
  progress(step: Step, done: number, total: number): void;
  /** Said once, whoever repeats it: what was left out or guessed. */
  notice(code: DocumentNotice['code'], details?: DocumentNotice['details']): void;
};

export type Source = {
  path: string;
  fileName: string;
  bytes: number;
  password: string | null;
  /** Read what stands in pictures. */
  ocr: boolean;
};

/** What is known when all has been read. */
export type DocumentMetadata = { title: string | null; pages: number | null };

export type Reader = (source: Source, sink: Sink) => Promise<DocumentMetadata>;

export const row = (cells: string[], where: Where, head = false): Element => ({
  kind: 'row',
  text: cells.join(CELL_SEPARATOR),
  cells,
  ...(head && { head }),
  where,
});
