import { expect, test } from 'vitest';
import { firstPassage, openShelf } from '../../support/documents.ts';
import { makePdf } from '../../support/pdf.ts';

const GUIDE = `# Bees

Bees live in hives.

## Winter

In winter the cluster keeps its core at 35 °C. It *shivers* to make heat.

| Month | Honey |
| --- | --- |
| June | 12 kg |
| July | 20 kg |
`;

test('Markdown is read, found by its words, and the place of a passage names its lines', async () => {
  const shelf = await openShelf();
  const [guide] = await shelf.add({ 'guide.md': GUIDE });
  expect(guide).toMatchObject({ name: 'Bees', fileName: 'guide.md', kind: 'markdown', state: { at: 'ready' } });

  const { hit, passage } = await firstPassage(shelf, 'how warm is the cluster in winter');
  expect(hit.excerpt).toContain('cluster keeps its core');
  expect(hit.highlights.map(([start, end]) => hit.excerpt.slice(start, end).toLowerCase())).toContain('winter');
  const span = passage.spans.find(({ start, end }) => passage.text.slice(start, end).includes('shivers to make heat'));
  expect(span?.place).toMatchObject({ at: 'lines', from: 7, to: 7 });

  const { blocks } = await shelf.call('documents.content', { documentId: passage.documentId });
  expect(blocks.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'heading', 'paragraph', 'row', 'row', 'row']);
  expect(blocks[5]?.cells).toEqual(['June', '12 kg']);
  // What a place says of a block is the text of the passage.
  for (const { start, end, place } of passage.spans) {
    if (place.at !== 'lines') throw new Error('lines are expected');
    expect(blocks[(place.block ?? 0) - 1]?.text.slice(place.start, place.end)).toBe(passage.text.slice(start, end));
  }
});

test('a PDF is read into passages whose words have rectangles, and its copy is served by bytes', async () => {
  const shelf = await openShelf();
  const pdf = makePdf({
    title: 'On rivers',
    pages: [
      { texts: [{ text: 'Rivers carry sand to the sea.', x: 72, y: 700 }] },
      { texts: [{ text: 'A delta grows by forty metres a year.', x: 72, y: 700 }] },
    ],
  });
  const [document] = await shelf.add({ 'rivers.pdf': pdf });
  expect(document).toMatchObject({ name: 'On rivers', kind: 'pdf', pages: 2, state: { at: 'ready' } });
  const { passage } = await firstPassage(shelf, 'how fast does the delta grow');
  const span = passage.spans.find(({ start, end }) => passage.text.slice(start, end) === 'forty');
  expect(span?.place).toMatchObject({ at: 'page', page: 2 });

  const { base64, total } = await shelf.call('documents.bytes', { documentId: passage.documentId, start: 0, end: 8 });
  expect(Buffer.from(base64, 'base64').toString('latin1')).toBe('%PDF-1.7');
  expect(total).toBe(pdf.length);
});

test('a file is in a collection once, whatever it is called and however often it is added', async () => {
  const shelf = await openShelf();
  const [first] = await shelf.add({ 'a.txt': 'The same words.' });
  const [again, other] = await shelf.add({ 'b.txt': 'The same words.', 'c.txt': 'Different words.' });
  expect(again?.id).toBe(first?.id);
  expect(other?.id).not.toBe(first?.id);
  expect(await shelf.call('documents.list', {})).toHaveLength(2);
  expect(shelf.of('document.removed')).toHaveLength(1);

  const second = await shelf.call('documents.createCollection', { name: 'Others' });
  expect(second).toMatchObject({ documents: 0, builtIn: false });
});

test('a removed document is not found, and comes back with all it had', async () => {
  const shelf = await openShelf();
  const [document] = await shelf.add({ 'a.txt': 'An otter swims in the pond.' });
  const documentId = document?.id as NonNullable<typeof document>['id'];
  await shelf.call('documents.remove', { documentId });
  expect((await shelf.call('documents.search', { query: 'otter' })).hits).toEqual([]);
  await shelf.call('documents.restore', { documentId });
  expect((await shelf.call('documents.search', { query: 'otters' })).hits).toHaveLength(1);

  await shelf.call('documents.deleteCollection', { collectionId: shelf.collection.id });
  expect((await shelf.call('documents.search', { query: 'otter' })).hits).toEqual([]);
  expect(await shelf.call('documents.collections', undefined)).toEqual([]);
  const restored = await shelf.call('documents.restoreCollection', { collectionId: shelf.collection.id });
  expect(restored).toMatchObject({ name: 'Papers', documents: 1, passages: 1 });
  expect((await shelf.call('documents.search', { query: 'otter' })).hits).toHaveLength(1);
});

test('words are found without case, accents and spaces between them', async () => {
  const shelf = await openShelf();
  await shelf.add({
    'words.txt': 'Die Größe des Cafés in Straßburg.\n\n東京都は日本の首都です。\n\nThe ﬁrst ﬂoor was flooded.',
  });
  for (const query of ['CAFE', 'straßburg', '首都', '東京', 'first floors']) {
    const { hits } = await shelf.call('documents.search', { query });
    expect(hits, query).toHaveLength(1);
  }
  expect((await shelf.call('documents.search', { query: '京橋' })).hits).toEqual([]);
});
