import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Attachment, Client, Document, DocumentId } from '../../../app/protocol/index.ts';
import { connect, newFolder } from '../../support/core/core.ts';
import { startScripted } from '../../support/core/scripted-core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { breakDisk, type Fault } from '../../support/faulty-disk.ts';
import { collectUncaught } from '../../support/full-disk.ts';

//  The disk is full at the n-th write of what is stored of documents and attachments, for every n. What is refused is refused with
//  `disk-full`, nothing is thrown where nobody catches it, and after the next start there is what the pages were told.

const AT_ONCE = 4;
const unhandled = collectUncaught();

const start = (dataFolder: string) => startScripted(dataFolder, scriptedEngine(() => 'Yes.').startEngine);

type Told = { documents: Map<DocumentId, Document>; attached: Attachment[] };

/** Everything that is done with files, each wish tried on, whatever came of the one before. */
async function work(client: Client, folder: string, told: Told, lift: () => void, fault: Fault): Promise<unknown[]> {
  const refusals: unknown[] = [];
  const tried = async <T>(wish: Promise<T>): Promise<T | null> => {
    try {
      return await wish;
    } catch (error) {
      refusals.push(error);
      return null;
    }
  };
  /** An undo that is refused is pressed again. */
  const takenBack = async (wish: () => Promise<unknown>) => (await tried(wish())) ?? (await tried(wish()));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return { path: join(folder, name), name };
  };
  const chat = await tried(client.call('chats.create', {}));
  for (const name of chat ? ['a.txt', 'b.txt', 'c.txt'] : []) {
    const attached = await tried(client.call('attachments.add', { chatId: chat?.id as never, ...file(name, name) }));
    if (attached) told.attached.push(attached);
  }
  const [first] = told.attached;
  if (first && (await tried(client.call('attachments.remove', { attachmentId: first.id }).then(() => true))))
    told.attached.shift();
  const collection = await tried(client.call('documents.createCollection', { name: 'Papers' }));
  if (!collection) return refusals;
  const collectionId = collection.id;
  const files = [file('bees.md', '# Bees\n\nBees sting.\n'), file('rent.txt', 'The rent is due.\n')];
  await tried(client.call('documents.add', { collectionId, files }));
  // A disk that stays full is emptied after a while; then what was told is read.
  if (fault.times === Number.POSITIVE_INFINITY) await wait(300).then(lift);
  await settled(client);
  const [document] = await client.call('documents.list', {});
  if (document) {
    const documentId = document.id;
    await tried(client.call('documents.remove', { documentId }));
    await takenBack(() => client.call('documents.restore', { documentId }));
  }
  await tried(client.call('documents.renameCollection', { collectionId, name: 'Letters' }));
  await tried(client.call('documents.deleteCollection', { collectionId }));
  await takenBack(() => client.call('documents.restoreCollection', { collectionId }));
  await settled(client);
  return refusals;
}

/** All of them are read. One that the full disk stopped says so and offers to try again, which is what a person does. */
const settled = (client: Client) =>
  vi.waitFor(
    async () => {
      const waiting = (await client.call('documents.list', {})).filter(({ state }) => state.status !== 'ready');
      for (const { id, state } of waiting) {
        if (state.status !== 'failed') continue;
        expect(state).toMatchObject({ remedy: 'retry', failure: { code: 'disk-full' } });
        await client.call('documents.retry', { documentId: id }).catch(() => {}); // full once more
      }
      expect(waiting).toEqual([]);
    },
    { timeout: 60_000, interval: 30 },
  );

async function run(fault: Fault): Promise<number> {
  const dataFolder = newFolder();
  const where = `write ${fault.at}, ${fault.times} times`;
  const host = await start(dataFolder);
  const client = connect(host);
  // The start is examined by the sweep of conversations.
  const disk = breakDisk(join(dataFolder, 'longhand.db'), fault);
  const told: Told = { documents: new Map(), attached: [] };
  client.on('document.changed', (document) => told.documents.set(document.id, document));
  client.on('document.removed', ({ documentId }) => told.documents.delete(documentId));
  const refusals = await work(client, newFolder(), told, disk.lift, fault);
  for (const refusal of refusals)
    expect(refusal, where).toMatchObject({ code: expect.stringMatching(/^(disk-full|not-found)$/) });
  if (fault.times > 0 && disk.seen() >= fault.at) disk.lift();
  const seen = disk.seen();
  await host.close();
  // A run may write less than the one that was counted; the next start has room in any case.
  disk.lift();

  const again = await start(dataFolder);
  const later = connect(again);
  await settled(later);
  const stored = new Map((await later.call('documents.list', {})).map((one) => [one.id, one]));
  const names = (all: Iterable<Document>) => [...all].map(({ fileName }) => fileName).sort();
  expect(names(stored.values()), where).toEqual(names(told.documents.values()));
  for (const { id, name } of told.attached)
    expect((await later.call('attachments.text', { attachmentId: id })).name, where).toBe(name);
  await again.close();
  return seen;
}

test('documents and attachments, for each write that fails alone, and from every third on', {
  timeout: 300_000,
}, async () => {
  const writes = await run({ at: Number.POSITIVE_INFINITY, times: 0 });
  console.log(`writes: ${writes}`);
  expect(writes).toBeGreaterThan(20);
  const faults = Array.from({ length: writes }, (_, at): Fault[] => [
    { at: at + 1, times: 1 },
    ...(at % 3 === 0 ? [{ at: at + 1, times: Number.POSITIVE_INFINITY }] : []),
  ]).flat();
  const worker = async () => {
    for (let fault = faults.shift(); fault; fault = faults.shift()) await run(fault);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(unhandled).toEqual([]);
});
