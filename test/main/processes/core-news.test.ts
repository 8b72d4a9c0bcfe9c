import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CollectionId, Document, DocumentId } from '../../../app/protocol/index.ts';
import type { DesktopNews } from '../../../main/processes/core-ipc.ts';
import { followCore } from '../../../main/processes/core-news.ts';
import { createFakeCore } from '../../support/fakes/core.ts';
import { newDocument } from '../../support/fakes/documents.ts';
import { createWorld, newChat } from '../../support/fakes/world.ts';

//  What the desktop shows beside the pages, as the core tells it: at most five times a second, and only what is new.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function followed() {
  const world = createWorld();
  world.chats.clear();
  const core = createFakeCore(world);
  const news: DesktopNews[] = [];
  await followCore({ connect: core.switchboard.add } as never, (one) => news.push(one));
  await vi.advanceTimersByTimeAsync(1);
  return { world, core, news };
}
const soon = () => vi.advanceTimersByTimeAsync(201);
const document = (collection: string, id: string, status: 'queued' | 'ready'): Document => ({
  ...newDocument(collection as CollectionId, id),
  id: id as DocumentId,
  ...(status === 'queued' && { state: { status } as Document['state'] }),
});

test('the ten chats changed last are named, without those that have no title, and what is the same is told once', async () => {
  const { world, core, news } = await followed();
  expect(news).toMatchObject([{ recent: [], progress: null, making: false }]);
  for (let at = 1; at <= 12; at++) {
    const chat = newChat({ title: at === 12 ? '' : `chat ${at}`, updatedAt: at });
    world.chats.set(chat.id, chat);
    core.emit('chat.changed', chat);
  }
  expect(news).toHaveLength(1);
  await soon();
  expect(news).toHaveLength(2);
  expect(news[1]?.recent[0]?.title).toBe('chat 11');
  expect(news[1]?.recent.length).toBeLessThanOrEqual(10);
  const [known] = world.chats.values();
  if (known) core.emit('chat.changed', known);
  await soon();
  expect(news).toHaveLength(2);
  world.chats.clear();
  core.emit('chat.deleted', { chatId: known?.id } as never);
  await soon();
  expect(news.at(-1)?.recent).toEqual([]);
});

test('documents that are read are a progress until all of them are done or gone', async () => {
  const { core, news } = await followed();
  const told = async (one: Document) => {
    core.emit('document.changed', one);
    await soon();
    return news.at(-1)?.progress;
  };
  expect(await told(document('papers', 'known', 'ready')), 'was there before').toBeNull();
  expect(await told(document('papers', 'a', 'queued'))).toBe(0);
  expect(await told(document('papers', 'b', 'queued'))).toBe(0);
  expect(await told(document('papers', 'a', 'ready'))).toBe(0.5);
  core.emit('document.removed', { documentId: 'b' } as never);
  await soon();
  expect(await told(document('papers', 'c', 'queued'))).toBe(0.5);
  expect(await told(document('papers', 'c', 'ready'))).toBeNull();
});

test('a choice of the user, and a document that was the last one to be read and is removed, are told by themselves', async () => {
  const { world, core, news } = await followed();
  core.emit('settings.changed', { ...world.settings, inTray: true, quickKeys: 'Mod+J' });
  await soon();
  expect(news.at(-1)).toMatchObject({ inTray: true, quickKeys: 'Mod+J' });
  core.emit('document.changed', document('papers', 'a', 'queued'));
  await soon();
  expect(news.at(-1)?.progress).toBe(0);
  core.emit('document.removed', { documentId: 'a' } as never);
  await soon();
  expect(news.at(-1)?.progress).toBeNull();
});
