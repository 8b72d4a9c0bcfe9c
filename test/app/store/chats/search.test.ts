import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatId } from '../../../../app/protocol/index.ts';
import { addAttachment, copyAttachments } from '../../../../app/store/chats/attachments.ts';
import { deleteChat, updateChat } from '../../../../app/store/chats/chats.ts';
import { addMessage, updateMessage } from '../../../../app/store/chats/messages.ts';
import { searchChats } from '../../../../app/store/chats/search.ts';
import { fold } from '../../../../app/store/database/case-fold.ts';
import { addExchange, open } from '../support.ts';

const marked = (hit: { excerpt: string; highlights: [number, number][] } | undefined) =>
  hit?.highlights.map(([start, end]) => hit.excerpt.slice(start, end));

test('every word is found in titles and texts, without regard to case and accents, and marked', async () => {
  const { db, ...store } = await open();
  const { chatId } = addExchange(
    { db, ...store },
    'Where is the Café Müller?',
    'Beside the river, behind the old mill.',
  );
  updateChat(db, chatId, { title: 'A café in Wuppertal' });
  const hits = await searchChats(db, 'CAFE', 10);
  expect(hits.map((hit) => hit.messageId === null)).toEqual([true, false]);
  expect(marked(hits[0])).toEqual(['café']);
  expect(marked(hits[1])).toEqual(['Café']);
  expect(await searchChats(db, 'muller cafe', 10)).toHaveLength(1);
  expect(await searchChats(db, 'muller river', 10)).toEqual([]);
});

test('parts of words, and scripts without spaces, also two characters long', async () => {
  const store = await open();
  addExchange(store, '私は東京に住んでいます', 'おもしろいですね');
  expect((await searchChats(store.db, '東京', 10)).map(marked)).toEqual([['東京']]);
  expect((await searchChats(store.db, '住んで', 10)).map(marked)).toEqual([['住んで']]);
  addExchange(store, 'Donaudampfschifffahrt', 'ok');
  expect((await searchChats(store.db, 'dampfschiff', 10)).map(marked)).toEqual([['dampfschiff']]);
});

test('no more is found than was asked for, the newest first', async () => {
  const store = await open();
  const answers = [1, 2, 3, 4, 5].map((at) => addExchange(store, `${at}?`, `lantern ${at}`).answerId);
  for (const query of ['lantern', 'la']) {
    const found = (await searchChats(store.db, query, 2)).map(({ messageId }) => messageId);
    expect(found, query).toEqual([answers[4], answers[3]]);
  }
});

test('follows changes, and deleted chats are not found', async () => {
  const store = await open();
  const { chatId, answerId } = addExchange(store, 'x', 'the old wording');
  updateMessage(store.db, answerId, { text: 'quite another sentence' });
  expect(await searchChats(store.db, 'wording', 10)).toEqual([]);
  expect(await searchChats(store.db, 'another', 10)).toHaveLength(1);
  deleteChat(store.db, chatId, Date.now());
  expect(await searchChats(store.db, 'another', 10)).toEqual([]);
});

test('a message is found by the names of its files, sent with it or copied to a new version, and by nothing that was taken out', async () => {
  const store = await open();
  const { db } = store;
  const { chatId } = addExchange(store, '', 'A harbour.');
  const picture = { bytes: 9, tokens: null, text: '', picture: { stored: 'a.jpg', width: 4, height: 3 } };
  const add = (name: string) => addAttachment(db, chatId, { ...picture, name }, 1);
  const done = { status: 'done' as const, reason: null };
  const sent = add('Café am Hafen.jpg');
  expect(await searchChats(db, 'hafen', 10)).toEqual([]);
  const { id } = addMessage(
    db,
    { chatId, parentId: null, role: 'user', state: done, text: '', attachments: [sent.id] },
    1,
  );
  const [hit, ...more] = await searchChats(db, 'cafe hafen', 10);
  expect([hit?.messageId, marked(hit), more.length]).toEqual([id, ['Café', 'Hafen'], 0]);
  updateMessage(db, id, { text: 'Where is this?' });
  expect(await searchChats(db, 'hafen where', 10)).toHaveLength(1);
  const again = addMessage(db, { chatId, parentId: null, role: 'user', state: done, text: 'And this?' }, 2);
  copyAttachments(db, id, again.id, 2);
  expect((await searchChats(db, 'hafen', 10)).map(({ messageId }) => messageId)).toEqual([again.id, id]);
});

test('the mark is inside a long text as well', async () => {
  const store = await open();
  addExchange(store, 'x', `${'word '.repeat(5000)}needle ${'word '.repeat(5000)}`);
  const [hit] = await searchChats(store.db, 'needle', 10);
  expect(marked(hit)).toEqual(['needle']);
  expect(hit?.excerpt.length).toBeLessThan(200);
});

test.each([0, 3])('an excerpt begins with a whole word, %d characters further on too', async (further) => {
  const store = await open();
  addExchange(store, 'x', `${'-'.repeat(further)} ${'harbour '.repeat(50)}needle`);
  const [hit] = await searchChats(store.db, 'needle', 10);
  expect(hit?.excerpt).toMatch(/^… (harbour ){4,5}needle$/);
});

test('no text breaks the search, and every mark says what was asked', async () => {
  const store = await open();
  addExchange(store, 'x', 'plain');
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      async (query, text) => {
        const message = store.db.get<{ id: never }>('SELECT id FROM messages ORDER BY number DESC');
        if (message) updateMessage(store.db, message.id, { text: text.toWellFormed() });
        for (const hit of await searchChats(store.db, query, 10)) {
          const words = fold(query).split(/\s+/);
          for (const [start, end] of hit.highlights) {
            expect(end).toBeLessThanOrEqual(hit.excerpt.length);
            expect(words.some((word) => fold(hit.excerpt.slice(start, end)).includes(word))).toBe(true);
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('20 000 messages are searched within the time of a key stroke', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'seed', 'seed');
  store.db.transaction(() => {
    for (let i = 0; i < 20_000; i++) addFiller(store.db, chatId, i);
  });
  const times: number[] = [];
  for (const query of ['zebra', 'number 19', 'xy']) {
    const begin = performance.now();
    await searchChats(store.db, query, 50);
    times.push(performance.now() - begin);
  }
  // One of two characters is looked for in the newest messages only.
  expect(await searchChats(store.db, 'ee', 50)).toEqual([]);
  // 120 ms on an idle machine; others may be working on this one.
  expect(Math.max(...times)).toBeLessThan(600);
});

test('while messages are read one by one, everything else gets its turn', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'seed', 'seed');
  store.db.transaction(() => {
    for (let i = 0; i < 1000; i++) addFiller(store.db, chatId, i);
  });
  let turns = 0;
  let searching = true;
  const other = () => {
    turns++;
    if (searching) setImmediate(other);
  };
  setImmediate(other);
  expect(await searchChats(store.db, 'xy', 50)).toEqual([]);
  searching = false;
  expect(turns).toBeGreaterThanOrEqual(20);
});

test('hits that are far apart are found in order and once each, over many portions', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'seed', 'seed');
  store.db.transaction(() => {
    for (let i = 0; i < 1000; i++) addFiller(store.db, chatId, i);
  });
  const found = await searchChats(store.db, '99 ab', 50);
  expect(found.map(({ messageId }) => messageId)).toEqual(
    [999, 899, 799, 699, 599, 499, 399, 299, 199, 99].flatMap((end) =>
      end === 999 ? Array.from({ length: 10 }, (_, at) => `filler-${999 - at}`) : [`filler-${end}`],
    ),
  );
});

const addFiller = (db: Awaited<ReturnType<typeof open>>['db'], chatId: ChatId, i: number) =>
  db.run(
    `INSERT INTO messages (id, chat_id, role, created_at, text, state) VALUES (?, ?, 'user', ?, ?, '{"status":"done","reason":null}')`,
    `filler-${i}`,
    chatId,
    i,
    `Message number ${i} about ${i % 7 === 0 ? 'zebras and their stripes' : 'rivers, bridges and long roads'} in the country.`,
  );
