import { randomBytes } from 'node:crypto';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Document } from '../../../app/protocol/index.ts';
import { newFolder } from '../../support/core/core.ts';
import { firstPassage, openShelf, type Shelf } from '../../support/documents/documents.ts';
import { archive, makeDocx, makeEpub, makeXlsx, wp } from '../../support/documents/office.ts';
import { makePdf } from '../../support/documents/pdf.ts';
import { soaking } from '../../support/soak.ts';

vi.setConfig({ testTimeout: 120_000 });

//  Every file here is one that somebody will drop. It fails alone, with a reason and what helps, and never takes the core or
//  another file with it.

const page = (text: string) => ({ texts: [{ text, x: 72, y: 700 }] });

async function addOne(shelf: Shelf, name: string, content: string | Uint8Array): Promise<Document> {
  const [document] = await shelf.add({ [name]: content });
  if (!document) throw new Error('it stays in the list');
  return document;
}

async function expectFailed(shelf: Shelf, name: string, content: string | Uint8Array, code: string, remedy: string) {
  const document = await addOne(shelf, name, content);
  expect(document.state).toMatchObject({ status: 'failed', failure: { code }, remedy });
  // What comes after it is read as if nothing had been.
  const after = await addOne(shelf, `after-${name}.txt`, `A sound text after ${name}.`);
  expect(after.state).toEqual({ status: 'ready' });
  return document;
}

test('a locked PDF asks for its password; the wrong one is told, the right one opens it', async () => {
  const shelf = await openShelf();
  const locked = makePdf({ pages: [page('The code of the safe is 4711.')], password: 'sesame' });
  const { id: documentId } = await expectFailed(shelf, 'locked.pdf', locked, 'permission', 'unlock');
  const retry = async (password: string) => {
    await shelf.call('documents.retry', { documentId, password });
    await shelf.documents.idle();
    return (await shelf.call('documents.list', {})).find(({ id }) => id === documentId);
  };
  expect((await retry('wrong'))?.state).toMatchObject({ remedy: 'unlock', failure: { details: { wrong: true } } });
  expect((await retry('sesame'))?.state).toEqual({ status: 'ready' });
  expect((await firstPassage(shelf, 'code of the safe')).passage.text).toContain('4711');
});

test('a truncated PDF fails with the reason, wherever it was cut', async () => {
  const shelf = await openShelf();
  const whole = makePdf({
    pages: Array.from({ length: 20 }, (_, at) => page(`This is page number ${at + 1} of the file.`)),
  });
  const half = await addOne(shelf, 'half.pdf', whole.subarray(0, whole.length * 0.6));
  expect(half.state).toMatchObject({ status: 'failed', failure: { code: 'unreadable' }, remedy: 'none' });
  await expectFailed(shelf, 'head.pdf', whole.subarray(0, 300), 'unreadable', 'none');
  await expectFailed(shelf, 'empty.pdf', '', 'unreadable', 'none');
  await expectFailed(shelf, 'noise.pdf', Buffer.alloc(100_000, 'x%PDF'), 'unreadable', 'none');
});

test('files that are not what their name says', async () => {
  const shelf = await openShelf();
  await expectFailed(shelf, 'text.docx', 'no archive', 'unreadable', 'none');
  await expectFailed(shelf, 'other.xlsx', archive({ 'a.txt': 'an archive, but no workbook' }), 'unreadable', 'none');
  await expectFailed(
    shelf,
    'program.txt',
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 1, 0, 2]),
    'unreadable',
    'none',
  );
  await expectFailed(shelf, 'half.epub', makeEpub('Half', ['<p>one</p>']).subarray(0, 400), 'unreadable', 'none');
});

test('a bomb in an archive is stopped by its bytes, whatever it claims of its size; a large part that is none is read', async () => {
  const shelf = await openShelf();
  const bomb = makeDocx(wp('a'), {
    parts: { 'word/footnotes.xml': `<w:footnotes xmlns:w="w">${' '.repeat(64 * 1024 * 1024)}</w:footnotes>` },
  });
  expect(bomb.length).toBeLessThan(200_000);
  await expectFailed(shelf, 'bomb.docx', bomb, 'too-large', 'none');
  // A sound part of that kind packs no better than text does, however large it is.
  const noise = randomBytes(13 * 1024 * 1024).toString('base64');
  const large = makeDocx(`${wp('The boiler is in the attic.')}<!-- ${noise} -->`);
  expect((await addOne(shelf, 'large.docx', large)).state).toEqual({ status: 'ready' });
  expect((await firstPassage(shelf, 'boiler')).passage.text).toContain('in the attic');
});

test('deep nesting is refused in office files and in HTML', async () => {
  const shelf = await openShelf();
  const deep = '<w:tbl><w:tr><w:tc>'.repeat(5000);
  await expectFailed(shelf, 'deep.docx', makeDocx(deep), 'unreadable', 'none');
  await expectFailed(shelf, 'deep.html', '<div>'.repeat(200_000), 'unreadable', 'none');
  const laughs = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "${'lol'.repeat(1000)}"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><w:document xmlns:w="w"><w:body><w:p><w:r><w:t>&b; end</w:t></w:r></w:p></w:body></w:document>`;
  const laughing = await addOne(shelf, 'laughs.docx', makeDocx('', { parts: { 'word/document.xml': laughs } }));
  expect(laughing).toMatchObject({ state: { status: 'ready' }, passages: 1 });
});

test('a million cells are read within bounds; what is beyond is told', { timeout: 240_000 }, async () => {
  const shelf = await openShelf();
  const line = Array.from({ length: 100 }, (_, at) => at * 3);
  const rows = soaking ? 10_200 : 1000;
  const big = makeXlsx({ Data: Array.from({ length: rows }, (_, at) => [`row number ${at}`, ...line]) });
  const document = await addOne(shelf, 'big.xlsx', big);
  expect(document.state).toEqual({ status: 'ready' });
  expect(document.notices).toEqual(soaking ? [{ code: 'cells-cut', details: { limit: 1_000_000 } }] : []);
  const last = Math.min(rows, 9900) - 1;
  expect((await firstPassage(shelf, `"row number ${last}"`)).passage.text).toContain(`row number ${last}`);
});

test('a file over two gigabytes is refused before it is read', async () => {
  const shelf = await openShelf();
  const path = join(newFolder(), 'huge.pdf');
  writeFileSync(path, '%PDF-1.7');
  truncateSync(path, 2 * 1024 ** 3 + 1); // sparse: takes no space
  const started = performance.now();
  const [huge] = await shelf.call('documents.add', {
    collectionId: shelf.collection.id,
    files: [{ path, name: 'huge.pdf' }],
  });
  expect(huge?.state).toMatchObject({ status: 'failed', failure: { code: 'too-large' }, remedy: 'none' });
  expect(performance.now() - started).toBeLessThan(2000);
});

test('among others a file that cannot be read stays in the list with its reason', async () => {
  const shelf = await openShelf();
  const [sound, odd] = await shelf.add({ 'sound.txt': 'A sound text.', 'odd.bin': Buffer.from([1, 0, 2]) });
  const list = await shelf.call('documents.list', {});
  const states = list.map(({ fileName, state }) => [fileName, state.status]);
  expect(states.sort()).toEqual([
    ['odd.bin', 'failed'],
    ['sound.txt', 'ready'],
  ]);
  expect([sound?.id, odd?.id].sort()).toEqual(list.map(({ id }) => id).sort());
});

test('a long text without a break, a binary file, control characters', async () => {
  const shelf = await openShelf();
  const [word, signs] = await shelf.add({
    'word.txt': 'a'.repeat(300_000),
    'signs.txt': `${'\u0007\u001b[31m red '.repeat(200)}\u202e right`,
  });
  expect(word?.state).toEqual({ status: 'ready' });
  expect(word?.passages).toBeGreaterThan(10);
  expect(signs?.state).toEqual({ status: 'ready' });
});

test('unknown kinds and files that are not there are refused with a sentence; folders are walked', async () => {
  const shelf = await openShelf();
  const folder = newFolder();
  mkdirSync(join(folder, 'deep', '.git'), { recursive: true });
  writeFileSync(join(folder, 'a.md'), '# A');
  writeFileSync(join(folder, 'deep', 'b.txt'), 'B is here.');
  writeFileSync(join(folder, 'deep', '.git', 'c.txt'), 'hidden');
  writeFileSync(join(folder, 'd.bin'), Buffer.from([1, 0, 2]));
  const add = (path: string, name: string) =>
    shelf.call('documents.add', { collectionId: shelf.collection.id, files: [{ path, name }] });
  await expect(add(join(folder, 'no.pdf'), 'no.pdf')).rejects.toMatchObject({ code: 'not-found' });
  await expect(add(join(folder, 'd.bin'), 'd.bin')).rejects.toMatchObject({ code: 'unreadable' });
  const added = await add(folder, 'folder');
  expect(added.map(({ fileName }) => fileName).sort()).toEqual(['a.md', 'b.txt']);
});

test('a PDF of very many pages is read to its end; what is beyond 10,000 is told', { timeout: 600_000 }, async () => {
  const shelf = await openShelf();
  const count = soaking ? 10_001 : 300;
  const pages = Array.from({ length: count }, (_, at) => page(`Page ${at + 1} tells of one thing and no other.`));
  const document = await addOne(shelf, 'long.pdf', makePdf({ pages }));
  expect(document).toMatchObject({ state: { status: 'ready' }, pages: count });
  expect(document.notices).toEqual(soaking ? [{ code: 'pages-cut', details: { limit: 10_000, pages: 10_001 } }] : []);
  expect((await firstPassage(shelf, `page ${Math.min(count, 10_000)}`)).passage.text).toContain(
    `Page ${Math.min(count, 10_000)} `,
  );
});
