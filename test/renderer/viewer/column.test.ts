import { expect, test } from 'vitest';
import type { Rectangle, Span } from '../../../app/protocol/index.ts';
import type { Mark } from '../../../renderer/stores/documents/state.ts';
import { columnAround, columnOf } from '../../../renderer/viewer/column.ts';

//  Pages of two columns: 50 to 290 and 310 to 550 points.

const line = (x: number, y: number, width = 240): Rectangle => [x, y, width, 10];
const on = (page: number, start: number, rectangles: Rectangle[]): Span => ({
  start,
  end: start + 10,
  place: { kind: 'page', page, rectangles },
});
const markOf = (spans: Span[], evidence: Mark['evidence'] = []): Mark => ({ key: 'a', text: '', spans, evidence });

test('lines above each other are one column, whatever the length of the last; the other column is left out', () => {
  const mark = markOf([on(3, 0, [line(50, 700), line(50, 712)]), on(3, 10, [line(310, 80), line(310, 92, 60)])]);
  expect(columnOf(mark)).toEqual({ page: 3, left: 50, right: 290 });
  expect(columnOf({ ...mark, evidence: [[12, 15]] })).toEqual({ page: 3, left: 310, right: 550 });
});

test('words of a line are joined over the spaces between them, in any order', () => {
  const words: Rectangle[] = [line(230, 100, 60), line(50, 100, 80), line(140, 100, 80)];
  expect(columnAround(line(50, 100, 80), words)).toEqual({ left: 50, right: 290 });
});

test('a word or a short line still has a column of some width', () => {
  expect(columnAround(line(50, 100, 30), [])).toEqual({ left: 50, right: 230 });
});

test('lines of other pages do not count, and what has no place on a page has no column', () => {
  expect(columnOf(markOf([on(1, 0, [line(50, 700)]), on(2, 10, [line(200, 80, 300)])]))).toMatchObject({ right: 290 });
  expect(columnOf(null)).toBeNull();
  expect(columnOf(markOf([on(1, 0, [])]))).toBeNull();
  expect(columnOf(markOf([{ start: 0, end: 9, place: { kind: 'block', block: 1 } }]))).toBeNull();
});
