import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Element, Word } from '../../../app/documents/element.ts';
import { findAssets } from '../../../app/documents/parse/assets.ts';
import { readPdf } from '../../../app/documents/parse/pdf/read.ts';
import type { DocumentNotice } from '../../../app/protocol/index.ts';
import { newFolder, root } from '../../support/core/core.ts';
import { makePdf, type Page, type Text, type WordBox, widthOf, wordBoxes } from '../../support/documents/pdf.ts';

type PagePiece = Element & { where: { kind: 'page'; words: Word[] } };

async function read(bytes: Uint8Array, options: { password?: string; ocr?: boolean } = {}) {
  const path = join(newFolder(), 'test.pdf');
  writeFileSync(path, bytes);
  const pieces: PagePiece[] = [];
  const notices: DocumentNotice[] = [];
  const source = {
    path,
    fileName: 'test.pdf',
    bytes: bytes.length,
    password: options.password ?? null,
    ocr: options.ocr ?? false,
  };
  const sink = {
    add: (piece: Element) => void pieces.push(piece as PagePiece),
    progress: () => {},
    notice: (code: DocumentNotice['code'], details = {}) => void notices.push({ code, details }),
  };
  const facts = await readPdf(source, sink, {
    ...findAssets(),
    recognise: null,
  });
  return { facts, notices, pieces, texts: pieces.map(({ text }) => text) };
}

/** The words of the file and what was read of them, paired by page and place. Right is a word whose rectangle covers the
 *  middle of where it stands and no more of the line than 6 % of an em beyond it, with the text that stands there. */
function compare(pieces: readonly PagePiece[], expected: readonly WordBox[]) {
  const found = pieces.flatMap(({ text, where }) =>
    where.words.map((word) => ({ ...word, text: text.slice(word.start, word.end) })),
  );
  const slack = 0.7;
  const wrong = expected.filter(({ text, page, box: [x, y, width, height] }) => {
    const centre = [x + width / 2, y + height / 2] as const;
    const match = found.find(
      ({ page: at, box: [left, top, wide, high] }) =>
        at === page && left <= centre[0] && centre[0] <= left + wide && top <= centre[1] && centre[1] <= top + high,
    );
    if (!match) return true;
    const [left, top, wide, high] = match.box;
    const along = width >= height ? [left - x, left + wide - x - width] : [top - y, top + high - y - height];
    return along.some((off) => Math.abs(off) > slack) || match.text.replace(/-$/, '') !== text.replace(/-$/, '');
  });
  return { wrong, right: 1 - wrong.length / expected.length };
}

const WORDS =
  'river stone bridge water morning silver field cloud window summer quiet garden letter market winter yellow forest candle harbour village mountain story paper music iron kitchen journey lantern orchard pepper'.split(
    ' ',
  );

/** Lines of words without meaning; the same for the same seed. */
function lines(seed: number, count: number, perLine: number): string[] {
  let state = seed;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state;
  };
  return Array.from({ length: count }, () =>
    Array.from({ length: perLine }, () => WORDS[Math.floor(next() / 65_536) % WORDS.length]).join(' '),
  );
}

const column = (texts: readonly string[], x: number, y: number, more: Partial<Text> = {}): Text[] =>
  texts.map((text, at) => ({ text, x, y: y - at * (more.size ?? 11) * 1.3, ...more }));

const FONTS = ['sans', 'mono', 'bold', 'cid'] as const;
const pagesOfManyKinds: Page[] = [
  ...FONTS.map((font, at): Page => ({ texts: column(lines(at + 1, 20, 7), 60, 760, { font, size: 8 + at * 2 }) })),
  ...FONTS.map((font, at): Page => ({ texts: column(lines(at + 11, 20, 6), 60, 760, { font, kerned: true }) })),
  ...([90, 180, 270] as const).map(
    (rotate, at): Page => ({ rotate, texts: column(lines(at + 21, 20, 6), 60, 760, { font: 'cid' }) }),
  ),
  { texts: [...column(lines(31, 30, 4), 50, 770), ...column(lines(32, 30, 4), 310, 770)] },
  { texts: column(lines(41, 20, 5), 60, 760, { charSpacing: 0.8, wordSpacing: 3 }) },
  { texts: column(lines(42, 20, 5), 60, 760, { stretch: 80 }) },
  { texts: column(lines(44, 20, 6), 60, 760, { moved: true }) },
  { texts: lines(43, 12, 6).map((text, at) => ({ text, x: 100 + at * 30, y: 100, angle: 90 })) },
];

test('rectangles cover the right words: fonts, sizes, kerning, spacing, moves, columns, rotations (at least 98 %)', async () => {
  const { pieces } = await read(makePdf({ pages: pagesOfManyKinds }));
  const expected = pagesOfManyKinds.flatMap((page, at) => wordBoxes(page, at + 1));
  expect(expected.length).toBeGreaterThan(1500);
  const { wrong, right } = compare(pieces, expected);
  expect(right, JSON.stringify(wrong.slice(0, 5))).toBeGreaterThanOrEqual(0.98);
});

test('the words of a browser’s own PDF stand where the browser laid them out (at least 98 %)', async () => {
  const folder = join(root, 'test/fixtures/documents');
  const expected = JSON.parse(readFileSync(join(folder, 'printed.json'), 'utf8')) as WordBox[];
  const { pieces } = await read(readFileSync(join(folder, 'printed.pdf')));
  expect(expected.length).toBeGreaterThan(300);
  const { wrong, right } = compare(pieces, expected);
  expect(right, JSON.stringify(wrong.slice(0, 5))).toBeGreaterThanOrEqual(0.98);
});

test('columns are read one after the other, under the title that stands over both', async () => {
  const left = ['The left column says', 'that rivers bend when', 'the ground is soft and', 'the water is slow here.'];
  const right = ['The right column says', 'that roads bend when', 'the hill is steep and', 'the cart is heavy here.'];
  const { pieces, texts } = await read(
    makePdf({
      pages: [
        {
          texts: [
            { text: 'On bends of all kinds', x: 60, y: 780, size: 20, font: 'bold' },
            // Drawn line by line over both columns, as some programs do.
            ...left.flatMap((text, at) => [
              { text, x: 60, y: 740 - at * 14 },
              { text: right[at] ?? '', x: 310, y: 740 - at * 14 },
            ]),
          ],
        },
      ],
    }),
  );
  expect(pieces[0]).toMatchObject({ kind: 'heading', level: 1, text: 'On bends of all kinds' });
  expect(texts.slice(1).join(' ')).toBe([...left, ...right].join(' '));
});

test('columns that stand close to each other are read one after the other as well', async () => {
  const left = ['the quiet river bends', 'below the old bridges', 'beside a stone meadow', 'and the yellow forest'];
  const right = ['A market opens at', 'nine in the harbour', 'every morning, and it', 'closes again at noon.'];
  // All lines on the left end where the gap begins, which is as wide as the letters are high.
  const texts = left.flatMap((text, at): Text[] => [
    { text, x: 60, y: 740 - at * 14, size: 11, font: 'mono' },
    { text: right[at] ?? '', x: 60 + 21 * 0.6 * 11 + 11, y: 740 - at * 14, size: 11, font: 'mono' },
  ]);
  const { pieces } = await read(makePdf({ pages: [{ texts }] }));
  expect(pieces.map(({ text }) => text).join(' ')).toBe([...left, ...right].join(' '));
});

test('headers, footers and page numbers are left out; a paragraph goes on over the page; cut words are joined', async () => {
  const pages = Array.from(
    { length: 6 },
    (_, at): Page => ({
      texts: [
        { text: 'Handbook of rivers', x: 60, y: 810, size: 9 },
        { text: `${at + 1}`, x: 290, y: 30, size: 9 },
        { text: `Part ${'abcdef'.charAt(at)} begins with a sentence about the sedi-`, x: 60, y: 760 },
        { text: 'ment of rivers. The last line of the page goes', x: 60, y: 746 },
      ],
    }),
  );
  const { texts } = await read(makePdf({ pages }));
  const whole = texts.join('\n');
  expect(whole).not.toContain('Handbook');
  expect(whole).not.toMatch(/^\d$/m);
  expect(whole).toContain('sentence about the sediment of rivers.');
});

test('roman page numbers are left out as well', async () => {
  const pages = ['i', 'ii', 'iii', 'iv', 'v', 'vi'].map(
    (number, at): Page => ({
      texts: [
        { text: `Preface ${number}`, x: 290, y: 812, size: 9 },
        { text: number, x: 290, y: 30, size: 9 },
        { text: `Thanks are due to helper ${at} for reading.`, x: 60, y: 700 },
      ],
    }),
  );
  const whole = (await read(makePdf({ pages }))).texts.join('\n');
  expect(whole).toContain('Thanks are due to helper 3 for reading.');
  expect(whole).not.toMatch(/Preface|^[iv]+$/m);
});

test('a word that the end of a line cuts is found, however its hyphen is drawn; one with a hyphen of its own keeps it', async () => {
  const cut = (y: number, first: string, next: string, font: 'sans' | 'cid' = 'sans') => [
    { text: first, x: 60, y, font },
    { text: next, x: 60, y: y - 14, font },
  ];
  const { texts } = await read(
    makePdf({
      pages: [
        {
          texts: [
            ...cut(780, 'Rivers carry very much sedi-', 'ment to the sea every year.'),
            ...cut(700, 'Rivers carry very much gra\u00ad', 'vel to the sea every year.', 'cid'),
            ...cut(620, 'Rivers carry very many boul\u2010', 'ders to the sea every year.', 'cid'),
            ...cut(540, 'The law is older than the Anglo-', 'Saxon kings of that time.'),
          ],
        },
      ],
    }),
  );
  const whole = texts.join('\n');
  for (const word of ['sediment', 'gravel', 'boulders', 'Anglo-Saxon']) expect(whole).toContain(word);
});

test('a paragraph that the end of a page cuts is one', async () => {
  const { pieces } = await read(
    makePdf({
      pages: [
        { texts: [{ text: 'The bridge was built in the year of the great', x: 60, y: 100 }] },
        { texts: [{ text: 'flood and has stood since then.', x: 60, y: 760 }] },
      ],
    }),
  );
  expect(pieces).toHaveLength(1);
  const [piece] = pieces;
  expect(piece?.text).toBe('The bridge was built in the year of the great flood and has stood since then.');
  const flood = piece?.where.words.find(({ start }) => start === piece.text.indexOf('flood'));
  expect(flood).toMatchObject({ page: 2 });
});

test('tables are read row by row, with their cells', async () => {
  const rows = [
    ['City', 'Rain', 'Days'],
    ['Bergen', '2250', '231'],
    ['Lisbon', '774', '77'],
    ['Vienna', '651', '98'],
  ];
  const texts = rows.flatMap((cells, at) =>
    cells.map((text, cell) => ({ text, x: 60 + cell * 140, y: 700 - at * 18 })),
  );
  const { pieces } = await read(makePdf({ pages: [{ texts }] }));
  expect(pieces.map(({ kind, cells }) => [kind, cells])).toEqual(rows.map((cells) => ['row', cells]));
  expect(pieces[0]?.head).toBe(true);
  expect(pieces[1]?.text).toBe('Bergen | 2250 | 231');
});

test('text from right to left is in the order it is read', async () => {
  // As it is drawn: the first glyph is the leftmost, which is read last.
  const visual = (text: string) => [...text].reverse().join('');
  const { texts } = await read(
    makePdf({ pages: [{ texts: [{ text: `${visual('שלום עולם')} 2026`, x: 300, y: 700, font: 'cid' }] }] }),
  );
  expect(texts[0]).toContain('שלום עולם');
  expect(texts[0]).toContain('2026');
});

test('vertical text is read down and then to the left, every character with its place', async () => {
  const { pieces } = await read(
    makePdf({
      pages: [
        {
          texts: [
            { text: '春はあけぼの', x: 500, y: 780, size: 20, font: 'vertical' },
            { text: '夏は夜がよい', x: 470, y: 780, size: 20, font: 'vertical' },
          ],
        },
      ],
    }),
  );
  expect(pieces.map(({ text }) => text).join('')).toBe('春はあけぼの夏は夜がよい');
  const words = pieces.flatMap(({ where }) => where.words);
  expect(words).toHaveLength(12);
  const [first, second] = words;
  // The pen stands above the middle of a character.
  expect(first?.box[0]).toBeCloseTo(490, 0);
  expect(first?.box[2]).toBeCloseTo(20, 0);
  expect((second?.box[1] ?? 0) - (first?.box[1] ?? 0)).toBeCloseTo(20, 0);
});

test('letters that are spaced out make words, and words that are drawn twice are one', async () => {
  const twice = (text: string, x: number, y: number): Text[] => [0, 0.4].map((off) => ({ text, x: x + off, y }));
  const { texts } = await read(
    makePdf({
      pages: [
        {
          texts: [
            { text: 'THE SEVENTH CHAPTER', x: 60, y: 760, charSpacing: 5 },
            ...twice('This line was made bold by hand.', 60, 700),
          ],
        },
      ],
    }),
  );
  expect(texts).toEqual(['THE SEVENTH CHAPTER', 'This line was made bold by hand.']);
});

test('a large number stands apart from the small title that follows it closely, and a smaller sign at the foot of a word does not', async () => {
  const end = (text: string, size: number) =>
    [...text].reduce((sum, one) => sum + (widthOf('sans', one) / 1000) * size, 60);
  const { texts } = await read(
    makePdf({
      pages: [
        {
          texts: [
            { text: '7', x: 60, y: 700, size: 30 },
            { text: 'Rivers', x: end('7', 30) + 3, y: 700, size: 12 },
            { text: 'H', x: 60, y: 600, size: 12 },
            { text: '2', x: end('H', 12), y: 600, size: 8 },
          ],
        },
      ],
    }),
  );
  expect(texts).toEqual(['7 Rivers', 'H2']);
});

test('ligatures are letters', async () => {
  const { texts } = await read(
    makePdf({ pages: [{ texts: [{ text: 'eﬃcient ﬁnal ﬂow', x: 60, y: 700, font: 'cid' }] }] }),
  );
  expect(texts).toEqual(['efficient final flow']);
});

test('glyphs without a map to Unicode are not taken for text', async () => {
  const page = (font: NonNullable<Text['font']>): Page => ({
    texts: column(['these words are drawn with a', 'font that does not say what', 'its glyphs mean at all'], 60, 700, {
      font,
    }),
  });
  const { texts, notices } = await read(makePdf({ pages: [page('cid'), page('unmapped')] }));
  expect(texts.join(' ')).toBe('these words are drawn with a font that does not say what its glyphs mean at all');
  expect(notices).toEqual([{ code: 'pages-silent', details: { count: 1, pages: '2' } }]);
  await expect(read(makePdf({ pages: [page('unmapped')] }))).rejects.toMatchObject({ details: { remedy: 'ocr' } });
});

test('a page that cannot be read is told, and a file is refused when it is so with none of its pages', async () => {
  const words: Page = { texts: column(['these words can be read'], 60, 700) };
  const blind: Page = { texts: column(['nobody knows these words'], 60, 700, { font: 'unmapped' }) };
  /** Where the last page should be there is nothing. */
  const damaged = (...pages: Page[]) =>
    Buffer.from(
      makePdf({ pages })
        .toString('latin1')
        .replace(/\d\d 0 R\] >>/, '99 0 R] >>'),
      'latin1',
    );
  const { texts, notices } = await read(damaged(words, words));
  expect(texts).toEqual(['these words can be read']);
  expect(notices).toEqual([{ code: 'pages-broken', details: { count: 1, pages: '2' } }]);
  for (const pages of [[words], [blind, words]])
    await expect(read(damaged(...pages)), `${pages.length} pages`).rejects.toMatchObject({ code: 'unreadable' });
});

test('a number whose digits are spaced out and then drawn side by side stays one word', async () => {
  const texts = [...'13,794'].map(
    (text, at): Text => ({ text, x: 72 + at * 6, y: 700, size: 10, font: 'mono', charSpacing: 8 }),
  );
  const { texts: said } = await read(makePdf({ pages: [{ texts }] }));
  expect(said).toEqual(['13,794']);
});
