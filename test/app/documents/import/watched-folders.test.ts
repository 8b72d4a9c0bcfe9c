import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newFolder } from '../../../support/core/core.ts';
import { openShelf } from '../../../support/documents/documents.ts';

vi.setConfig({ testTimeout: 120_000 });

test('a watched folder that goes away has a problem, and its documents stay', { timeout: 60_000 }, async () => {
  const parent = newFolder();
  const folder = join(parent, 'disk');
  mkdirSync(folder);
  writeFileSync(join(folder, 'one.txt'), 'The word is amber.');
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.watch', { collectionId, path: folder });
  await shelf.documents.idle();
  renameSync(folder, join(parent, 'away'));
  await shelf.call('documents.watch', { collectionId, path: parent });
  const folders = async () =>
    (await shelf.call('documents.collections', undefined)).find(({ id }) => id === collectionId)?.folders;
  await vi.waitFor(
    async () => expect((await folders())?.find(({ path }) => path.endsWith('disk'))?.problem).toBeTruthy(),
    30_000,
  );
  expect((await shelf.call('documents.search', { query: 'amber' })).hits.length).toBeGreaterThan(0);
});

test('of two equal files in a watched folder one is listed, and stays when the other goes', {
  timeout: 60_000,
}, async () => {
  const folder = newFolder();
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  for (const name of ['one.txt', 'twin.txt']) writeFileSync(join(folder, name), 'The word is amber.');
  await shelf.call('documents.watch', { collectionId, path: folder });
  await shelf.documents.idle();
  const [listed, ...others] = await shelf.call('documents.list', {});
  expect(others).toEqual([]);
  rmSync(join(folder, listed?.fileName ?? ''));
  const left = listed?.fileName === 'one.txt' ? 'twin.txt' : 'one.txt';
  await vi.waitFor(async () => {
    expect(await shelf.call('documents.list', {})).toMatchObject([{ id: listed?.id, fileName: left }]);
  }, 30_000);
  expect((await shelf.call('documents.search', { query: 'amber' })).hits).toHaveLength(1);
});

test('a link in a watched folder is not followed out of it by itself, but whoever adds it by hand gets its file', async () => {
  const [folder, elsewhere] = [newFolder(), newFolder()];
  writeFileSync(join(elsewhere, 'one.txt'), 'The word is amber.');
  const path = join(folder, 'link.txt');
  symlinkSync(join(elsewhere, 'one.txt'), path);
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.watch', { collectionId, path: folder });
  await shelf.documents.idle();
  const hits = async () => (await shelf.call('documents.search', { query: 'amber' })).hits.length;
  expect(await hits()).toBe(0);
  await shelf.call('documents.add', { collectionId, files: [{ path, name: 'link.txt' }] });
  await shelf.documents.idle();
  expect(await hits()).toBe(1);
});

test('a watched folder is followed: added, changed, renamed, removed; what was taken out by hand stays out', {
  timeout: 60_000,
}, async () => {
  const folder = newFolder();
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'one.txt'), 'The first word is amber.');
  const watched = await shelf.call('documents.watch', { collectionId, path: folder });
  expect(watched.folders).toMatchObject([{ problem: null }]);
  const hits = async (query: string) => (await shelf.call('documents.search', { query })).hits.length;
  const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 100 });

  await soon(async () => expect(await hits('amber')).toBe(1));
  writeFileSync(join(folder, 'inner', 'two.txt'), 'The second word is beryl.');
  await soon(async () => expect(await hits('beryl')).toBe(1));

  writeFileSync(join(folder, 'one.txt'), 'Now the first word is citrine, and longer.');
  await soon(async () => expect([await hits('amber'), await hits('citrine')]).toEqual([0, 1]));

  const before = (await shelf.call('documents.list', {})).find(({ fileName }) => fileName === 'two.txt');
  renameSync(join(folder, 'inner', 'two.txt'), join(folder, 'deux.txt'));
  await soon(async () => {
    const after = (await shelf.call('documents.list', {})).find(({ id }) => id === before?.id);
    expect(after).toMatchObject({
      fileName: 'deux.txt',
      name: 'deux.txt',
      watchedPath: expect.stringMatching(/deux\.txt$/),
    });
  });
  expect(await hits('beryl')).toBe(1);

  if (!before) throw new Error('it is in the list');
  await shelf.call('documents.remove', { documentId: before.id });
  rmSync(join(folder, 'one.txt'));
  await soon(async () => expect(await shelf.call('documents.list', {})).toEqual([]));
  writeFileSync(join(folder, 'three.txt'), 'The third word is diamond.');
  await soon(async () => expect(await hits('diamond')).toBe(1));
  expect(await hits('beryl')).toBe(0);

  // Every folder that is listened to takes a handle of the system.
  const listening = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('FSEvent')).length;
  const [other, alone] = [newFolder(), listening()];
  await shelf.call('documents.watch', { collectionId, path: other });
  await soon(async () => expect(listening()).toBeGreaterThan(alone));
  await shelf.call('documents.unwatch', { collectionId, path: other });
  await soon(async () => expect(listening()).toBe(alone));

  rmSync(folder, { recursive: true });
  await shelf.call('documents.unwatch', { collectionId, path: folder });
  expect(await hits('diamond')).toBe(1);
  await expect(shelf.call('documents.watch', { collectionId, path: folder })).rejects.toMatchObject({
    code: 'not-found',
  });
});

test('a watched folder that is renamed away and back is noticed within seconds, and what is new in it after that', {
  timeout: 60_000,
}, async () => {
  const parent = newFolder();
  const [folder, away] = [join(parent, 'disk'), join(parent, 'away')];
  mkdirSync(folder);
  writeFileSync(join(folder, 'one.txt'), 'The word is amber.');
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.watch', { collectionId, path: folder });
  const problem = async () =>
    (await shelf.call('documents.collections', undefined)).find(({ id }) => id === collectionId)?.folders[0]?.problem;
  const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 100 });
  const hits = async (query: string) => (await shelf.call('documents.search', { query })).hits.length;
  await soon(async () => expect(await hits('amber')).toBe(1));
  renameSync(folder, away);
  await soon(async () => expect(await problem()).toBeTruthy());
  expect(await hits('amber')).toBe(1);
  writeFileSync(join(away, 'two.txt'), 'The word is beryl.');
  renameSync(away, folder);
  await soon(async () => expect([await problem(), await hits('beryl')]).toEqual([null, 1]));
  writeFileSync(join(folder, 'three.txt'), 'The word is citrine.');
  await soon(async () => expect(await hits('citrine')).toBe(1));
});
