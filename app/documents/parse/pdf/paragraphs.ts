import type { Word } from '../../element.ts';
import { CELL_SEPARATOR, type Element } from '../../element.ts';
import { median, type Region } from './layout.ts';
import type { Segment } from './lines.ts';
import { isWide, logical, type PageWord } from './words.ts';

//  Splits regions into elements: paragraphs by gaps, indents and sizes; hyphenated words are joined.

export type PagePiece = Element & { where: { kind: 'page'; words: Word[] }; size: number; bold: boolean };

export function piecesOf(regions: readonly Region[], page: number): PagePiece[] {
  return regions.flatMap((region) =>
    region.kind === 'table'
      ? region.rows.map((cells, at) => rowPiece(cells, page, at === 0))
      : paragraphsOf(region.lines).map((lines) => textPiece(lines, page)),
  );
}

type Line = Segment[];

function paragraphsOf(lines: readonly Line[]): Line[][] {
  // In ems of the line, so that it scales with the font size.
  const steps = lines.slice(1).map((line, at) => (baselineOf(line) - baselineOf(lines[at] as Line)) / sizeOf(line));
  // With few steps, take a smaller one: the others are between paragraphs.
  const pitch = [...steps].sort((a, b) => a - b)[Math.floor(Math.max(0, steps.length - 1) * 0.4)] ?? 0;
  const left = lines.reduce((least, line) => Math.min(least, leftOf(line)), Number.POSITIVE_INFINITY);
  const right = lines.reduce((most, line) => Math.max(most, rightOf(line)), Number.NEGATIVE_INFINITY);
  const paragraphs: Line[][] = [];
  for (const [at, line] of lines.entries()) {
    const before = lines[at - 1];
    if (before && !begins(before, line, { pitch, left, right })) paragraphs.at(-1)?.push(line);
    else paragraphs.push([line]);
  }
  return paragraphs;
}

const ITEM = /^(?:[•·▪◦‣∙■□●○]|[–—*-]$|\(?(?:\d{1,3}|[a-zA-Z])[.)]$)/;

function begins(before: Line, line: Line, column: { pitch: number; left: number; right: number }): boolean {
  const size = sizeOf(line);
  if (Math.abs(size - sizeOf(before)) > size * 0.12) return true;
  if (isBold(line) !== isBold(before)) return true;
  if ((baselineOf(line) - baselineOf(before)) / size > column.pitch * 1.3 + 0.1) return true;
  if (ITEM.test(line[0]?.words[0]?.text ?? '')) return true;
  const indented = leftOf(line) > column.left + size * 0.8 && leftOf(before) < column.left + size * 0.4;
  if (indented && rightOf(before) > column.left + (column.right - column.left) * 0.3) {
    // List items have a hanging indent.
    return !ITEM.test(before[0]?.words[0]?.text ?? '');
  }
  const short = rightOf(before) < column.left + (column.right - column.left) * 0.7;
  return short && /[.!?:;。！？]["”’»)]?$/.test(before.at(-1)?.words.at(-1)?.text ?? '');
}

const baselineOf = (line: Line) => line[0]?.baseline ?? 0;
const leftOf = (line: Line) => line.reduce((least, { left }) => Math.min(least, left), Number.POSITIVE_INFINITY);
const rightOf = (line: Line) => line.reduce((most, { right }) => Math.max(most, right), Number.NEGATIVE_INFINITY);
const sizeOf = (line: Line) => line.reduce((most, { size }) => Math.max(most, size), 0);
const isBold = (line: Line) => line.every(({ words }) => words.every(({ font }) => font.bold));

function textPiece(lines: readonly Line[], page: number): PagePiece {
  const text = createText(page);
  for (const line of lines) {
    for (const [at, word] of line.flatMap(({ words }) => words).entries()) text.add(word, at === 0);
  }
  const item = ITEM.test(lines[0]?.[0]?.words[0]?.text ?? '');
  return {
    kind: item ? 'item' : 'paragraph',
    ...text.piece(),
    size: median(lines.map(sizeOf)),
    bold: lines.every(isBold),
  };
}

function rowPiece(cells: Line, page: number, head: boolean): PagePiece {
  const text = createText(page);
  const texts: string[] = [];
  for (const [at, { words }] of cells.entries()) {
    if (at > 0) text.separate();
    const start = text.length();
    for (const word of words) text.add(word, false);
    texts.push(text.since(start));
  }
  const bold = cells.every(({ words }) => words.every(({ font }) => font.bold));
  return { kind: 'row', ...text.piece(), cells: texts, ...(head && { head }), size: sizeOf(cells), bold };
}

function createText(page: number) {
  let text = '';
  const words: Word[] = [];
  return {
    add(word: PageWord, newLine: boolean) {
      const said = logical(word.text);
      const last = words.at(-1);
      if (newLine && last && endsCut(text, said)) {
        text = text.replace(/[-\u2010]$/, '');
        last.end = text.length;
      } else if (text !== '' && !text.endsWith(CELL_SEPARATOR) && (newLine ? !joins(text, said) : word.spaced)) {
        text += ' ';
      }
      words.push({ start: text.length, end: text.length + said.length, page, box: word.box });
      text += said;
    },
    separate() {
      text += CELL_SEPARATOR;
    },
    length: () => text.length,
    since: (start: number) => text.slice(start).trim(),
    piece: () => ({ text, where: { kind: 'page' as const, words } }),
  };
}

/** A word hyphenated at the line end: "exam-" and "ple". */
const endsCut = (text: string, next: string) => /\p{Ll}[-\u2010]$/u.test(text) && /^\p{Ll}/u.test(next);
/** A genuine hyphen: "Anglo-" and "Saxon", "1990-" and "1995". */
export const keepsHyphen = (text: string, next: string) =>
  /[\p{L}\p{N}][-\u2010]$/u.test(text) && /^[\p{Lu}\p{N}]/u.test(next);
const joins = (text: string, next: string) => keepsHyphen(text, next) || joinsWide(text, next);
const joinsWide = (text: string, next: string) => isWide(text.at(-1) ?? '') && isWide(next.charAt(0));
