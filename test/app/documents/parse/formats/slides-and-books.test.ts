// The order of slides and chapters, their titles, how far they are read, and what is left out.
import { expect, test } from 'vitest';
import { readEpub } from '../../../../../app/documents/parse/formats/epub.ts';
import { readPptx } from '../../../../../app/documents/parse/formats/pptx.ts';
import { archive, makeEpub, makePptx, relations } from '../../../../support/documents/office.ts';
import { readAlone } from '../../../../support/documents/read-alone.ts';

const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
const shape = (type: string | null, ...texts: string[]) =>
  `<p:sp>${type === null ? '' : `<p:ph${type && ` type="${type}"`}/>`}${texts.map(paragraph).join('')}</p:sp>`;
const slides = (bodies: string[], list = bodies.map((_, at) => at), more: Record<string, string> = {}) =>
  readAlone(
    readPptx,
    'a.pptx',
    archive({
      'ppt/_rels/presentation.xml.rels': relations(
        Object.fromEntries(bodies.map((_, at) => [`s${at}`, ['slide', `slides/s${at}.xml`]])),
      ),
      'ppt/presentation.xml': `<p:presentation>${list.map((at) => `<p:sldId id="9" r:id="s${at}"/><p:other r:id="s0"/>`).join('')}</p:presentation>`,
      ...Object.fromEntries(bodies.map((body, at) => [`ppt/slides/s${at}.xml`, `<p:sld>${body}</p:sld>`])),
      ...more,
    }),
  );

test('slides come in the order of the list, each once, and those that are not there are left out', async () => {
  const { lines, pages, progress } = await slides(
    [shape('title', 'A'), shape('ctrTitle', 'B'), shape(null, 'c')],
    [2, 1, 7, 1, 0],
  );
  expect(lines).toEqual(['slide: Slide 1', 'paragraph: c', 'slide: B', 'slide: A']);
  expect([pages, progress]).toEqual([
    3,
    [
      [1, 3],
      [2, 3],
      [3, 3],
    ],
  ]);
});

test('what stands on a slide', async () => {
  const body = [
    shape('title', 'Two', 'lines'),
    shape('', 'point', ' '),
    shape('subTitle', 'under'),
    ...['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'].map((type) => shape(type, 'every')),
    '<p:sp><a:p><a:t>up</a:t><a:br/><a:t>down</a:t></a:p></p:sp>',
    `<a:tbl><a:tr><a:tc>${paragraph('a')}${paragraph('b')}</a:tc><a:tc>${paragraph('c')}</a:tc></a:tr><a:tr><a:tc/></a:tr><a:tr><a:tc>${paragraph('d')}</a:tc></a:tr></a:tbl>`,
    `<a:tbl><a:tr><a:tc>${paragraph('e')}</a:tc></a:tr></a:tbl>`,
    shape(null, 'end'),
  ];
  const { lines, pieces } = await slides([body.join('')]);
  expect(lines).toEqual([
    'slide: Two lines',
    'item: point',
    'paragraph: under',
    'paragraph: up\ndown',
    'row*: a b | c',
    'row: d',
    'row*: e',
    'paragraph: end',
  ]);
  expect(pieces.map(({ where }) => where)).toEqual(pieces.map(() => ({ kind: 'slide', slide: 1 })));
});

test('notes stand behind their slide: text as a quotation, tables as such', async () => {
  const more = {
    'ppt/slides/_rels/s0.xml.rels': relations({ l: ['slideLayout', '../x.xml'], n: ['notesSlide', '../notes.xml'] }),
    'ppt/notes.xml': `<p:notes>${shape('body', 'Slowly.')}<a:tbl><a:tr><a:tc>${paragraph('a')}</a:tc></a:tr></a:tbl></p:notes>`,
    'ppt/x.xml': shape('body', 'layout'),
    'ppt/slides/_rels/s1.xml.rels': relations({ n: ['notesSlide', '../gone.xml'] }),
  };
  const { lines } = await slides([shape('body', 'one'), shape('body', 'two')], [0, 1], more);
  expect(lines).toEqual(['slide: Slide 1', 'item: one', 'quote: Slowly.', 'row*: a', 'slide: Slide 2', 'item: two']);
});

test('a presentation has the title of its properties, unless a program wrote it', async () => {
  const made = makePptx([{ title: 'A', points: [] }]);
  expect((await readAlone(readPptx, 'a.pptx', made)).title).toBeNull();
  const title = '<c><dc:title>The</dc:title><dc:title>no</dc:title><dc:x>no</dc:x></c>';
  expect((await slides([''], [0], { 'docProps/core.xml': title })).title).toBe('The');
  expect((await slides([''], [0], { 'docProps/core.xml': title.replace('The', 'He') })).title).toBeNull();
});

const book = (opf: string, more: Record<string, string> = {}) =>
  readAlone(
    readEpub,
    'a.epub',
    archive({
      'META-INF/container.xml': '<rootfile full-path="o/b.opf"/><rootfile full-path="x"/>',
      'o/b.opf': opf,
      'o/1.html': '<p>one</p>',
      'o/2 b.html': '<p>two</p>',
      ...more,
    }),
  );
const OPF =
  '<item id="a" href="1.html#top"/><item id="b" href="2%20b.html"/><item id="c" href="gone.html"/><itemref idref="b"/><itemref idref="c"/><itemref idref="x"/><itemref idref="a"/><itemref idref="b"/>';

test('chapters come in the order of the spine, each once', async () => {
  const { lines, pages, progress } = await book(OPF);
  expect(lines).toEqual(['paragraph: two', 'paragraph: one']);
  expect([pages, progress]).toEqual([
    2,
    [
      [1, 2],
      [2, 2],
    ],
  ]);
});

test('a book whose container names nothing that is there is found all the same; one without a list is refused', async () => {
  expect((await book(OPF, { 'META-INF/container.xml': '<rootfile full-path="gone"/>' })).pages).toBe(2);
  await expect(readAlone(readEpub, 'a.epub', archive({ 'a.html': '<p>a' }))).rejects.toMatchObject({
    code: 'unreadable',
    message: '[documents] the book does not list its chapters',
  });
  expect(
    (await book('<item id="a" href="100%.html"/><itemref idref="a"/>', { 'o/100%.html': '<p>full</p>' })).lines,
  ).toEqual(['paragraph: full']);
});

test('a book whose chapters are locked is refused, one with locked fonts is read', async () => {
  const locked = (uri: string) =>
    book(OPF, { 'META-INF/encryption.xml': `<e><CipherReference URI="${uri}"/><Other URI="o/1.html"/></e>` });
  expect((await locked('o/font.otf')).pages).toBe(2);
  await expect(locked('o/2%20b.html')).rejects.toMatchObject({
    code: 'unreadable',
    message: '[documents] a.epub is protected by its seller and cannot be read',
  });
  expect((await readAlone(readEpub, 'a.epub', makeEpub('Roads', ['<p>a']))).title).toBe('Roads');
});
