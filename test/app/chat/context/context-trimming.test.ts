import { expect, test } from 'vitest';
import { inView } from '../../../../app/chat/tree.ts';
import type { Client, ModelId } from '../../../../app/protocol/index.ts';
import { listen, next, readMessage, startCore } from '../../../support/core/core.ts';

//  A full context: what is set aside, what is summarised, and what comes back.

const story = 'The old mill by the river was sold in autumn, and its wheel and its ledger went to the harbour. ';

/** A chat of short turns in a context of 1024 tokens. */
async function chatOf(client: Client, turns: number) {
  await client.call('settings.set', { contextLength: 1024 });
  const heard = listen(client);
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId, sampling: { temperature: 0, maxTokens: 12 } });
  const answers = [];
  for (let turn = 0; turn < turns; turn++) {
    const sent = await client.call('turns.send', { chatId, text: `${turn}. ${story.repeat(4)}` });
    await heard.end(sent.turnId);
    answers.push(sent.messageId);
  }
  return { chatId, heard, answers };
}

test('the plan names the fewest oldest turns that make room, and with them set aside the message is taken', async () => {
  const { client } = await startCore();
  const { chatId, heard } = await chatOf(client, 6);
  const draft = story.repeat(14);
  await expect(client.call('turns.send', { chatId, text: draft })).rejects.toMatchObject({ code: 'context-full' });

  const { trim: aside, summary } = await client.call('context.overflowOptions', { chatId, draft });
  expect(aside?.turns).toBeGreaterThan(0);
  expect(aside?.turns).toBeLessThan(6);
  const before = await client.call('context.measure', { chatId, draft });
  // A summary takes an eighth of the context at most, for which there is room beside what it is about.
  expect(before.used).toBeGreaterThan(before.limit - 400);
  expect(summary?.turns).toBeLessThan(6);
  const { messages: all } = await client.call('chats.get', { chatId });
  const question = all.find(({ role }) => role === 'user')?.id as never;
  const refused = client.call('context.exclude', { messageId: question, summary: null });
  await expect(refused).rejects.toMatchObject({ code: 'bad-request' });
  const marked = await client.call('context.exclude', { messageId: aside?.upTo as never, summary: null });
  expect(marked.contextCutoff).toMatchObject({ summary: null, restored: false });
  const after = await client.call('context.measure', { chatId, draft });
  expect(before.used - after.used).toBe(aside?.frees);
  expect(after.used + after.draft).toBeLessThan(after.limit);

  const sent = await client.call('turns.send', { chatId, text: draft });
  const end = await heard.end(sent.turnId);
  expect(end).toMatchObject({ type: 'finished' });
  expect(end.type === 'finished' && end.usage.promptTokens).toBeLessThan(before.used + before.draft);
  const { messages } = await client.call('chats.get', { chatId });
  expect(messages).toHaveLength(14);

  await client.call('context.include', { messageId: aside?.upTo as never });
  const again = await client.call('context.measure', { chatId, draft: '' });
  expect(again.used).toBeGreaterThan(after.used + after.draft);
});

test('a summary is written, changes nothing before it is used, and stands for what it is about', async () => {
  const { client, dataFolder, host } = await startCore();
  const { chatId, answers } = await chatOf(client, 3);
  const messageId = answers[1] as never;
  const parts: string[] = [];
  client.on('context.summary', ({ text }) => parts.push(text));
  const { text } = await client.call('context.summarise', { messageId });
  expect(text).toBe(parts.at(-1)?.trim());
  expect((await readMessage(client, chatId, messageId)).contextCutoff).toBeNull();

  const before = await client.call('context.measure', { chatId, draft: '' });
  await client.call('context.exclude', { messageId, summary: 'A mill was sold.' });
  const after = await client.call('context.measure', { chatId, draft: '' });
  expect(after.used).toBeLessThan(before.used);
  await host.close();
  const { client: later } = await startCore({ dataFolder });
  expect((await readMessage(later, chatId, messageId)).contextCutoff).toMatchObject({ summary: 'A mill was sold.' });
});

test('a summary that is stopped sets nothing aside', async () => {
  const { client } = await startCore();
  const { chatId, answers } = await chatOf(client, 3);
  const messageId = answers[1] as never;
  const writing = client.call('context.summarise', { messageId });
  const refused = expect(writing).rejects.toMatchObject({ code: 'cancelled' });
  await client.call('context.stopSummary', { messageId });
  await refused;
  expect((await readMessage(client, chatId, messageId)).contextCutoff).toBeNull();
});

test('an answer that reaches the end of the context says so, and goes on once there is room', async () => {
  const { client } = await startCore();
  const { chatId, heard } = await chatOf(client, 5);
  const anyWord = { temperature: 5, topK: 0, topP: 1, minP: 0 };
  await client.call('chats.update', { chatId, sampling: { ...anyWord, seed: 7 } });
  let sent = await client.call('turns.send', { chatId, text: story.repeat(2) });
  let end = await heard.end(sent.turnId);
  // Any word may be the last one of such an answer, and which it is depends on the processor: another seed, another try.
  for (let seed = 8; end.type === 'finished' && end.reason === 'stop' && seed < 12; seed++) {
    await client.call('chats.update', { chatId, sampling: { ...anyWord, seed } });
    sent = { ...sent, ...(await client.call('turns.regenerate', { messageId: sent.messageId })) };
    end = await heard.end(sent.turnId);
  }
  expect(end).toMatchObject({ type: 'finished', reason: 'context' });
  const { text } = await readMessage(client, chatId, sent.messageId);

  const { trim: aside } = await client.call('context.overflowOptions', { chatId, draft: '', parentId: sent.messageId });
  expect(aside?.upTo).not.toBe(sent.messageId);
  await client.call('context.exclude', { messageId: aside?.upTo as never, summary: null });
  await client.call('chats.update', { chatId, sampling: { temperature: 0, maxTokens: 8 } });
  const more = await client.call('turns.continue', { messageId: sent.messageId });
  expect(await heard.end(more.turnId)).toMatchObject({ type: 'finished' });
  const whole = await readMessage(client, chatId, sent.messageId);
  expect(whole.text.startsWith(text)).toBe(true);
  expect(whole.text.length).toBeGreaterThan(text.length);
});

test('a larger context is loaded for the message that needs it', async () => {
  const { client } = await startCore();
  const { chatId, heard } = await chatOf(client, 2);
  const text = story.repeat(60);
  await expect(client.call('turns.send', { chatId, text })).rejects.toMatchObject({ code: 'context-full' });
  await client.call('settings.set', { contextLength: 2048 });
  const ready = next(client, 'engine.status', (status) => status.phase === 'busy' && status.contextLength === 2048);
  const sent = await client.call('turns.send', { chatId, text });
  await ready;
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'finished' });
});

test('files that wait in one chat can be taken to another', async () => {
  const { client, dataFolder } = await startCore();
  const { heard, chatId } = await chatOf(client, 0);
  const { id: otherId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: otherId, sampling: { temperature: 0, maxTokens: 4 } });
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${dataFolder}/note.txt`, 'The lantern hangs in the harbour.');
  const file = await client.call('attachments.add', { chatId, path: `${dataFolder}/note.txt`, name: 'note.txt' });
  await client.call('attachments.move', { attachmentIds: [file.id], chatId: otherId });
  const sent = await client.call('turns.send', { chatId: otherId, text: 'What is in it?', attachments: [file.id] });
  await heard.end(sent.turnId);
  expect((await readMessage(client, otherId, sent.userMessageId as string)).attachments).toHaveLength(1);
});

test('of several marks the last one counts, until it is brought back', () => {
  const turn = (id: string, contextCutoff: object | null) => ({ id, contextCutoff }) as never;
  const gone = { since: 1, summary: null, restored: false };
  const ids = (path: never[]) => inView(path).messages.map((message) => (message as { id: string }).id);
  expect(ids([turn('a', gone), turn('b', { ...gone, summary: 's' }), turn('c', null)])).toEqual(['c']);
  expect(ids([turn('a', gone), turn('b', { ...gone, restored: true }), turn('c', null)])).toEqual(['b', 'c']);
  expect(inView([turn('a', gone), turn('b', { ...gone, summary: 's' })]).summary).toBe('s');
});

test('a chat is counted by its own model and context while another model is in memory, and before any is', async () => {
  const { client } = await startCore();
  const starter = 'starter' as ModelId;
  const wordy = await client.call('models.duplicate', { modelId: starter, name: 'Wordy' });
  const { own } = await client.call('models.preview', { modelId: starter, template: null });
  await client.call('models.configure', {
    modelId: wordy.id,
    settings: {
      ...wordy.settings,
      contextLength: 768,
      template: `${'All answers are brief and kind. '.repeat(50)}${own}`,
    },
  });
  const plain = await client.call('chats.create', { modelId: starter });
  const long = await client.call('chats.create', { modelId: wordy.id });
  const ask = { draft: story, attachments: [] };

  const unloaded = await client.call('context.measure', { chatId: long.id, ...ask });
  expect(unloaded.limit).toBe(768);
  await client.call('models.load', { modelId: starter });
  const measured = await client.call('context.measure', { chatId: long.id, ...ask });
  expect(measured).toEqual(unloaded);
  const { used, limit } = await client.call('context.measure', { chatId: plain.id, ...ask });
  expect(measured.used).toBeGreaterThan(used + 300);
  expect(limit).toBeGreaterThan(768);

  // What fits the model in memory does not fit the one that was chosen, and is refused before anything is stored.
  const text = story.repeat(25);
  await expect(client.call('turns.send', { chatId: long.id, text })).rejects.toMatchObject({
    code: 'context-full',
    details: { limit: 768 },
  });
  expect((await client.call('chats.get', { chatId: long.id })).messages).toEqual([]);

  await client.call('models.load', { modelId: wordy.id });
  expect(await client.call('context.measure', { chatId: long.id, ...ask })).toEqual(measured);
});

test('an answer counts again when another model has written it', async () => {
  const { client } = await startCore();
  const { chatId, answers } = await chatOf(client, 1);
  const before = await client.call('context.measure', { chatId, draft: '' });
  const { usage } = await readMessage(client, chatId, answers[0] as never);
  expect(before.used).toBe((usage?.promptTokens ?? 0) + (usage?.answerTokens ?? 0));
  const other = await client.call('models.duplicate', { modelId: 'starter' as ModelId, name: 'Other' });
  const { own } = await client.call('models.preview', { modelId: other.id, template: null });
  const template = `${'All answers are brief and kind. '.repeat(50)}${own}`;
  await client.call('models.configure', { modelId: other.id, settings: { ...other.settings, template } });
  await client.call('chats.update', { chatId, modelId: other.id });
  expect((await client.call('context.measure', { chatId, draft: '' })).used).toBeGreaterThan(before.used + 300);
});
