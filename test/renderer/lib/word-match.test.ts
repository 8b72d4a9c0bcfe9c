import { expect, test } from 'vitest';
import type { ChatId, MessageId, SearchHit } from '../../../app/protocol/index.ts';
import { foldCase } from '../../../renderer/lib/case-fold.ts';
import { matchOf } from '../../../renderer/lib/word-match.ts';
import { chatHitsOf } from '../../../renderer/shell/chat-hits.ts';
import { placesOfWords } from '../../../renderer/stores/documents/state.ts';

const marked = (text: string, query: string) => matchOf(text, query)?.map(([start, end]) => text.slice(start, end));

test('what is marked is what was found, also behind letters that grow in lower case', () => {
  expect(marked('İİİ Izmir ferry', 'ferry')).toEqual(['ferry']);
  expect(marked('İstanbul, the FERRY', 'fer')).toEqual(['FER']);
  expect(marked('Straße und Ferry', 'FERRY')).toEqual(['Ferry']);
  expect(placesOfWords('İİ ferry', ['ferry'])).toEqual([[3, 8]]);
});

test('lower case keeps every place, whatever the script', () => {
  for (const text of ['İ', 'aİb😀İ', 'ΑΣ', 'ﬀ', '𐐀', '']) expect(foldCase(text)).toHaveLength(text.length);
});

test('several messages of a chat are one row, which leads to the newest of them', () => {
  const hit = (chat: string, message: string | null): SearchHit => ({
    chatId: chat as ChatId,
    messageId: message as MessageId | null,
    title: chat,
    excerpt: message ?? chat,
    highlights: [],
  });
  const rows = chatHitsOf([hit('a', null), hit('b', '9'), hit('a', '8'), hit('b', '7'), hit('c', null), hit('a', '6')]);
  expect(rows.map(({ hit: one, messages }) => [one.chatId, one.messageId, messages])).toEqual([
    ['a', '8', 2],
    ['b', '9', 2],
    ['c', null, 0],
  ]);
});
