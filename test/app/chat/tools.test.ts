import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Generation } from '../../../app/engine/ipc-protocol.ts';
import type { Client, Message, ToolUse } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { listen, next, places, readMessage, startCore, textOf } from '../../support/core/core.ts';
import { CIRCLING, scriptedEngine } from '../../support/core/scripted-engine.ts';

//  A model that is scripted at the border of the engine; everything behind it is real: the parser, the tools, the database.

const template = readFileSync(join(places.resources, 'starter-model/chat_template.jinja'), 'utf8');
const call = (name: string, given: Record<string, string>) =>
  `<tool_call>\n<function=${name}>\n${Object.entries(given)
    .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    .join('')}</function>\n</tool_call>`;
const sum = (expression: string) => call('calculator', { expression });

/** `says`: the answer to the n-th prompt of a turn. */
async function start(says: (step: number, generation: Generation) => string, dataFolder?: string) {
  const asked: Generation[] = [];
  const { startEngine } = scriptedEngine(
    (generation) => {
      if (generation.priority !== 'chat') return '';
      asked.push(generation);
      return says(asked.length - 1, generation);
    },
    4e9,
    template,
  );
  const core = await startCore({ startEngine, ...(dataFolder !== undefined && { dataFolder }) });
  const heard = listen(core.client);
  return { ...core, asked, heard };
}

async function ask(client: Client, heard: ReturnType<typeof listen>, text = 'What is 12.5 * 8?') {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, tools: ['calculator', 'clock'] });
  const sent = await client.call('turns.send', { chatId: chat.id, text });
  const end = await heard.end(sent.turnId);
  return { chat, sent, end, message: await readMessage(client, chat.id, sent.messageId) };
}

const said = ({ prompt }: Generation | undefined = {} as Generation) =>
  prompt.messages.map(({ role, text, calls }) => [role, text, ...(calls ?? []).map((one) => one.function)]);
const uses = (message: Message) => message.toolUses.map(({ name, state, result }) => [name, state.status, result]);

test('a call is made, its result goes back in its own role, and the answer goes on', async () => {
  const { client, heard, asked, host } = await start((step) =>
    step === 0 ? `Let me see.\n\n${sum('12.5 * 8')}` : 'It is 100.',
  );
  const { message, sent, end, chat } = await ask(client, heard);
  expect(end).toMatchObject({ type: 'finished', reason: 'stop', usage: { answerTokens: 24 } });
  expect(message.text).toBe('Let me see.\n\nIt is 100.');
  expect(uses(message)).toEqual([['calculator', 'done', '100']]);
  expect(message.toolUses[0]).toMatchObject({ textAt: 'Let me see.\n\n'.length, step: 0 });
  expect(JSON.parse(message.toolUses[0]?.arguments ?? '')).toEqual({ expression: '12.5 * 8' });

  expect(asked).toHaveLength(2);
  expect(asked[0]?.prompt.tools?.map((tool) => tool.function.name)).toEqual(['calculator', 'clock']);
  expect(said(asked[1])).toEqual([
    ['user', 'What is 12.5 * 8?'],
    ['assistant', 'Let me see.', { name: 'calculator', arguments: { expression: '12.5 * 8' } }],
    ['tool', '100'],
  ]);
  // What was told while it was written is what is on disk.
  const events = heard.of(sent.turnId);
  expect(textOf(events, 'answer')).toBe(message.text);
  expect(events.filter(({ type }) => type === 'calling').length).toBeGreaterThan(0);
  expect(events.flatMap((event) => (event.type === 'tool' ? event.use.state.status : []))).toEqual([
    'waiting',
    'running',
    'done',
  ]);
  expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1);
  expect((await client.call('chats.get', { chatId: chat.id })).messages).toHaveLength(2);
  // The next question has it all, the tokens of the text after the call among it.
  const second = await client.call('turns.send', { chatId: chat.id, text: 'Thanks' });
  await heard.end(second.turnId);
  const last = asked.at(-1)?.prompt.messages ?? [];
  expect(said(asked.at(-1))).toEqual([...said(asked[1]), ['assistant', 'It is 100.'], ['user', 'Thanks']]);
  expect(last[3]?.ids).toEqual([1]);
  expect(await client.call('chats.search', { query: '12.5 * 8 calculator' })).toMatchObject([
    { messageId: message.id },
  ]);
  await host.close();
});

test('calls in parallel have results each; a wrong one says why, and the model may mend it', async () => {
  const both = `${sum('1/3 + 1/6')}\n${call('clock', { zone: 'Mars/Olympus' })}`;
  const { client, heard, asked } = await start((step) =>
    step === 0 ? both : step === 1 ? call('juggle', {}) : 'Done.',
  );
  const { message } = await ask(client, heard);
  expect(uses(message)).toEqual([
    ['calculator', 'done', '0.5'],
    ['clock', 'failed', 'Error: "Mars/Olympus" is no time zone; one like "Europe/Berlin" is needed'],
    ['juggle', 'failed', 'Error: there is no tool "juggle"'],
  ]);
  expect(message.toolUses.map(({ step }) => step)).toEqual([0, 0, 1]);
  expect(said(asked[2]).map(([role]) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant', 'tool']);
  expect(message.text).toBe('Done.');
});

test('a tool that is not switched on is not called, and one that is not asked for is not offered', async () => {
  const { client, heard, asked } = await start((step) => (step === 0 ? call('clock', {}) : 'So be it.'));
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, tools: ['calculator'] });
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'How late is it?' });
  await heard.end(sent.turnId);
  expect(asked[0]?.prompt.tools?.map((tool) => tool.function.name)).toEqual(['calculator']);
  expect(uses(await readMessage(client, chat.id, sent.messageId))).toEqual([
    ['clock', 'failed', 'Error: there is no tool "clock"'],
  ]);
  // Without any the model is asked as ever, and what looks like a call is text.
  const plain = await client.call('chats.create', {});
  const again = await client.call('turns.send', { chatId: plain.id, text: 'How late is it?' });
  await heard.end(again.turnId);
  expect(asked.at(-1)?.prompt.tools).toBeUndefined();
});

test('the same call for the third time stops the answer; going on, the model knows why', async () => {
  const { client, heard, asked } = await start((step) => (step < 3 ? sum('2 + 2') : 'Four.'));
  const { message, end } = await ask(client, heard);
  expect(end).toMatchObject({ type: 'finished', reason: 'tool' });
  expect(uses(message).map(([, status]) => status)).toEqual(['done', 'done', 'failed']);
  expect(message.toolUses[2]?.state).toMatchObject({ problem: 'repeated' });
  expect(asked).toHaveLength(3);
  const more = await client.call('turns.continue', { messageId: message.id });
  expect(await heard.end(more.turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
  expect(said(asked[3]).at(-1)).toEqual([
    'tool',
    'Error: the same call was made twice before. Answer with what it gave.',
  ]);
  expect(asked).toHaveLength(4);
});

test('after eight rounds it stops with the ninth call unmade; going on, that is made first', async () => {
  const { client, heard, asked } = await start((step) => (step < 9 ? sum(`${step} + 1`) : 'Enough.'));
  const { message, end } = await ask(client, heard);
  expect(end).toMatchObject({ type: 'finished', reason: 'tool' });
  expect(uses(message).map(([, status]) => status)).toEqual([...Array(8).fill('done'), 'waiting']);
  expect(asked).toHaveLength(9);
  const more = await client.call('turns.continue', { messageId: message.id });
  await heard.end(more.turnId);
  const after = await readMessage(client, message.chatId, message.id);
  expect(uses(after).at(-1)).toEqual(['calculator', 'done', '9']);
  expect(after.text).toBe('Enough.');
  expect(asked).toHaveLength(10);
});

test('what the model writes behind a call, as if it had the result, is not shown and ends nothing', async () => {
  const invented = `${sum('3 * 3')}\n<tool_response>\n12\n</tool_response>\nSo it is 12, and nothing else matters here at all.`;
  const { client, heard, asked } = await start((step) => (step === 0 ? invented : 'Nine.'));
  const { message } = await ask(client, heard);
  expect(message.text).toBe('Nine.');
  expect(uses(message)).toEqual([['calculator', 'done', '9']]);
  expect(said(asked[1]).at(-1)).toEqual(['tool', '9']);
});

test('stopped in the middle of a call: nothing of it is shown, nothing is called, and going on it is written anew', async () => {
  const { client, heard, asked } = await start((step) => (step === 0 ? `One moment. ${sum('7 * 7')}` : 'Right.'));
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, tools: ['calculator'] });
  const calling = new Promise<void>((done) => client.on('turn', ({ event }) => event.type === 'calling' && done()));
  const sent = await client.call('turns.send', { chatId: chat.id, text: '7 * 7?' });
  await calling;
  await client.call('turns.cancel', { turnId: sent.turnId as never });
  expect(await heard.end(sent.turnId)).toMatchObject({ reason: 'cancelled' });
  const message = await readMessage(client, chat.id, sent.messageId);
  expect([message.text, message.toolUses]).toEqual(['One moment.', []]);
  const more = await client.call('turns.continue', { messageId: message.id });
  await heard.end(more.turnId);
  // The tokens of the call that was begun are not sent again.
  expect(asked[1]?.prompt.continuation).toMatchObject({ text: 'One moment.', ids: null });
});

test('Longhand ends while a tool runs: on the next start it is not run again, and the model is told', async () => {
  const first = await start((step) => (step === 0 ? sum('5 * 5') : 'It is 25.'));
  const { message } = await ask(first.client, first.heard);
  await first.host.close();
  // As the disk is when the process is killed after the call has begun.
  const db = openDatabase(join(first.dataFolder, 'longhand.db'));
  db.run(`UPDATE tool_uses SET state = '{"status":"running"}', result = NULL`);
  db.run(
    `UPDATE messages SET text = '', ids = NULL, state = '{"status":"running","turnId":"t"}' WHERE id = ?`,
    message.id,
  );
  db.close();
  const second = await start(() => 'I do not know.', first.dataFolder);
  const kept = await readMessage(second.client, message.chatId, message.id);
  expect(kept.state.status).toBe('failed');
  expect(uses(kept).map(([, status]) => status)).toEqual(['interrupted']);
  const more = await second.client.call('turns.continue', { messageId: message.id });
  await second.heard.end(more.turnId);
  expect(second.asked).toHaveLength(1);
  expect(said(second.asked[0]).at(-1)).toEqual(['tool', expect.stringContaining('was interrupted')]);
  const after = await readMessage(second.client, message.chatId, message.id);
  expect([after.text, uses(after).map(([, status]) => status)]).toEqual(['I do not know.', ['interrupted']]);
});

test('a call that is run again makes a version of the answer from there on', async () => {
  const { client, heard, asked } = await start((step) =>
    step % 2 === 0 ? `Looking. ${call('clock', {})}` : `It is late (${step}).`,
  );
  const { message, chat } = await ask(client, heard);
  asked.length = 1;
  const [use] = message.toolUses as [ToolUse];
  const again = await client.call('turns.runToolAgain', { messageId: message.id, useId: use.id });
  await heard.end(again.turnId);
  const { messages } = await client.call('chats.get', { chatId: chat.id });
  const versions = messages.filter(({ role }) => role === 'assistant');
  expect(versions.map(({ parentId }) => parentId)).toEqual([message.parentId, message.parentId]);
  expect(versions[0]).toEqual(message);
  expect(versions[1]).toMatchObject({
    text: 'Looking.\n\nIt is late (1).',
    toolUses: [{ name: 'clock', state: { status: 'done' } }],
  });
  expect(versions[1]?.toolUses[0]?.id).not.toBe(use.id);
  expect(asked).toHaveLength(2);
});

test('a model whose template knows no tools is told apart, and is sent no calls of another', async () => {
  const plain = scriptedEngine(() => 'Yes.', 4e9, '{{ messages }}');
  const { client } = await startCore({ startEngine: plain.startEngine });
  const { able: knows, tools } = await client.call('tools.list', {});
  expect([knows, tools.map(({ name }) => name)]).toEqual([
    false,
    ['calculator', 'clock', 'run_javascript', 'search_documents', 'read_document', 'fetch_page'],
  ]);
  const able = await start(() => 'Yes.');
  expect(await able.client.call('tools.list', {})).toMatchObject({ able: true });
});

test('a loop that is taken back after a call takes back nothing of what stood before it', async () => {
  const { client, heard } = await start((step) => (step === 0 ? `First this. ${call(CIRCLING, {})}` : 'Fine words'));
  client.on('turn', ({ event, turnId }) => {
    if (event.type === 'paused') void client.call('turns.decide', { turnId, choice: 'loop-guard-off' });
  });
  const { message, sent } = await ask(client, heard, 'What now?');
  expect(message.text).toBe('First this.\n\nFine and on');
  const retracted = heard.of(sent.turnId).find(({ type }) => type === 'retracted');
  expect(retracted).toEqual({ type: 'retracted', kind: 'answer', from: 'First this.\n\nFine'.length });
});

test('a call of an answer that is being written is not run again', async () => {
  const { client, heard } = await start((step) => (step === 0 ? sum('1 + 1') : `It is two. ${call(CIRCLING, {})}`));
  const refused = new Promise((resolve) => {
    client.on('turn', async ({ event, turnId, messageId, chatId }) => {
      if (event.type !== 'paused') return;
      const { toolUses } = await readMessage(client, chatId, messageId);
      const useId = toolUses[0]?.id as ToolUse['id'];
      client.call('turns.runToolAgain', { messageId, useId }).then(resolve, resolve);
      await client.call('turns.decide', { turnId, choice: 'loop-guard-off' });
    });
  });
  const { chat, message } = await ask(client, heard);
  expect(await refused).toMatchObject({ code: 'conflict' });
  const { messages } = await client.call('chats.get', { chatId: chat.id });
  expect(messages).toHaveLength(2);
  expect(uses(message)[0]).toEqual(['calculator', 'done', '2']);
});

test('what looks like a call in code is shown and not made', async () => {
  const { client, heard } = await start(() => `Write it so:\n\n\`\`\`\n${sum('1 + 1')}\n\`\`\`\n`);
  const { message } = await ask(client, heard);
  expect([message.toolUses, message.text.includes('<tool_call>')]).toEqual([[], true]);
});

test('documents are searched and read by the model itself, and only those of the chat', async () => {
  const steps = [
    call('search_documents', { query: 'rent of the flat' }),
    call('read_document', { name: 'garden' }),
    call('read_document', { name: 'lease.txt', part: '2' }),
    call('read_document', { name: 'lease.txt' }),
  ];
  const { client, heard, asked, dataFolder } = await start((step) => steps[step] ?? 'It is 840 euros.');
  const collections = await Promise.all(
    [
      ['Home', 'lease', 'The rent of the flat is 840 euros.'],
      ['Garden', 'garden', 'The rent of the garden is 12 euros.'],
    ].map(async ([name = '', file = '', text = '']) => {
      writeFileSync(join(dataFolder, `${file}.txt`), text);
      const { id } = await client.call('documents.createCollection', { name });
      const ready = next(
        client,
        'document.changed',
        ({ state, fileName }) => state.status === 'ready' && fileName === `${file}.txt`,
      );
      await client.call('documents.add', {
        collectionId: id,
        files: [{ path: join(dataFolder, `${file}.txt`), name: `${file}.txt` }],
      });
      await ready;
      return id;
    }),
  );
  const chat = await client.call('chats.create', {});
  const tools = ['search_documents', 'read_document', 'fetch_page'];
  await client.call('chats.update', { chatId: chat.id, tools, collectionIds: collections.slice(0, 1) });
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'How high is the rent?' });
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
  const message = await readMessage(client, chat.id, sent.messageId);
  expect(message.grounding).toBeNull();
  expect(uses(message)).toEqual([
    ['search_documents', 'done', '[1] lease.txt, line 1\nThe rent of the flat is 840 euros.'],
    ['read_document', 'failed', 'Error: there is no document "garden"; there are: "lease.txt"'],
    ['read_document', 'failed', 'Error: "part" is 2; "lease.txt" has 1 parts'],
    ['read_document', 'done', 'lease.txt, part 1 of 1\n\nThe rent of the flat is 840 euros.'],
  ]);
  // No passage was laid before it unasked.
  expect(asked[0]?.prompt.messages.map(({ role }) => role)).toEqual(['user']);
});
