import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newFolder, places } from '../../../support/core/core.ts';
import { openShelf, type Shelf } from '../../../support/documents/documents.ts';

async function settled(shelf: Shelf, documents: number) {
  return vi.waitFor(
    async () => {
      const about = (await shelf.call('documents.collections', undefined)).find(({ builtIn }) => builtIn);
      const list = about ? await shelf.call('documents.list', { collectionId: about.id }) : [];
      expect(list.filter(({ state }) => state.status === 'ready')).toHaveLength(documents);
      if (!about) throw new Error('no collection');
      return { about, list };
    },
    { timeout: 20_000, interval: 100 },
  );
}

test('the manual is a collection that cannot be changed, and follows its files', async () => {
  const help = join(newFolder(), 'help');
  cpSync(join(places.resources, 'help'), help, { recursive: true });
  const pages = readdirSync(help).filter((name) => name.endsWith('.md')).length;
  const dataFolder = newFolder();
  const first = await openShelf({ help, dataFolder });
  const { about, list } = await settled(first, pages);
  expect(about.name).toBe('About Longhand');
  const { hits } = await first.call('documents.search', { query: 'What is a token?', collectionIds: [about.id] });
  expect(hits[0]?.excerpt).toContain('A token is a piece of');
  const chat = list.find(({ fileName }) => fileName === '02-chat.md');
  for (const refused of [
    first.call('documents.renameCollection', { collectionId: about.id, name: 'Mine' }),
    first.call('documents.deleteCollection', { collectionId: about.id }),
    first.call('documents.add', { collectionId: about.id, files: [{ path: import.meta.filename, name: 'x.ts' }] }),
    first.call('documents.remove', { documentId: chat?.id as never }),
  ]) {
    await expect(refused).rejects.toMatchObject({ code: 'bad-request' });
  }
  // Everywhere is what was put there: the manual is found when it is chosen or named, or when there is nothing else.
  const everywhere = (query: string) => first.call('documents.search', { query });
  expect((await everywhere('What is a token?')).hits.length).toBeGreaterThan(0);
  await first.add({ 'token.txt': 'The token of the laundry costs 80 cents.' });
  const mine = await first.call('documents.list', { collectionId: first.collection.id });
  expect((await everywhere('What is a token?')).hits.map(({ documentId }) => documentId)).toEqual([mine[0]?.id]);
  const named = new Set(
    (await everywhere('What does Longhand call a token?')).hits.map(({ documentId }) => documentId),
  );
  expect(named.size).toBeGreaterThan(1);
  await first.call('documents.remove', { documentId: mine[0]?.id as never });
  await first.close();

  // A new version of the app, in another place: one page changed, one gone.
  const moved = join(newFolder(), 'help');
  renameSync(help, moved);
  writeFileSync(join(moved, '01-start.md'), '# Getting started\n\nPress the turquoise button.\n');
  rmSync(join(moved, '09-trouble.md'));
  const second = await openShelf({ help: moved, dataFolder });
  await vi.waitFor(async () => {
    const found = await second.call('documents.search', { query: 'turquoise' });
    expect(found.hits).toHaveLength(1);
  }, 20_000);
  const after = await settled(second, pages - 1);
  expect(after.list.find(({ fileName }) => fileName === '02-chat.md')?.id).toBe(chat?.id);
});
