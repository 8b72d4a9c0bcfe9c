// Chats in the list, their titles and how they go.
import { expect, test } from 'vitest';
import type { ChatId } from '../../../../app/protocol/index.ts';
import {
  chatIsOpen,
  createChat,
  deleteChat,
  distinctTitle,
  getChat,
  listChats,
  purgeDeleted,
  updateChat,
} from '../../../../app/store/chats/chats.ts';
import { inMemory } from '../support.ts';

test('a title that another chat has gets the next number that is free; its own and those in the trash do not count', () => {
  const db = inMemory();
  const titled = (title: string) => updateChat(db, createChat(db, null, 1).id, { title }).id;
  const [first] = [titled('Café'), titled('CAFE (2)')];
  const third = createChat(db, null, 2).id;
  const told = (title: string, id: ChatId = third) => distinctTitle(db, title, id);
  expect(['café', 'Cafés', '', 'Café (2)'].map((title) => told(title))).toEqual([
    'café (3)',
    'Cafés',
    '',
    'Café (2) (2)',
  ]);
  expect(told('Café', first)).toBe('Café');
  deleteChat(db, first, 1);
  expect(told('Café')).toBe('Café');
});

test('the first page has the newest chats and all that are pinned, each once; the next ones go on where it ended', () => {
  const db = inMemory();
  const ids = [10, 20, 30, 40, 50].map((at) => createChat(db, null, at).id);
  updateChat(db, ids[0] as ChatId, { pinned: true });
  updateChat(db, ids[4] as ChatId, { pinned: true });
  const listed = (limit: number, before?: number) =>
    listChats(db, { limit, before }).map(({ createdAt, pinned }) => `${createdAt}${pinned ? ' pinned' : ''}`);
  expect(listed(2)).toEqual(['50 pinned', '40', '10 pinned']);
  expect(listed(2, 40)).toEqual(['30', '20']);
  expect(listed(2, 20)).toEqual(['10 pinned']);
  deleteChat(db, ids[0] as ChatId, 60);
  expect(listed(9)).toEqual(['50 pinned', '40', '30', '20']);
});

test('what is chosen in a chat comes back as it was, and what is not given stays', () => {
  const db = inMemory();
  const { id } = createChat(db, null, 1);
  const chosen = {
    thinking: true,
    loopGuard: true,
    pinned: true,
    draft: 'Dear',
    tools: ['calculate'] as never,
    systemPrompt: 'Be brief.',
    sampling: { temperature: 0.5 },
    collectionIds: ['c'] as never,
    titleSource: 'model' as const,
  };
  expect(updateChat(db, id, chosen)).toMatchObject(chosen);
  expect(updateChat(db, id, { thinking: false, draft: undefined, pinned: false })).toMatchObject({
    ...chosen,
    thinking: false,
    pinned: false,
  });
  expect(updateChat(db, id, { thinking: null, loopGuard: false, tools: null })).toMatchObject({
    thinking: null,
    loopGuard: false,
    tools: null,
  });
});

test('a chat that is not there can be neither read nor deleted; one is gone exactly a day after it was deleted', () => {
  const db = inMemory();
  expect(() => deleteChat(db, 'nowhere' as ChatId, 1)).toThrow('no chat nowhere');
  const { id } = createChat(db, null, 1);
  deleteChat(db, id, 1000);
  expect(chatIsOpen(db, id)).toBe(false);
  expect(() => getChat(db, id)).toThrow(expect.objectContaining({ code: 'not-found' }));
  expect(() => deleteChat(db, id, 2000)).toThrow('no chat');
  const day = 86_400_000;
  expect([purgeDeleted(db, 999 + day), purgeDeleted(db, 1000 + day), purgeDeleted(db, 1000 + day)]).toEqual([
    false,
    true,
    false,
  ]);
});
