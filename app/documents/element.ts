import type { Block, DocumentNotice, DocumentState, Rectangle } from '../protocol/index.ts';

//  The output of format parsers: elements of text in reading order, each with its position.

/** Characters [start, end) of a piece's text and the rectangle that covers them. */
export type Word = { start: number; end: number; page: number; box: Rectangle };

export type Where =
  /** Words in order; the characters between them (spaces, line ends) have no position. */
  | { kind: 'page'; words: readonly Word[] }
  | { kind: 'block' }
  | { kind: 'cells'; sheet: string; range: string }
  | { kind: 'slide'; slide: number }
  /** `starts[i]`: where line `from + i` begins in the element's text. */
  | { kind: 'lines'; from: number; starts: readonly number[] };

export type Element = {
  kind: Block['kind'];
  /** 1-6 of a heading. */
  level?: number;
  text: string;
  /** Of a row. `text` joins them with `CELL_SEPARATOR`. */
  cells?: string[];
  /** A header row: repeated if the table continues in another passage. */
  head?: boolean;
  where: Where;
};

export const CELL_SEPARATOR = ' | ';

export type Step = Extract<DocumentState, { status: 'reading' }>['step'];

/** Receives the elements of a parser. `add` may wait until earlier ones are stored. */
export type Sink = {
  add(piece: Element): Promise<void> | void;
  progress(step: Step, done: number, total: number): void;
  /** Reports something that was left out or guessed; duplicates are ignored. */
  notice(code: DocumentNotice['code'], details?: DocumentNotice['details']): void;
};

export type Source = {
  path: string;
  fileName: string;
  bytes: number;
  password: string | null;
  /** Whether to run OCR on pictures. */
  ocr: boolean;
};

/** Metadata known after parsing. */
export type DocumentMetadata = { title: string | null; pages: number | null };

export type Reader = (source: Source, sink: Sink) => Promise<DocumentMetadata>;

export const row = (cells: string[], where: Where, head = false): Element => ({
  kind: 'row',
  text: cells.join(CELL_SEPARATOR),
  cells,
  ...(head && { head }),
  where,
});
