// How cells are shown, in which columns they stand, and what is cut.
import { expect, test } from 'vitest';
import { readXlsx } from '../../../../../app/documents/parse/formats/xlsx.ts';
import { createFormatter } from '../../../../../app/documents/parse/formats/xlsx-values.ts';
import { archive, relations } from '../../../../support/documents/office.ts';
import { readAlone } from '../../../../support/documents/read-alone.ts';

const styles = (formats: (string | number)[]) =>
  `<s>${formats.map((one, at) => (typeof one === 'string' ? `<numFmt numFmtId="${200 + at}" formatCode="${one}"/>` : '')).join('')}<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs>${formats.map((one, at) => `<xf numFmtId="${typeof one === 'string' ? 200 + at : one}"/>`).join('')}</cellXfs><dxfs><xf numFmtId="9"/></dxfs></s>`;

test.each<[string | number, string, string]>([
  [0, '1234.5', '1234.5'],
  [9, '0.125', '12.5%'],
  [10, '0.07', '7%'],
  [14, '1', '1900-01-01'],
  [14, '59', '1900-02-28'],
  [14, '61', '1900-03-01'],
  [17, '45000.75', '2023-03-15'],
  [20, '0.75', '18:00'],
  [21, '0.7500116', '18:00:01'],
  [22, '45000.5', '2023-03-15 12:00'],
  [47, '0.5', '12:00'],
  [22, '1e12', '1000000000000'],
  ['0.0%', '0.5', '50%'],
  ['d. mmm', '45000', '2023-03-15'],
  ['mmmm', '45000', '2023-03-15'],
  ['h:mm', '0.25', '06:00'],
  ['mm:ss', '0.25', '06:00'],
  ['[h]:mm', '0.25', '06:00'],
  ['yyyy-mm-dd hh:mm', '45000.25', '2023-03-15 06:00'],
  ['0.00 &quot;days&quot;', '3', '3'],
  ['[Red]0', '3', '3'],
  ['0\\d', '3', '3'],
  ['#,##0', '0.30000000000000004', '0.3'],
  [9, 'n/a', 'n/a'],
  [9, '', ''],
])('a number in the format %s: %s is shown as %s', async (format, value, shown) => {
  const formatter = await createFormatter(styles([0, format]), false);
  expect(formatter(value, 'n', 1)).toBe(shown);
});

test('values that are no numbers, styles that are not there, and days since 1904', async () => {
  const formatter = await createFormatter(null, false);
  expect([formatter('1', 'b', 0), formatter('0', 'b', 0), formatter('7', 'str', 0), formatter('7', 'n', 3)]).toEqual([
    'TRUE',
    'FALSE',
    '7',
    '7',
  ]);
  expect((await createFormatter(styles([14]), true))('0', 'n', 0)).toBe('1904-01-01');
});

const workbook = (sheets: string[], more: Record<string, string> = {}, head = '') =>
  readAlone(
    readXlsx,
    'a.xlsx',
    archive({
      'xl/_rels/workbook.xml.rels': relations({
        ...Object.fromEntries(sheets.map((_, at) => [`s${at}`, ['worksheet', `${at}.xml`] as [string, string]])),
        styles: ['styles', 'styles.xml'],
        shared: ['sharedStrings', 'shared.xml'],
      }),
      'xl/workbook.xml': `<w>${head}${sheets.map((_, at) => `<sheet name="S${at}" r:id="s${at}"/>`).join('')}</w>`,
      'xl/styles.xml': styles([0, 14]),
      ...Object.fromEntries(sheets.map((sheet, at) => [`xl/${at}.xml`, `<x>${sheet}</x>`])),
      ...more,
    }),
  );
const cell = (place: string, value: string | number) =>
  `<c r="${place}" t="${typeof value === 'number' ? 'n' : 'str'}"><v>${value}</v></c>`;

test('rows know where they stand, and the first names the columns where none of it is a number', async () => {
  const rows = `<row r="3">${cell('B3', 'City')}${cell('C3', 'Rain')}</row><row r="4">${cell('B4', ' ')}</row><row>${cell('B5', 'Bergen')}${cell('AA5', 2250)}</row>`;
  const { lines, pieces, progress, pages } = await workbook([
    rows,
    `<row>${cell('A1', 'x')}<c><v>1</v></c></row><row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row>`,
  ]);
  expect(lines).toEqual([
    'sheet: S0',
    'row*: City | Rain',
    `row: Bergen${' | '.repeat(25)}2250`,
    'sheet: S1',
    'row: x | 1',
    'row: a | b',
  ]);
  expect(pieces.map(({ where }) => (where.kind === 'cells' ? `${where.sheet}!${where.range}` : ''))).toEqual([
    'S0!A1',
    'S0!B3:C3',
    'S0!B5:AA5',
    'S1!A1',
    'S1!A1:B1',
    'S1!A2:B2',
  ]);
  expect([pages, progress]).toEqual([
    2,
    [
      [1, 2],
      [2, 2],
    ],
  ]);
});

test('gaps of fifty columns are kept, wider ones are closed', async () => {
  const width = async (place: string) =>
    (await workbook([`<row r="1">${cell('A1', 'a')}${cell(place, 'b')}</row>`])).pieces[1]?.cells?.length;
  expect(await width('AZ1')).toBe(52);
  expect(await width('BA1')).toBe(2);
});

test('texts that sheets share: without how they are spoken, and none where there is none', async () => {
  const shared =
    '<sst><si><t>one</t></si><si><r><t>tw</t></r><r><t>o</t></r><rPh><t>spoken</t></rPh></si><si><rPh><t>x</t></rPh><t>three</t></si></sst>';
  const rows = `<row r="1">${[0, 1, 2, 9].map((at) => `<c t="s"><v>${at}</v></c>`).join('')}<c t="inlineStr"><is><t>in</t></is></c></row>`;
  expect((await workbook([rows], { 'xl/shared.xml': shared })).lines[1]).toBe('row*: one | two | three | in');
  expect((await workbook([rows])).lines).toEqual(['sheet: S0', 'row: in']);
});

test('dates count from 1904 where the workbook says so', async () => {
  const row = '<row><c s="1"><v>0</v></c></row>';
  for (const [said, day] of [
    ['1', '1904-01-01'],
    ['true', '1904-01-01'],
    ['0', '1899-12-31'],
  ])
    expect((await workbook([row], {}, `<workbookPr date1904="${said}"/>`)).lines[1]).toBe(`row: ${day}`);
});

test('a sheet without a name is numbered, a long name is cut, and what is not there is left out', async () => {
  const head = `<sheet r:id="s0"/><sheet name="gone" r:id="x"/><sheet name="twice" r:id="s0"/>`;
  const { lines } = await workbook(['<row><c><v>1</v></c></row>', ''], {
    'xl/workbook.xml': `<w>${head}<sheet name="${'n'.repeat(101)}" x:id="s1"/></w>`,
  });
  expect(lines).toEqual(['sheet: Sheet 1', 'row: 1', `sheet: ${'n'.repeat(100)}`]);
});
