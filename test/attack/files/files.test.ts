import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { gather, gatherFolder } from '../../../app/documents/import/collect-files.ts';
import { createFileStore } from '../../../app/documents/import/file-store.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { openShelf } from '../../support/documents/documents.ts';
import { tallyOf } from '../tally.ts';

//  Special files, links that lead elsewhere, and paths that are swapped while being checked.

vi.setConfig({ testTimeout: 120_000 });

const tally = tallyOf('files');
const posix = process.platform !== 'win32';
const SECRET = 'The word of the secret is obsidian.';

/** A folder writable by others, and a file beside it that only the user can read. */
function makeFolders() {
  const parent = newFolder();
  const [shared, own] = [join(parent, 'shared'), join(parent, 'own')];
  mkdirSync(shared);
  mkdirSync(own);
  writeFileSync(join(own, 'secret.txt'), SECRET);
  writeFileSync(join(shared, 'harmless.txt'), 'The word is amber.');
  return { parent, shared, own, secret: join(own, 'secret.txt') };
}

const pipeAt = (path: string) => void execFileSync('mkfifo', [path]);
const within = <T>(ms: number, work: Promise<T>): Promise<T> =>
  Promise.race([work, new Promise<never>((_, reject) => setTimeout(() => reject(new Error('it waits')), ms))]);

test.runIf(posix)('pipes, sockets and devices keep nobody waiting, wherever a file is named', async () => {
  const { client } = await startCore();
  const folder = newFolder();
  const [pipe, socket] = [join(folder, 'pipe.txt'), join(folder, 'socket.txt')];
  pipeAt(pipe);
  const server = createServer().listen(socket);
  onTestFinished(() => void server.close());
  const chat = await client.call('chats.create', {});
  const collection = await client.call('documents.createCollection', { name: 'Papers' });
  const link = join(folder, 'link.txt');
  symlinkSync(pipe, link);
  for (const path of [pipe, link, socket, '/dev/zero', '/dev/tty', folder]) {
    await tally.refused(`attached: ${path}`, () =>
      expect(
        within(5000, client.call('attachments.add', { chatId: chat.id, path, name: 'a.txt' })),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/^(unreadable|permission|not-found)$/),
      }),
    );
    if (path === folder) continue;
    await tally.refused(`added: ${path}`, () =>
      expect(
        within(5000, client.call('documents.add', { collectionId: collection.id, files: [{ path, name: 'a.txt' }] })),
      ).rejects.toMatchObject({ code: expect.stringMatching(/^(unreadable|permission|not-found)$/) }),
    );
    await tally.refused(`copied: ${path}`, () =>
      expect(within(5000, createFileStore(join(folder, 'kept')).take(path, 'a.txt'))).rejects.toThrow(),
    );
    await tally.refused(`hashed: ${path}`, async () =>
      expect(await within(5000, createFileStore(join(folder, 'kept')).hash(path))).toBe(null),
    );
  }
  await tally.refused('a folder full of pipes', async () => {
    const full = newFolder();
    for (let at = 0; at < 20; at++) pipeAt(join(full, `pipe${at}.pdf`));
    expect(await within(5000, gather(full, 'full'))).toEqual([]);
  });
  await tally.refused('the core answers after all of them', () => within(5000, client.call('app.info')));
  tally.settle();
});

test.runIf(posix)('links in a watched folder do not lead out of it, and that is told', async () => {
  const { shared, own, secret } = makeFolders();
  symlinkSync(secret, join(shared, 'direct.txt'));
  symlinkSync('../own/secret.txt', join(shared, 'relative.txt'));
  symlinkSync(own, join(shared, 'folder'));
  symlinkSync(join(shared, 'direct.txt'), join(shared, 'twice.txt'));
  symlinkSync(`/proc/self/cwd/${secret}`, join(shared, 'process.txt'));
  symlinkSync('/etc/passwd', join(shared, 'passwd.txt'));
  symlinkSync(join(shared, 'ring.txt'), join(shared, 'ring.txt'));
  const inner = join(shared, 'inner.txt');
  symlinkSync(join(shared, 'harmless.txt'), inner);
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.watch', { collectionId, path: shared });
  await vi.waitFor(
    async () => expect((await shelf.call('documents.search', { query: 'amber' })).hits).toHaveLength(1),
    15_000,
  );
  await shelf.documents.idle();
  for (const name of ['direct', 'relative', 'twice', 'process', 'passwd', 'ring']) {
    await tally.refused(`a link named ${name}`, async () => {
      const list = await shelf.call('documents.list', {});
      expect(list.map(({ fileName }) => fileName)).not.toContain(`${name}.txt`);
    });
  }
  await tally.refused('a link to a folder', async () =>
    expect((await shelf.call('documents.search', { query: 'obsidian' })).hits).toEqual([]),
  );
  await tally.refused('without a word', async () => {
    const [folder] =
      (await shelf.call('documents.collections', undefined)).find(({ id }) => id === collectionId)?.folders ?? [];
    expect(folder?.problem).toMatchObject({ kind: 'links' });
  });
  await tally.refused('a link in a folder that is added', async () =>
    expect((await gather(shared, 'shared')).map(({ fileName }) => fileName)).toEqual(['harmless.txt']),
  );
  tally.settle();
});

test.runIf(posix)('what takes the place of a file after it was looked at is not read', async () => {
  const { parent, shared, own, secret } = makeFolders();
  const copies = createFileStore(join(parent, 'kept'));
  const found = await gatherFolder(shared);
  expect(found.files).toHaveLength(1);
  const path = join(shared, 'harmless.txt');
  const refused = (what: string) =>
    tally.refused(what, () =>
      expect(copies.take(path, 'harmless.txt', shared)).rejects.toMatchObject({ code: 'permission' }),
    );
  rmSync(path);
  symlinkSync(secret, path);
  await refused('a link in the place of a file');
  const deep = join(shared, 'deep');
  mkdirSync(deep);
  writeFileSync(join(deep, 'secret.txt'), 'harmless');
  renameSync(deep, join(parent, 'gone'));
  symlinkSync(own, deep);
  await tally.refused('a link in the place of a folder', () =>
    expect(copies.take(join(deep, 'secret.txt'), 'secret.txt', shared)).rejects.toMatchObject({ code: 'permission' }),
  );
  rmSync(path);
  pipeAt(path);
  await tally.refused('a pipe in the place of a file', () =>
    expect(within(5000, copies.take(path, 'harmless.txt', shared))).rejects.toMatchObject({ code: 'unreadable' }),
  );
  // Swapped as fast as possible: either the file itself is taken, or nothing.
  rmSync(path);
  let going = true;
  const swapping = (async () => {
    for (let at = 0; going; at++) {
      const next = join(parent, `next${at % 2}`);
      rmSync(next, { force: true });
      if (at % 2) symlinkSync(secret, next);
      else writeFileSync(next, 'The word is amber.');
      renameSync(next, path);
      if (at % 3 === 0) await new Promise((more) => setImmediate(more));
    }
  })();
  await tally.refused('a name that changes all the time', async () => {
    const hash = await copies.hash(secret);
    for (let at = 0; at < 100; at++) {
      const copy = await copies.take(path, 'harmless.txt', shared).catch(() => null);
      if (copy) expect(copy.sha256).not.toBe(hash);
    }
  });
  going = false;
  await swapping;
  tally.settle();
});
