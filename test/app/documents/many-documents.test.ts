import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Document, DocumentId } from '../../../app/protocol/index.ts';
import { newId } from '../../../app/store/database/uuid.ts';
import { newFolder } from '../../support/core/core.ts';
import { openShelf } from '../../support/documents/documents.ts';

//  Thousands of documents hold up nobody: whatever is done for all of them is done a few at a time.

vi.setConfig({ testTimeout: 60_000 });

const FILES = 250;

/** How many documents were queued in each turn of the loop. */
function countQueued() {
  const counts: number[] = [0];
  let going = true;
  const next = () => {
    if (counts.at(-1) !== 0) counts.push(0);
    if (going) setImmediate(next);
  };
  next();
  return {
    hear(name: string, payload: unknown) {
      if (name !== 'document.changed' || (payload as Document).state.status !== 'queued') return;
      counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
    },
    most: () => Math.max(...counts),
    all: () => counts.reduce((sum, one) => sum + one, 0),
    stop() {
      going = false;
    },
  };
}

test('the files of a large folder are queued a few at a time, whether it is added or watched', async () => {
  for (const [call, most] of [
    ['documents.add', 100],
    ['documents.watch', 4],
  ] as const) {
    const folder = newFolder();
    for (let at = 0; at < FILES; at++) writeFileSync(join(folder, `${at}.txt`), `The number ${at}.`);
    const counted = countQueued();
    const shelf = await openShelf({ onEvent: counted.hear });
    const { id: collectionId } = shelf.collection;
    const ended =
      call === 'documents.add'
        ? shelf.call(call, { collectionId, files: [{ path: folder, name: 'folder' }] })
        : shelf.call(call, { collectionId, path: folder });
    // What is told when a file has been copied comes on top.
    await vi.waitFor(() => expect(counted.all()).toBeGreaterThanOrEqual(FILES), { timeout: 30_000, interval: 20 });
    counted.stop();
    expect(counted.most(), call).toBeLessThanOrEqual(most);
    await shelf.close();
    await ended.catch(() => {});
  }
});

test('a long list is read in stretches, and tells how each document is at its end', async () => {
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  const ids = Array.from({ length: 3500 }, () => newId() as DocumentId);
  shelf.db.transaction(() => {
    for (const id of ids)
      shelf.db.run(
        `INSERT INTO documents (id, collection_id, name, file_name, kind, source_path, status, state, bytes, added_at, source_changed_at)
         VALUES (?, ?, 'a', 'a', 'text', ?, 'ready', '{"status":"ready"}', 1, 0, 0)`,
        id,
        collectionId,
        `/${id}`,
      );
  });
  let turns = 0;
  let going = true;
  const listed = shelf.call('documents.list', { collectionId }).finally(() => {
    going = false;
  });
  for (; going; await turn()) {
    if (++turns === 1) await shelf.call('documents.remove', { documentId: ids[7] as DocumentId });
  }
  expect(turns, 'others had their turn').toBeGreaterThan(2);
  expect((await listed).map(({ id }) => id)).toEqual(ids.filter((id) => id !== ids[7]));
});
