import { describe, expect, test } from 'vitest';
import type { Block, Rectangle, Span } from '../../../app/protocol/index.ts';
import type { Mark } from '../../../renderer/stores/documents/state.ts';
import {
  blockMarks,
  firstPlace,
  isLocated,
  locate,
  marksByPage,
  pageMarks,
  piecesOf,
  topOf,
} from '../../../renderer/viewer/marks.ts';

const rectangle = (y: number): Rectangle => [50, y, 200, 12];
const onPage = (start: number, end: number, page: number, ...ys: number[]): Span => ({
  start,
  end,
  place: { kind: 'page', page, rectangles: ys.map(rectangle) },
});
const mark = (text: string, spans: Span[], evidence: Mark['evidence'] = []): Mark => ({
  key: 'k',
  text,
  spans,
  evidence,
});
const block = (text: string, number = 3): Block => ({ number, kind: 'paragraph', text });
const inBlock = (start: number, end: number, place: { start?: number; end?: number } = {}): Span => ({
  start,
  end,
  place: { kind: 'block', block: 3, ...place },
});

describe('on pages', () => {
  const passage = mark('one two', [onPage(0, 3, 4, 100, 114), onPage(3, 7, 5, 60)]);

  test('every rectangle is painted on its own page, full without evidence', () => {
    expect(pageMarks(passage, 4).map(({ rectangle: [, y], strength }) => [y, strength])).toEqual([
      [100, 'current'],
      [114, 'current'],
    ]);
    expect(pageMarks(passage, 6)).toEqual([]);
    expect(firstPlace(passage)).toMatchObject({ page: 4 });
  });

  test('with evidence the rest is soft, and the reader is brought to the evidence', () => {
    const cited = { ...passage, evidence: [[4, 7]] as const };
    expect(firstPlace(cited)).toMatchObject({ page: 5 });
    expect(pageMarks(cited, 4).every(({ strength }) => strength === 'soft')).toBe(true);
    expect(topOf(pageMarks(cited, 5))).toBe(60);
  });

  test('evidence outside all spans marks the whole passage instead of nothing', () => {
    expect(pageMarks({ ...passage, evidence: [[90, 95]] }, 4)[0]?.strength).toBe('current');
  });

  test('other passages are soft under the current one, which is not painted twice', () => {
    const other = { ...mark('x', [onPage(0, 1, 4, 300)]), key: 'other' };
    const marks = marksByPage(passage, [other, passage]).get(4);
    expect(marks?.map(({ strength }) => strength)).toEqual(['soft', 'current', 'current']);
  });

  test('words of a line become one stroke; another line, a wide gap and another strength do not', () => {
    const word = (start: number, x: number, y: number): Span => ({
      start,
      end: start + 3,
      place: { kind: 'page', page: 1, rectangles: [[x, y, 30, 10]] },
    });
    const line = mark('one two six ten', [word(0, 50, 100), word(4, 84, 101), word(8, 300, 100), word(12, 50, 114)]);
    expect(pageMarks(line, 1).map(({ rectangle }) => rectangle)).toEqual([
      [50, 100, 64, 11],
      [300, 100, 30, 10],
      [50, 114, 30, 10],
    ]);
    expect(pageMarks({ ...line, evidence: [[4, 7]] }, 1)).toHaveLength(4);
  });

  test('a page without rectangles is a page only', () => {
    expect(isLocated(mark('x', [onPage(0, 1, 2)]))).toBe(false);
    expect(isLocated(passage)).toBe(true);
    expect(topOf(pageMarks(mark('x', [onPage(0, 1, 2)]), 2))).toBeNull();
  });
});

describe('in blocks', () => {
  test('the given characters are marked when they are those of the passage', () => {
    const text = 'yes. no. yes.';
    expect(blockMarks(mark('yes.', [inBlock(0, 4, { start: 9, end: 13 })]), block(text))).toMatchObject([
      { start: 9, end: 13 },
    ]);
  });

  test('characters that do not match are looked for; what is not there is not marked', () => {
    expect(blockMarks(mark('two', [inBlock(0, 3, { start: 0, end: 3 })]), block('one two'))).toMatchObject([
      { start: 4, end: 7 },
    ]);
    expect(blockMarks(mark('three', [inBlock(0, 5)]), block('one two'))).toEqual([]);
    expect(blockMarks(mark('one', [inBlock(0, 3)]), block('one', 4))).toEqual([]);
  });

  test('what says it best is cut out of the passage, the rest is soft', () => {
    const given = mark('a matrix of fixed size.', [inBlock(0, 23)], [[12, 17]]);
    expect(blockMarks(given, block('So: a matrix of fixed size.'))).toEqual([
      { start: 4, end: 16, strength: 'soft' },
      { start: 16, end: 21, strength: 'current' },
      { start: 21, end: 27, strength: 'soft' },
    ]);
  });

  test('white space may differ', () => {
    expect(locate('a  fixed\n size', 'fixed size')).toEqual([3, 14]);
    expect(locate('abc', ' ')).toBeNull();
  });

  test('a text is cut at its marks, also where they touch or overlap', () => {
    const pieces = piecesOf('abcdef', [
      { start: 3, end: 5, strength: 'soft' },
      { start: 1, end: 4, strength: 'current' },
    ]);
    expect(pieces.map(({ text, strength }) => `${text}:${strength}`)).toEqual([
      'a:null',
      'bcd:current',
      'e:soft',
      'f:null',
    ]);
    expect(pieces.map(({ text }) => text).join('')).toBe('abcdef');
  });
});
