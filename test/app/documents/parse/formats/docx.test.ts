// What of a Word file is text: paragraphs, headings by style, tables in tables, and what is left out.
import { expect, test } from 'vitest';
import { readDocx } from '../../../../../app/documents/parse/formats/docx.ts';
import { makeDocx, relations, wp } from '../../../../support/documents/office.ts';
import { readAlone } from '../../../../support/documents/read-alone.ts';

const read = (body: string, options: Parameters<typeof makeDocx>[1] = {}) =>
  readAlone(readDocx, 'a.docx', makeDocx(body, options));
const table = (...rows: string[][]) =>
  `<w:tbl>${rows.map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;
const run = (inside: string) => `<w:p><w:r>${inside}</w:r></w:p>`;

test.each([
  [
    'tabs, line ends and hyphens',
    run('<w:tab/><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t><w:noBreakHyphen/><w:t>e</w:t>'),
    ['paragraph: a\tb\nc\nd-e'],
  ],
  [
    'a heading by its own level',
    wp('a', '<w:outlineLvl w:val="5"/>') + wp('b', '<w:outlineLvl w:val="6"/>') + wp(' ', '<w:outlineLvl w:val="0"/>'),
    ['heading6: a', 'paragraph: b'],
  ],
  ['a style that is not there', wp('a', '<w:pStyle w:val="gone"/>'), ['paragraph: a']],
  ['hidden text that is switched off', run('<w:rPr><w:vanish w:val="0"/></w:rPr><w:t>a</w:t>'), ['paragraph: a']],
  [
    'a hidden run among others',
    '<w:p><w:r><w:t>a</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>b</w:t></w:r><w:r><w:t>c</w:t></w:r></w:p>',
    ['paragraph: ac'],
  ],
  ['commands of fields', run('<w:instrText>PAGE</w:instrText><w:t>a</w:t>'), ['paragraph: a']],
  [
    'text that moved',
    `<w:p><w:moveFrom><w:r><w:t>a</w:t></w:r></w:moveFrom></w:p><w:p><w:moveTo><w:r><w:t>b</w:t></w:r></w:moveTo></w:p>`,
    ['paragraph: b'],
  ],
  ['text in a picture of an old version', run('<w:pict><w:t>a</w:t></w:pict><w:t>b</w:t>'), ['paragraph: b']],
  [
    'a box within a paragraph',
    `<w:p><w:r><w:t>a</w:t></w:r><w:txbxContent>${wp('b')}${wp(' ')}</w:txbxContent><w:r><w:t>c</w:t></w:r></w:p>`,
    ['paragraph: a\nbc'],
  ],
  [
    'tables, each with its head',
    table([wp('a'), wp('b')], [wp('c'), '']) + table([wp('d')]),
    ['row*: a | b', 'row: c | ', 'row*: d'],
  ],
  ['an empty row', table([wp(''), wp('')], [wp('a')]), ['row*: a']],
  ['paragraphs in a cell', table([wp('a') + wp('') + wp('b')]), ['row*: a b']],
  ['a table in a cell', table([wp('a') + table([wp('b'), wp('c')], [wp('d')]), wp('e')]), ['row*: a b | c d | e']],
])('%s', async (_, body, expected) => expect((await read(body)).lines).toEqual(expected));

test('headings have the level of their style, of the one it extends, or that of a title', async () => {
  const style = (id: string, inside: string) => `<w:style w:styleId="${id}">${inside}</w:style>`;
  const chain = Array.from({ length: 12 }, (_, at) => style(`c${at}`, `<w:basedOn w:val="c${at + 1}"/>`)).join('');
  const styles = `<w:styles xmlns:w="w"><w:name w:val="heading 3"/>${style('t', '<w:name w:val="Title"/>')}${style('o', '<w:outlineLvl w:val="2"/>')}${style('n', '<w:name w:val="heading 4"/><w:outlineLvl w:val="1"/>')}${style('e', '<w:basedOn w:val="o"/>')}${style('p', '<w:outlineLvl w:val="6"/>')}${chain}${style('c12', '<w:name w:val="heading 1"/>')}</w:styles>`;
  const body = ['t', 'o', 'n', 'e', 'p', 'c2', 'c1'].map((id) => wp(id, `<w:pStyle w:val="${id}"/>`)).join('');
  const { lines, title } = await read(body, { parts: { 'word/styles.xml': styles } });
  expect(lines).toEqual([
    'heading1: t',
    'heading3: o',
    'heading4: n',
    'heading3: e',
    'paragraph: p',
    'heading1: c2',
    'paragraph: c1',
  ]);
  expect(title).toBe('t');
});

test('the title is that of the properties, else the first heading of the first level', async () => {
  const heading =
    wp('First', '<w:outlineLvl w:val="1"/>') +
    wp('Second', '<w:outlineLvl w:val="0"/>') +
    wp('Third', '<w:outlineLvl w:val="0"/>');
  expect((await read(heading)).title).toBe('Second');
  expect((await read(heading, { title: 'The  lake' })).title).toBe('The lake');
  expect((await read(heading, { title: 'Document1' })).title).toBe('Second');
  expect((await read(wp('a'))).title).toBeNull();
});

test('only what is there is told', async () => {
  expect((await read(wp('a'))).notices).toEqual([]);
  expect((await read('<w:p><w:ins><w:r><w:t>a</w:t></w:r></w:ins></w:p>')).notices).toEqual(['tracked-changes']);
  expect((await read(`${wp('a')}<w:p><w:del><w:r><w:t>a</w:t></w:r></w:del></w:p>`)).notices).toEqual([
    'tracked-changes',
  ]);
  expect((await read(run('<w:rPr><w:vanish/></w:rPr><w:t>a</w:t>'))).notices).toEqual(['hidden-text']);
  expect((await read(wp('a'), { parts: { 'word/comments.xml': '<w:comments/>' } })).notices).toEqual(['comments']);
});

test('a document stands where its package says, be it by a whole path', async () => {
  const parts = {
    '_rels/.rels': relations({ a: ['thumbnail', 'word/document.xml'], b: ['officeDocument', '/other/main.xml'] }),
    'other/main.xml': `<w:document xmlns:w="w"><w:body>${wp('there')}${wp('title', '<w:pStyle w:val="x"/>')}</w:body></w:document>`,
    'other/_rels/main.xml.rels': relations({ s: ['styles', '../styles.xml'] }),
    'styles.xml': '<w:styles xmlns:w="w"><w:style w:styleId="x"><w:name w:val="heading 2"/></w:style></w:styles>',
  };
  expect((await read(wp('here'), { parts })).lines).toEqual(['paragraph: there', 'heading2: title']);
  const gone = { '_rels/.rels': relations({ b: ['officeDocument', 'gone.xml'] }) };
  expect((await read(wp('here'), { parts: gone })).lines).toEqual(['paragraph: here']);
});

test('what stands outside of the package is not followed', async () => {
  const rels =
    '<Relationships><Relationship Id="a" Type="x/styles" Target="styles.xml" TargetMode="External"/></Relationships>';
  const { lines } = await read(wp('a', '<w:pStyle w:val="berschrift1"/>'), {
    parts: { 'word/_rels/document.xml.rels': rels },
  });
  expect(lines).toEqual(['paragraph: a']);
});
