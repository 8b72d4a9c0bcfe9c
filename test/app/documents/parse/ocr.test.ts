import { expect, test, vi } from 'vitest';
import type { RecognisedLine } from '../../../../app/engine/ipc-protocol.ts';
import { firstPassage, openShelf } from '../../../support/documents/documents.ts';
import { makePdf } from '../../../support/documents/pdf.ts';
import { drawPage, scannedPdf } from '../../../support/documents/picture.ts';

vi.setConfig({ testTimeout: 120_000 });

const SENTENCES = [
  'The lighthouse keeper counts forty ships every evening.',
  'Fog comes from the north before midnight.',
];
const typed = makePdf({
  pages: [
    {
      texts: SENTENCES.map((text, at) => ({
        text,
        x: 72,
        y: 700 - at * 40,
        size: 14,
        font: 'mono' as const,
      })),
    },
  ],
});

test('a picture is read, and its words have rectangles in its pixels', async () => {
  const picture = await drawPage(typed);
  const shelf = await openShelf();
  const [document] = await shelf.add({ 'photo.png': picture.png });
  expect(document).toMatchObject({ kind: 'image', pages: 1, state: { status: 'ready' } });
  const { passage } = await firstPassage(shelf, 'lighthouse keeper');
  expect(passage.text).toContain(SENTENCES[0]);
  const span = passage.spans.find(({ start, end }) => passage.text.slice(start, end) === 'lighthouse');
  if (span?.place.kind !== 'page') throw new Error('a page is expected');
  const [x, y, width, height] = span.place.rectangles[0] ?? [0, 0, 0, 0];
  // "The " is four times 8.4 points wide; the line stands 142 points below the top. Drawn at twice the size.
  expect(Math.abs(x / 2 - 72 - 4 * 8.4)).toBeLessThan(3);
  expect(y / 2).toBeGreaterThan(842 - 700 - 18);
  expect((y + height) / 2).toBeLessThan(842 - 700 + 6);
  expect(Math.abs(width / 2 - 10 * 8.4)).toBeLessThan(5);
});

test('a scanned PDF fails with the remedy, and is read when that is taken', async () => {
  const shelf = await openShelf();
  const [scan] = await shelf.add({ 'scan.pdf': scannedPdf([await drawPage(typed)]) });
  expect(scan?.state).toMatchObject({ status: 'failed', remedy: 'ocr', failure: { code: 'unreadable' } });
  if (!scan) throw new Error('it is in the list');
  await shelf.call('documents.retry', { documentId: scan.id, ocr: true });
  await shelf.documents.idle();
  const [read] = await shelf.call('documents.list', {});
  expect(read).toMatchObject({
    state: { status: 'ready' },
    pages: 1,
    notices: [{ code: 'pages-recognised-english', details: { count: 1, pages: '1' } }],
  });
  const { passage } = await firstPassage(shelf, 'fog from the north');
  const span = passage.spans.find(({ start, end }) => passage.text.slice(start, end) === 'Fog');
  if (span?.place.kind !== 'page') throw new Error('a page is expected');
  const [x, y, width] = span.place.rectangles[0] ?? [0, 0, 0];
  // In points of the page again.
  expect(Math.abs(x - 72)).toBeLessThan(4);
  expect(Math.abs(width - 3 * 8.4)).toBeLessThan(4);
  expect(Math.abs(y - (842 - 660 - 12))).toBeLessThan(6);
});

test('a page that has nothing but a picture, however small, offers to recognise it; an empty page does not', async () => {
  const shelf = await openShelf();
  const { grey } = await drawPage(typed, 0.03);
  const tiny = { grey: grey.subarray(0, 15 * 20), width: 15, height: 20, png: Buffer.alloc(0) };
  const [stamp, bare, empty] = await shelf.add({
    'stamp.pdf': scannedPdf([tiny]),
    'bare.pdf': scannedPdf([tiny], '/pic Do'),
    'empty.pdf': makePdf({ pages: [{ texts: [] }] }),
  });
  expect(stamp?.state).toMatchObject({ status: 'failed', remedy: 'ocr' });
  expect(bare?.state).toMatchObject({ status: 'failed', remedy: 'ocr' });
  expect(empty).toMatchObject({ state: { status: 'ready' }, passages: 0, notices: [{ code: 'no-text', details: {} }] });
});

test('a picture without text, and one that is none, say so', async () => {
  const shelf = await openShelf();
  const blank = await drawPage(makePdf({ pages: [{ texts: [] }] }), 0.5);
  const [empty, broken] = await shelf.add({ 'blank.png': blank.png, 'broken.png': Buffer.from('no picture at all') });
  expect(empty).toMatchObject({ state: { status: 'ready' }, passages: 0, notices: [{ code: 'no-text', details: {} }] });
  expect(broken?.state).toMatchObject({ status: 'failed', failure: { code: 'unreadable' } });
});

test('where the system reads pictures its words and places are taken; a picture that it fails at is left to Tesseract', async () => {
  const picture = await drawPage(typed);
  const asked: number[] = [];
  let fails = false;
  const box = { left: 40, top: 60, right: 400, bottom: 84 };
  const word = (text: string, left: number, spaced = true) => ({
    text,
    spaced,
    box: { ...box, left, right: left + 90 },
  });
  const lines: RecognisedLine[] = [
    {
      confidence: 0.9,
      box,
      words: [word('Umbrellas', 40), word('灯', 150), word('台', 250, false)],
    },
    {
      confidence: 0.1,
      box: { ...box, top: 200, bottom: 224 },
      words: [word('dirt', 40)],
    },
  ];
  const shelf = await openShelf({
    recognise: async (given) => {
      asked.push(given.length);
      if (fails) throw new Error('the system cannot');
      return lines;
    },
  });
  const [photo] = await shelf.add({ 'photo.png': picture.png });
  expect(photo).toMatchObject({ state: { status: 'ready' }, notices: [] });
  const { passage } = await firstPassage(shelf, 'umbrellas');
  expect(passage.text).toBe('Umbrellas 灯台');
  expect(passage.spans[0]?.place).toEqual({
    kind: 'page',
    page: 1,
    rectangles: [[40, 60, 90, 24]],
  });
  expect(asked).toEqual([picture.png.length]);

  const [scan] = await shelf.add({ 'scan.pdf': scannedPdf([picture]) });
  if (!scan) throw new Error('it is in the list');
  await shelf.call('documents.retry', { documentId: scan.id, ocr: true });
  await shelf.documents.idle();
  const read = async () => (await shelf.call('documents.list', {})).find(({ id }) => id === scan.id);
  expect(await read()).toMatchObject({
    notices: [{ code: 'pages-recognised', details: { count: 1, pages: '1' } }],
  });

  fails = true;
  const [other] = await shelf.add({
    'other.png': (await drawPage(typed, 1.5)).png,
  });
  expect(other?.state).toMatchObject({ status: 'ready' });
  expect((await firstPassage(shelf, 'lighthouse keeper', other?.id)).passage.text).toContain(SENTENCES[0]);
});
