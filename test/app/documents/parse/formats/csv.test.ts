// Which rows of a table of values are kept, where they stand, and whether the first one names the columns.
import { expect, test } from 'vitest';
import { readCsv } from '../../../../../app/documents/parse/formats/csv.ts';
import { columnName } from '../../../../../app/documents/parse/formats/xlsx.ts';
import { readAlone } from '../../../../support/documents/read-alone.ts';

test('empty rows are left out, and the others keep their numbers', async () => {
  const { lines, pieces } = await readAlone(readCsv, 'a.csv', 'City,Rain\n,\nBergen, 2250 \n\nOslo,-7.5%\n');
  expect(lines).toEqual(['row*: City | Rain', 'row: Bergen | 2250', 'row: Oslo | -7.5%']);
  expect(pieces.map(({ where }) => (where.kind === 'cells' ? where.range : where.kind))).toEqual([
    'A1:B1',
    'A3:B3',
    'A5:B5',
  ]);
  expect(pieces[1]?.cells).toEqual(['Bergen', '2250']);
});

test.each([
  ['a first row with a number names no columns', 'a.csv', 'City,7\nBergen,8\n', ['row: City | 7', 'row: Bergen | 8']],
  ['a single column has no name', 'a.csv', 'City\nBergen\n', ['row: City', 'row: Bergen']],
  ['only the first row names columns', 'a.csv', 'City,Fjord\nBergen,no\n', ['row*: City | Fjord', 'row: Bergen | no']],
  ['tabs separate in .tsv, whatever else is there', 'a.tsv', 'a,b\tc\n1,2\t3\n', ['row*: a,b | c', 'row: 1,2 | 3']],
])('%s', async (_, name, text, expected) => expect((await readAlone(readCsv, name, text)).lines).toEqual(expected));

test('a million cells are read, the rest is cut and told', async () => {
  const rows = (count: number) => `${'1,'.repeat(99_999)}2\n`.repeat(count);
  const all = await readAlone(readCsv, 'a.csv', rows(10));
  expect([all.pieces.length, all.notices]).toEqual([10, []]);
  const more = await readAlone(readCsv, 'a.csv', `${rows(9)}3\n${rows(2)}`);
  expect(more.pieces.map(({ cells }) => cells?.length)).toEqual([...Array(9).fill(100_000), 1, 99_999]);
  expect(more.notices).toEqual([{ code: 'cells-cut', details: { limit: 1_000_000 } }]);
});

test.each([
  [1, 'A'],
  [26, 'Z'],
  [27, 'AA'],
  [52, 'AZ'],
  [53, 'BA'],
  [702, 'ZZ'],
  [703, 'AAA'],
  [16_384, 'XFD'],
])('column %i is %s', (column, name) => expect(columnName(column)).toBe(name));
