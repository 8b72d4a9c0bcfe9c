import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { gather } from '../../../app/documents/import/collect-files.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { openShelf } from '../../support/documents/documents.ts';
import { tallyOf } from '../tally.ts';

//  Names of files that look like other names: they are shown in lists, above quotes, and where something is confirmed.

vi.setConfig({ testTimeout: 120_000 });

const tally = tallyOf('files');

/** What each does to the name in which it stands. */
const MARKS: [what: string, mark: string][] = [
  ['reversed by an override', '\u202e'],
  ['written left to right by an override', '\u202d'],
  ['embedded from right to left', '\u202b'],
  ['isolated from right to left', '\u2067'],
  ['isolated from left to right', '\u2066'],
  ['marked as Arabic', '\u061c'],
  ['with a hidden space', '\u200b'],
  ['with a word joiner', '\u2060'],
  ['with a soft hyphen', '\u00ad'],
  ['with a byte order mark', '\ufeff'],
  ['with a line separator', '\u2028'],
  ['with a line break', '\n'],
  ['with a tab', '\t'],
  ['with the first character of a terminal command', '\u001b'],
  ['with hidden letters of the tag block', '\u{e0041}'],
];

const named = (mark: string) => `invoice${mark}fdp.txt`;
const SHOWN = 'invoicefdp.txt';

test('names of documents, folders and attachments contain no mark that reverses, hides or breaks text', async () => {
  const { client } = await startCore();
  const chat = await client.call('chats.create', {});
  for (const [what, mark] of MARKS) {
    const folder = newFolder();
    const path = join(folder, named(mark));
    writeFileSync(path, 'The word is amber.');
    await tally.refused(`a file ${what}`, async () =>
      expect(await gather(path, named(mark))).toMatchObject([{ path, fileName: SHOWN }]),
    );
    await tally.refused(`a file in a folder, ${what}`, async () =>
      expect(await gather(folder, 'folder')).toMatchObject([{ path, fileName: SHOWN }]),
    );
    await tally.refused(`an attachment ${what}`, async () =>
      expect(await client.call('attachments.add', { chatId: chat.id, path, name: named(mark) })).toMatchObject({
        name: SHOWN,
      }),
    );
    await tally.refused(`an attachment refused, ${what}`, async () => {
      const missing = client.call('attachments.add', { chatId: chat.id, path: `${path}x`, name: named(mark) });
      const message = await missing.then(() => '', String);
      expect(message).not.toBe('');
      expect(message).toContain('invoice');
      if (mark.trim() !== '') expect(message).not.toContain(mark);
    });
  }
  tally.settle();
});

test('what a mark hides does not change the type of a file', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'inner'));
  for (const name of ['program.ex\u202ee', 'page.\u202ehtml.bin'])
    writeFileSync(join(folder, 'inner', name), '\0\x01\x02');
  await tally.refused('an ending behind a mark', async () => expect(await gather(folder, 'folder')).toEqual([]));
  await tally.refused('a name of marks only', async () => {
    const path = join(folder, 'plain.txt');
    writeFileSync(path, 'The word is amber.');
    expect(await gather(path, '\u202e\u200b')).toMatchObject([{ fileName: 'file' }]);
  });
  tally.settle();
});

test('a file of a watched folder is shown by its name without marks', async () => {
  const shelf = await openShelf();
  const folder = newFolder();
  writeFileSync(join(folder, named('\u202e')), 'The word is amber.');
  await shelf.call('documents.watch', { collectionId: shelf.collection.id, path: folder });
  await tally.refused('a watched file', () =>
    vi.waitFor(async () => {
      const list = await shelf.call('documents.list', {});
      expect(list.map(({ fileName, name }) => [fileName, name])).toEqual([[SHOWN, SHOWN]]);
    }, 15_000),
  );
  await shelf.documents.idle();
  await tally.refused('read once, though its name on disk is another', async () => {
    const { hits } = await shelf.call('documents.search', { query: 'amber' });
    expect(hits).toHaveLength(1);
  });
  tally.settle();
});

test('emoji and Persian names stay as they are', async () => {
  const folder = newFolder();
  for (const name of ['👨‍👩‍👧 trip.txt', 'می‌خواهم.txt', 'Übersicht 2026 – neu.txt', 'תיק.txt']) {
    const path = join(folder, name);
    writeFileSync(path, 'The word is amber.');
    expect(await gather(path, name)).toMatchObject([{ fileName: name }]);
  }
});
