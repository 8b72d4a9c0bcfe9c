import { expect, test } from 'vitest';
import type { Chat } from '../../../../app/protocol/index.ts';
import { chatPages } from '../../../../renderer/stores/chat/chat-pages.ts';
import { noChats, withChats, withOlderChats } from '../../../../renderer/stores/chat/reducers.ts';
import { newChat } from '../../../support/fakes/world.ts';

/** The core's list: newest first, and with the first page every pinned chat. */
function coreWith(chats: readonly Chat[]) {
  const asked: unknown[] = [];
  const list = async ({ limit = 200, before }: { limit?: number | undefined; before?: number | undefined }) => {
    asked.push(before);
    const fitting = chats
      .filter(({ updatedAt }) => before === undefined || updatedAt < before)
      .toSorted((a, b) => b.updatedAt - a.updatedAt);
    const page = fitting.slice(0, limit);
    const pinned = before === undefined ? fitting.slice(limit).filter((chat) => chat.pinned) : [];
    return [...page, ...pinned];
  };
  return { list, asked };
}

async function read(chats: readonly Chat[]) {
  const { list, asked } = coreWith(chats);
  let data = noChats;
  for await (const page of chatPages(list)) data = withOlderChats(data, page);
  return { ids: data.chats.map(({ id }) => id), asked };
}

const chatsAt = (times: readonly number[], change: Partial<Chat> = {}) =>
  times.map((updatedAt) => newChat({ updatedAt, ...change }));

test('1,234 chats are three pages, each chat once', async () => {
  const chats = chatsAt(Array.from({ length: 1234 }, (_, at) => at + 1));
  const { ids, asked } = await read(chats);
  expect(ids).toEqual(chats.toReversed().map(({ id }) => id));
  expect(asked).toHaveLength(3);
});

test('a few chats are one page, none are one too', async () => {
  expect((await read(chatsAt([3, 1, 2]))).asked).toEqual([undefined]);
  expect((await read([])).ids).toEqual([]);
});

test('an old pinned chat in the first page hides none of those between', async () => {
  const chats = [...chatsAt([1], { pinned: true }), ...chatsAt(Array.from({ length: 900 }, (_, at) => at + 10))];
  expect((await read(chats)).ids).toHaveLength(901);
});

test('chats of one moment at the border of two pages are all there, and a page of one moment ends the reading', async () => {
  const border = chatsAt([...Array.from({ length: 498 }, (_, at) => 1000 + at), ...Array(6).fill(500), 400, 300]);
  expect((await read(border)).ids).toHaveLength(506);
  expect((await read(chatsAt(Array(700).fill(5)))).ids.length).toBeGreaterThanOrEqual(500);
});

test('what changed while older pages came is not put back', () => {
  const [one, two] = chatsAt([2, 1]);
  if (!one || !two) throw new Error('two chats are expected');
  const data = withChats(noChats, [{ ...two, title: 'New', updatedAt: 3 }, one]);
  expect(withOlderChats(data, [{ ...two, title: 'Old' }]).chats.map(({ title }) => title)).toEqual(['New', '']);
});
