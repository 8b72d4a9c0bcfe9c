import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../support/core/core.ts';
import { firstPassage, openShelf } from '../../support/documents/documents.ts';
import { makePdf } from '../../support/documents/pdf.ts';

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
  expect(guide).toMatchObject({ name: 'Bees', fileName: 'guide.md', kind: 'markdown', state: { status: 'ready' } });

  const { hit, passage } = await firstPassage(shelf, 'how warm is the cluster in winter');
  expect(hit.excerpt).toContain('cluster keeps its core');
  expect(hit.highlights.map(([start, end]) => hit.excerpt.slice(start, end).toLowerCase())).toContain('winter');
  const span = passage.spans.find(({ start, end }) => passage.text.slice(start, end).includes('shivers to make heat'));
  expect(span?.place).toMatchObject({ kind: 'lines', from: 7, to: 7 });

  const { blocks } = await shelf.call('documents.content', { documentId: passage.documentId });
  expect(blocks.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'heading', 'paragraph', 'row', 'row', 'row']);
  expect(blocks[5]?.cells).toEqual(['June', '12 kg']);
  // What a place says of a block is the text of the passage.
  for (const { start, end, place } of passage.spans) {
    if (place.kind !== 'lines') throw new Error('lines are expected');
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
  expect(document).toMatchObject({ name: 'On rivers', kind: 'pdf', pages: 2, state: { status: 'ready' } });
  const { passage } = await firstPassage(shelf, 'how fast does the delta grow');
  const span = passage.spans.find(({ start, end }) => passage.text.slice(start, end) === 'forty');
  expect(span?.place).toMatchObject({ kind: 'page', page: 2 });

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

test('what is added again is not read again, and what could not be read is not listed twice', async () => {
  const shelf = await openShelf();
  const folder = newFolder();
  writeFileSync(join(folder, 'note.txt'), 'The lantern hangs in the harbour.');
  const files = ['note.txt', 'gone.txt'].map((name) => ({ path: join(folder, name), name }));
  const add = () => shelf.call('documents.add', { collectionId: shelf.collection.id, files });
  const first = await add();
  expect(first.filter(({ state }) => state.status === 'failed').map(({ fileName }) => fileName)).toEqual(['gone.txt']);
  expect((await add()).map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
  expect(await shelf.call('documents.list', {})).toHaveLength(2);
  expect(shelf.of('document.removed')).toEqual([]);
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

test('what stands between dashes at the top of a Markdown file is no text of it', async () => {
  const shelf = await openShelf();
  const [bees] = await shelf.add({ 'bees.md': `---\ntitle: Secretmeta\ntags: [hidden]\n---\n\n${GUIDE}` });
  await shelf.add({ 'wasps.md': `---\nkind: Secretmeta\n...\n# Wasps\n\nWasps sting.\n` });
  await shelf.add({ 'rules.md': '---\n\nA rule stands above this sentence about hornets.\n' });
  expect(bees?.name).toBe('Bees');
  const found = async (query: string) => (await shelf.call('documents.search', { query })).hits.length;
  expect(await found('secretmeta')).toBe(0);
  expect(await found('hidden')).toBe(0);
  expect(await found('hornets')).toBe(1);
  const { blocks } = await shelf.call('documents.content', { documentId: bees?.id ?? ('' as never) });
  expect(blocks[0]).toMatchObject({ kind: 'heading', text: 'Bees' });
});

test.each([
  ['(anonymous)'],
  ['Untitled'],
  ['untitled-2'],
  ['Microsoft Word - contract_final.doc'],
  ['Document1'],
  ['PowerPoint Presentation'],
  ['LaTeX with hyperref package'],
  ['Acrobat PDFMaker 11 for Word'],
  ['thesis.dvi'],
  ['C:\\Users\\me\\lease.docx'],
  ['Scanned Document'],
  ['20240131_001'],
  ['  '],
])('a PDF whose title is "%s" is called by the name of its file', async (title) => {
  const shelf = await openShelf();
  const pages = [{ texts: [{ text: 'Rivers carry sand to the sea.', x: 72, y: 700 }] }];
  const [document] = await shelf.add({ 'lease 2024.pdf': makePdf({ title, pages }) });
  expect(document?.name).toBe('lease 2024.pdf');
});

test.each([['Untitled Love Story of a Bee'], ['The Document of Rivers'], ['1984 and after'], ['Scan of the old map']])(
  '"%s" is a title',
  async (title) => {
    const shelf = await openShelf();
    const pages = [{ texts: [{ text: 'Rivers carry sand to the sea.', x: 72, y: 700 }] }];
    const [document] = await shelf.add({ 'file.pdf': makePdf({ title, pages }) });
    expect(document?.name).toBe(title);
  },
);

test('a name that an earlier version took from an empty title becomes that of the file; a real one stays', async () => {
  const shelf = await openShelf();
  const [lease, bees] = await shelf.add({ 'lease.txt': 'The rent is due.', 'bees.md': '# Bees\n\nBees sting.\n' });
  shelf.db.run("UPDATE documents SET name = '(anonymous)' WHERE id = ?", lease?.id ?? '');
  await shelf.close();

  const again = await openShelf({ dataFolder: shelf.dataFolder });
  await expect.poll(() => again.of('document.changed').map(({ name }) => name)).toEqual(['lease.txt']);
  const names = (await again.call('documents.list', {})).map(({ name }) => name);
  expect(names).toEqual(['lease.txt', bees?.name]);
  expect(bees?.name).toBe('Bees');
});

test('sentences that an earlier version kept are told as they stand; a folder says anew why it is not followed', async () => {
  const shelf = await openShelf();
  const [lease] = await shelf.add({ 'lease.txt': 'The rent is due.' });
  const { id } = shelf.collection;
  shelf.db.run('UPDATE documents SET notices = ? WHERE id = ?', '["2 pages are without text."]', lease?.id ?? '');
  shelf.db.run('INSERT INTO watched_folders VALUES (?, ?, ?)', id, '/nowhere/at/all', 'ENOENT: no such file');
  await shelf.close();

  const again = await openShelf({ dataFolder: shelf.dataFolder });
  const [kept] = await again.call('documents.list', {});
  expect(kept?.notices).toEqual([{ code: 'told', details: { text: '2 pages are without text.' } }]);
  const folder = async () =>
    (await again.call('documents.collections', undefined)).find((one) => one.id === id)?.folders[0];
  await expect.poll(folder, { timeout: 10_000 }).toEqual({
    path: '/nowhere/at/all',
    problem: { kind: 'failed', code: 'not-found' },
  });
});

/** The passage where most of the asked words stand is far down. */
const RULES = `# House rules

${'The house is what the house is, and the rules of the house are for the people of the house. '.repeat(8)}

The quiet hours begin at ten.
`;

test('an excerpt shows the words that were meant, not the first "the"', async () => {
  const shelf = await openShelf();
  await shelf.add({ 'rules.md': RULES });
  const { hits } = await shelf.call('documents.search', { query: 'what are the quiet hours of the house' });
  const hit = hits.find(({ excerpt }) => excerpt.includes('quiet hours'));
  expect(hit).toBeDefined();
  const marked = hit?.highlights.map(([start, end]) => hit.excerpt.slice(start, end).toLowerCase());
  expect(marked).toContain('quiet');
  expect(marked).not.toContain('the');
});

test('an excerpt from the middle of a passage begins with a whole word, one blank after its dots', async () => {
  const shelf = await openShelf();
  const before = 'Lanterns along the harbour wall are lit at dusk. '.repeat(6);
  await shelf.add({ 'harbour.txt': `${before}A heron nests by the weir. ${before}` });
  const { hits } = await shelf.call('documents.search', { query: 'heron' });
  const [, first = '', rest = ''] = /^… (\S+)(.*) …$/.exec(hits[0]?.excerpt ?? '') ?? [];
  expect(rest).toContain('A heron nests');
  expect(before.split(' ')).toContain(first);
});

test('words that every passage has do not decide what is found first', async () => {
  const shelf = await openShelf();
  const clause = (at: number) =>
    `# Clause ${at}\n\nThe tenant may use the cellar of building ${at}. The tenant may keep a bicycle there. The tenant may paint it.\n`;
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`clause-${at}.md`, clause(at)]));
  const long = `# Visitors\n\n${'There is a great deal to say about the stairs and how they are kept clean by everybody. '.repeat(8)}Guests stay for six weeks at most.\n`;
  await shelf.add({ ...files, 'visitors.md': long });
  const { hits } = await shelf.call('documents.search', { query: 'how long may guests of a tenant stay' });
  expect(hits[0]?.excerpt).toContain('Guests stay');
  // What only has the words of every clause is not found at all.
  expect(hits).toHaveLength(1);
});

test('the forms of a word are marked where they stand, and no letters within another word', async () => {
  const shelf = await openShelf();
  await shelf.add({ 'rent.md': 'Different parents pay the rent. Paying early is allowed.\n' });
  const marked = async (query: string) => {
    const [hit] = (await shelf.call('documents.search', { query })).hits;
    return hit?.highlights.map(([start, end]) => hit.excerpt.slice(start, end));
  };
  expect(await marked('rent')).toEqual(['rent']);
  expect(await marked('paying')).toEqual(['pay', 'Paying']);
});
