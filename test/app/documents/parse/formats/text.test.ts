// Where plain text, code and JSON are cut, and which lines each part is said to stand on.
import { expect, test } from 'vitest';
import type { Element } from '../../../../../app/documents/element.ts';
import { linesPiece, readCode, readJson, readPlainText } from '../../../../../app/documents/parse/formats/text.ts';
import { readAlone } from '../../../../support/documents/read-alone.ts';

const place = ({ where }: Element) =>
  where.kind === 'lines' ? [where.from, where.from + where.starts.length - 1] : where.kind;
const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, at) => `line${at + from};`);

test('paragraphs are the lines between empty ones, and know where they stand', async () => {
  const { pieces, lines, title } = await readAlone(readPlainText, 'a.txt', '\none\ntwo\n \n\nthree\n');
  expect(lines).toEqual(['paragraph: one\ntwo', 'paragraph: three']);
  expect(pieces.map(place)).toEqual([
    [2, 3],
    [6, 6],
  ]);
  expect(pieces[0]?.where).toEqual({ kind: 'lines', from: 2, starts: [0, 4] });
  expect(title).toBeNull();
  expect((await readAlone(readPlainText, 'a.txt', 'one\n\ntwo')).lines).toEqual(['paragraph: one', 'paragraph: two']);
});

test('code is cut after sixty lines, and no line is lost', async () => {
  for (const [count, expected] of [
    [60, [[1, 60]]],
    [
      61,
      [
        [1, 60],
        [61, 61],
      ],
    ],
    [
      125,
      [
        [1, 60],
        [61, 120],
        [121, 125],
      ],
    ],
  ] as const) {
    const { pieces, title } = await readAlone(readCode, 'a.ts', numbered(count).join('\n'));
    expect(pieces.map(place)).toEqual(expected);
    expect(pieces.map(({ text }) => text).join('\n')).toBe(numbered(count).join('\n'));
    expect(title).toBe('a.ts');
  }
});

test('code is cut before a line that is not indented, once ten lines stand above', async () => {
  const cuts = async (above: number, line: string) =>
    (await readAlone(readCode, 'a.ts', [...numbered(above), '', line].join('\n'))).pieces.map(place);
  expect(await cuts(9, 'next')).toEqual([
    [1, 9],
    [11, 11],
  ]);
  expect(await cuts(8, 'next')).toEqual([[1, 10]]);
  for (const line of ['  indented', '}', ')']) expect(await cuts(9, line)).toEqual([[1, 11]]);
});

test('how far code has been read counts its lines', async () => {
  const { progress } = await readAlone(readCode, 'a.ts', numbered(80).join('\n'));
  expect(progress).toEqual([
    [60, 80],
    [80, 80],
  ]);
  expect((await readAlone(readCode, 'a.ts', '\n \n')).pieces).toEqual([]);
});

test('JSON with a line of more than 2,000 characters is laid out, other JSON stays as it is', async () => {
  const of = async (length: number) => readAlone(readJson, 'a.json', `{"a":"${'b'.repeat(length - 8)}"}`);
  expect(await of(2000)).toMatchObject({ notices: [], lines: [`code: {"a":"${'b'.repeat(1992)}"}`] });
  expect(await of(2001)).toMatchObject({ notices: ['laid-out'], lines: [`code: {\n "a": "${'b'.repeat(1993)}"\n}`] });
});

test('JSON is laid out line by line; what is not JSON, or is nested more than a hundred deep, stays as it is', async () => {
  const word = `"${'b'.repeat(2000)}"`;
  const nested = (depth: number) => `${'[1,'.repeat(depth)}${word}${']'.repeat(depth)}`;
  const notices = async (text: string) => (await readAlone(readJson, 'a.json', text)).notices;
  expect((await readAlone(readJson, 'a.json', `{"a":1}\n\n[${word}]`)).lines.join()).toBe(
    `code: {\n "a": 1\n}\n[\n ${word}\n]`,
  );
  expect(await notices(`[${word}`)).toEqual([]);
  expect(await notices(nested(100))).toEqual(['laid-out']);
  expect(await notices(nested(101))).toEqual([]);
  expect(await notices(`[${nested(60)},${'{"a":'.repeat(60)}1${'}'.repeat(60)}]`)).toEqual(['laid-out']);
});

test('empty lines at either end do not count as lines of a part', () => {
  const lines = ['', ' ', 'a', '', 'b', '', ''];
  expect(linesPiece('code', lines, 0, 7)).toEqual({
    kind: 'code',
    text: 'a\n\nb',
    where: { kind: 'lines', from: 3, starts: [0, 2, 3] },
  });
  expect(linesPiece('code', lines, 0, 2)).toMatchObject({ text: '' });
});
