import { expect, test } from 'vitest';
import type { Segment } from '../../../../../app/documents/parse/pdf/lines.ts';
import { createMargins } from '../../../../../app/documents/parse/pdf/margins.ts';
import { keepsHyphen, piecesOf } from '../../../../../app/documents/parse/pdf/paragraphs.ts';
import type { PageWord } from '../../../../../app/documents/parse/pdf/words.ts';

//  Lines of a page become paragraphs, items and rows; what stands at the edge of every page goes. Lines are 10 points high.

type Look = { left?: number; right?: number; size?: number; bold?: boolean; at?: number };

function segment(
  text: string,
  baseline: number,
  { left = 0, right = 400, size = 10, bold = false }: Look = {},
): Segment {
  const box = { left, top: baseline - size, right, bottom: baseline + 2, baseline, size };
  const words = text
    .split(' ')
    .map((word, at) => ({ ...box, text: word, spaced: at > 0, tracking: 0, font: { bold }, box: [0, 0, 0, 0] }));
  return { ...box, words: words as unknown as PageWord[] };
}

/** The texts of paragraphs; every line is 12 points below the one before unless `at` says how far. */
function paragraphs(...lines: readonly (string | [string, Look])[]) {
  let baseline = 100;
  const region = lines.map((line, index) => {
    const [text, look] = typeof line === 'string' ? [line, {}] : line;
    if (index > 0) baseline += look.at ?? 12;
    return [segment(text, baseline, look)];
  });
  return piecesOf([{ kind: 'text', lines: region }], 3).map(({ text }) => text);
}

const three = ['The lantern hangs', 'beside the gate', 'of the harbour'] as const;
const rest = ['and stays there', 'for many years', 'as we all know'] as const;

test.each([
  ['lines of one distance', [...three, ...rest], 1],
  ['a gap of a line', [...three, [rest[0], { at: 24 }], rest[1], rest[2]], 2],
  ['a gap just within', [...three, [rest[0], { at: 16.5 }], rest[1], rest[2]], 1],
  ['a gap just beyond', [...three, [rest[0], { at: 16.7 }], rest[1], rest[2]], 2],
  ['a size a little larger', [...three, [rest[0], { size: 11.3 }], [rest[1], { size: 11.3 }]], 1],
  ['another size', [...three, [rest[0], { size: 11.4 }], [rest[1], { size: 11.4 }]], 2],
  ['a bold line', [[three[0], { bold: true }], three[1], three[2], ...rest], 2],
  ['an indent', [...three, [rest[0], { left: 9 }], rest[1], rest[2]], 2],
  ['an indent of less', [...three, [rest[0], { left: 7 }], rest[1], rest[2]], 1],
  ['an indent after a short line', [three[0], [three[1], { right: 119 }], [rest[0], { left: 9 }], rest[1]], 1],
  ['a short line that ends a sentence', [three[0], ['beside the gate.', { right: 279 }], rest[0], rest[1]], 2],
  ['a long line that ends a sentence', [three[0], ['beside the gate.', { right: 281 }], rest[0], rest[1]], 1],
  ['a short line that ends none', [three[0], ['beside the gate', { right: 279 }], rest[0], rest[1]], 1],
  ['items', ['• a lantern', '• a gate', '2) a harbour', 'a. one more'], 4],
  ['an item that hangs', ['• a lantern hangs', ['beside the gate', { left: 9 }]], 1],
] as const)('paragraphs: %s', (_, lines, count) => {
  expect(paragraphs(...(lines as readonly (string | [string, Look])[]))).toHaveLength(count);
});

test.each([
  ['a word that is cut', ['an exam-', 'ple of it'], 'an example of it'],
  ['a name with a hyphen', ['the Anglo-', 'Saxon'], 'the Anglo-Saxon'],
  ['years', ['in 1990-', '1995 there'], 'in 1990-1995 there'],
  ['a dash', ['it is -', 'as said'], 'it is - as said'],
  ['plain lines', ['one', 'two'], 'one two'],
  ['Chinese', ['你好', '世界'], '你好世界'],
  ['Chinese before Latin', ['你好', 'world'], '你好 world'],
] as const)('lines are joined: %s', (_, lines, text) => {
  expect(paragraphs(...lines)).toEqual([text]);
});

test('every word says where it stands in the text, also where a hyphen went', () => {
  const [piece] = piecesOf([{ kind: 'text', lines: [[segment('an exam-', 100)], [segment('ple of it', 112)]] }], 3);
  expect(piece).toMatchObject({ kind: 'paragraph', size: 10, bold: false });
  expect(piece?.where.words.map(({ start, end, page }) => [piece.text.slice(start, end), page])).toEqual([
    ['an', 3],
    ['exam', 3],
    ['ple', 3],
    ['of', 3],
    ['it', 3],
  ]);
  expect([keepsHyphen('Anglo-', 'Saxon'), keepsHyphen('a -', 'Saxon'), keepsHyphen('exam-', 'ple')]).toEqual([
    true,
    false,
    false,
  ]);
});

test('rows of a table have their cells, and the first is its head', () => {
  const row = (at: number, bold = false, ...cells: string[]) =>
    cells.map((cell, n) => segment(cell, at, { left: 100 * n, bold }));
  const pieces = piecesOf(
    [{ kind: 'table', rows: [row(100, true, 'Name of', 'Year'), row(112, false, 'Ada', '1815')] }],
    1,
  );
  expect(pieces).toMatchObject([
    { kind: 'row', text: 'Name of | Year', cells: ['Name of', 'Year'], head: true, bold: true },
    { kind: 'row', text: 'Ada | 1815', cells: ['Ada', '1815'], bold: false },
  ]);
  expect(pieces[1]).not.toHaveProperty('head');
});

/** What is left of pages of 1000 points with these lines: text and baseline. */
function leftOf(pages: readonly (readonly [string, number])[][], heights: readonly number[] = []) {
  const margins = createMargins<number>();
  const given = pages.flatMap((lines, at) =>
    margins.add({
      height: heights[at] ?? 1000,
      segments: lines.map(([text, baseline]) => segment(text, baseline)),
      rest: at,
    }),
  );
  const all = [...given, ...margins.end()];
  expect(all.map(({ rest: at }) => at)).toEqual(pages.map((_, at) => at));
  return {
    early: given.length,
    left: all.map(({ segments }) => segments.map(({ words }) => words.map(({ text }) => text).join(' '))),
  };
}
const page = (number: number | string, top = 117, bottom = 891) =>
  [
    ['A History', top],
    ['The lantern', 500 + (typeof number === 'number' ? 20 * number : 0)],
    [`Page ${number}`, bottom],
  ] as [string, number][];

test('headers and footers go from every page, whatever their number, and pages come four later', () => {
  const { early, left } = leftOf([1, 2, 3, 4, 5, 6].map((number) => page(number)));
  expect(left).toEqual(Array.from({ length: 6 }, () => ['The lantern']));
  expect(early).toBe(2);
  expect(leftOf(['i', 'ii', 'xiv'].map((number) => page(number))).left[2]).not.toContain('Page xiv');
});

test.each([
  ['below the upper edge', [1, 2, 3].map((number) => page(number, 118)), [true, false]],
  ['above the lower edge', [1, 2, 3].map((number) => page(number, 117, 890)), [false, true]],
  ['two points off on the others', [page(1, 100), page(2, 102), page(3, 98)], [false, false]],
  ['more than two points off', [page(1, 100), page(2, 102.1), page(3, 97.9)], [true, false]],
  ['on one page alone', [page(1)], [true, true]],
  ['on both of two', [page(1), page(2)], [false, false]],
  ['on two of three only', [page(1), page(2), [['Other', 300]]], [true, true]],
] as const)('a header and a footer %s', (_, pages, stay) => {
  const [first] = leftOf(pages as unknown as [string, number][][]).left;
  expect([first?.includes('A History'), first?.includes('Page 1')]).toEqual(stay);
});

test('on a page of another height nothing is the same; what stands inside the margin stays', () => {
  expect(leftOf([page(1), page(2), page(3)], [1000, 1001, 1002]).left[0]).toHaveLength(3);
  const inside = [1, 2, 3].map(
    (number) => [[`Own words ${'a'.repeat(number)}`, 60], ...page(number)] as [string, number][],
  );
  expect(leftOf(inside).left[0]).toContain('A History');
  const far = [
    page(1),
    ...Array.from({ length: 4 }, (_, at) => [[`Other ${'y'.repeat(at)}`, 300]] as [string, number][]),
    page(9),
    page(10),
  ];
  expect(leftOf(far).left[0]).toContain('A History');
});
