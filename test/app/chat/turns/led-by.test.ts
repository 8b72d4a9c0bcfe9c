import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ASSISTANT, type ChatId, type Client, type MessageId, STARTER } from '../../../../app/protocol/index.ts';
import { listen, newFolder, places, readMessage, startCore } from '../../../support/core/core.ts';
import { messageEncoder, writeAnswers } from '../../../support/documents/written-answers.ts';

//  The assistant and the encoder in the box, with two answers that no model gives by itself.

vi.setConfig({ testTimeout: 120_000 });

const ASKED = 'Which herb grows on the roof of the old mill?';

async function start() {
  for (const [name, value] of [
    ['LONGHAND_ASSISTANT', 'on'],
    ['LONGHAND_EMBEDDING', 'on'],
  ] as const) {
    const before = process.env[name];
    process.env[name] = value;
    onTestFinished(() => {
      process.env[name] = before;
    });
  }
  const resources = newFolder();
  for (const name of readdirSync(places.resources).filter((one) => one !== 'assistant'))
    symlinkSync(join(places.resources, name), join(resources, name));
  const assistant = join(resources, 'assistant');
  mkdirSync(assistant);
  symlinkSync(join(places.resources, 'assistant/model.gguf'), join(assistant, 'model.gguf'));
  const talk: [string, string][] = [
    [ASKED, 'The herb on the roof of the old mill is hyssop, which nobody but the miller eats.'],
    ['What herb is on the roof of the mill?', 'The herb on the roof of the mill is lovage.'],
  ];
  await writeAnswers(assistant, { facts: [], talk }, messageEncoder());
  const { client } = await startCore({ resources });
  const { end } = listen(client);
  /** What is answered with the model's favourite tokens. */
  const ask = async (chatId: ChatId, text = ASKED, more: object = {}) => {
    const { turnId, messageId } = await client.call('turns.send', { chatId, text, ...more });
    await end(turnId);
    return readMessage(client, chatId, messageId);
  };
  return { client, end, ask, chat: (change: object = {}) => newChat(client, change) };
}

async function newChat(client: Client, change: object): Promise<ChatId> {
  const { id } = await client.call('chats.create', { modelId: ASSISTANT });
  const sampling = { temperature: 0, maxTokens: 40 };
  await client.call('chats.update', { chatId: id, sampling, ...change });
  return id;
}

test('the assistant says what was written for such a question, something else when it tries again, and goes on alike', async () => {
  const { client, end, ask, chat } = await start();
  const id = await chat();
  const first = await ask(id);
  expect(first.text).toBe('The herb on the roof of the old mill is hyssop, which nobody but the miller eats.');
  const { turnId, messageId } = await client.call('turns.regenerate', { messageId: first.id });
  await end(turnId);
  expect((await readMessage(client, id, messageId as MessageId)).text).toContain('lovage');
  // An answer that was cut off is led on from where it is.
  const short = await chat({ sampling: { temperature: 0, maxTokens: 5 } });
  const cut = await ask(short);
  expect(cut.state).toMatchObject({ reason: 'length' });
  await client.call('chats.update', { chatId: short, sampling: { temperature: 0, maxTokens: 40 } });
  const further = await client.call('turns.continue', { messageId: cut.id });
  await end(further.turnId);
  expect((await readMessage(client, short, cut.id)).text).toBe(
    'The herb on the roof of the old mill is hyssop, which nobody but the miller eats.',
  );
});

test('it is not led in a part that it was given, with tools or a file at hand, and no other model ever is', async () => {
  const { client, ask, chat } = await start();
  const led = /hyssop|lovage/;
  expect((await ask(await chat())).text).toMatch(led);
  expect((await ask(await chat({ systemPrompt: 'You are a pirate.' }))).text).not.toMatch(led);
  expect((await ask(await chat({ tools: ['calculator'] }))).text).not.toMatch(led);
  expect((await ask(await chat({ modelId: STARTER }))).text).not.toMatch(led);
  const withFile = await chat();
  const path = join(newFolder(), 'mill.txt');
  writeFileSync(path, 'The mill stands by the river.');
  const { id } = await client.call('attachments.add', { chatId: withFile, path, name: 'mill.txt' });
  expect((await ask(withFile, ASKED, { attachments: [id] })).text).not.toMatch(led);
});
