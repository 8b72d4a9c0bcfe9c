import { expect, onTestFinished, test } from 'vitest';
import type { Chat, ChatId, Client } from '../../../app/protocol/index.ts';
import { connect, isEnd, listen, newFolder, next } from '../../support/core/core.ts';
import { startScripted } from '../../support/core/scripted-core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { until } from '../../support/until.ts';

//  Who names a chat: the model when it is large enough and writes a title, else the first words of the question.

const answer = 'A sea symphony begins with the sea, and the harbour sings the second part.';

async function start(title: string, parameters: number) {
  const asked: string[] = [];
  const { startEngine } = scriptedEngine(({ priority }) => {
    asked.push(priority);
    return priority === 'title' ? title : answer;
  }, parameters);
  const host = await startScripted(newFolder(), startEngine);
  onTestFinished(() => host.close());
  const client = connect(host);
  // The model has to be looked at before anybody knows how large it is.
  await until(
    () => client.call('models.list'),
    (models) => models.some(({ description }) => description !== null),
  );
  const { end } = listen(client);
  const ask = async (text: string): Promise<ChatId> => {
    const { id: chatId } = await client.call('chats.create', {});
    await end((await client.call('turns.send', { chatId, text })).turnId);
    return chatId;
  };
  return { client, asked, ask };
}

const read = async (client: Client, chatId: ChatId): Promise<Chat> => (await client.call('chats.get', { chatId })).chat;
const named = (client: Client) => next(client, 'chat.changed', ({ titleSource }) => titleSource === 'model');
/** Longer than a title waits for its turn. */
const aWhile = () => new Promise((done) => setTimeout(done, 1500));

test('a large model names a chat; another chat that it would call the same keeps the words of its question', async () => {
  const { client, ask } = await start('Sea Symphony', 4e9);
  const first = named(client);
  await ask('Compose a sea symphony.');
  expect((await first).title).toBe('Sea Symphony');
  const second = await ask('What about a sea symphony for two?');
  await aWhile();
  expect(await read(client, second)).toMatchObject({
    title: 'What about a sea symphony for two?',
    titleSource: 'none',
  });
});

test('a chat that was renamed before its turn keeps that name, and the next chat is named', async () => {
  const { client, asked, ask } = await start('Sea Symphony', 4e9);
  const first = await ask('Which bird sings at night?');
  const second = ask('Compose a sea symphony.');
  await client.call('chats.update', { chatId: first, title: 'Birds' });
  const title = named(client);
  const chatId = await second;
  expect(await title).toMatchObject({ id: chatId, title: 'Sea Symphony' });
  expect(await read(client, first)).toMatchObject({ title: 'Birds', titleSource: 'user' });
  expect(asked.filter((priority) => priority === 'title')).toHaveLength(1);
});

test('a small model is not asked', async () => {
  const { client, asked, ask } = await start('Sea Symphony', 135e6);
  const chatId = await ask('Compose a sea symphony.');
  await aWhile();
  expect(asked).toEqual(['chat']);
  expect(await read(client, chatId)).toMatchObject({ title: 'Compose a sea symphony.', titleSource: 'none' });
});

test('what is no title is not taken for one', async () => {
  const { client, asked, ask } = await start('Here is a title for the sea symphony:', 4e9);
  const chatId = await ask('Compose a sea symphony.');
  await aWhile();
  expect(asked).toEqual(['chat', 'title']);
  expect(await read(client, chatId)).toMatchObject({ title: 'Compose a sea symphony.', titleSource: 'none' });
});

test('chats that begin with the same words are told apart, also by letter case', async () => {
  const { client, ask } = await start('', 9e6);
  const chats = [await ask('Hello'), await ask('hello'), await ask('Hello')];
  const titles = await Promise.all(chats.map(async (chatId) => (await read(client, chatId)).title));
  expect(titles).toEqual(['Hello', 'hello (2)', 'Hello (3)']);
});

test('a title that was stopped for a question is written after its answer', async () => {
  const { client, asked, ask } = await start('Sea Symphony'.padEnd(3000, ' '), 4e9);
  await ask('Compose a sea symphony.');
  // It is being written: the next question stops it.
  await next(client, 'engine.status', ({ phase }) => phase === 'busy');
  const first = named(client);
  const other = await client.call('chats.create', {});
  const ended = next(client, 'turn', ({ chatId, event }) => chatId === other.id && isEnd(event));
  await client.call('turns.send', { chatId: other.id, text: 'And a river?' });
  await ended;
  expect((await first).title).toBe('Sea Symphony');
  expect(asked.filter((priority) => priority === 'title').length).toBeGreaterThan(1);
});
