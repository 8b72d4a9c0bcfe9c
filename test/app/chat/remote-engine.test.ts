// Chats that are answered by a remote engine: over real HTTP, by another Longhand and by servers that say what a test wants.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ChatId, Client, TurnEvent } from '../../../app/protocol/index.ts';
import { listen, next, readMessage, startCore, textOf } from '../../support/core/core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { addEngine, delta, event, foreignEngine, open, type Says, stream } from '../../support/fakes/foreign-engine.ts';
import { KEY, startApi } from '../server/api/api.ts';

vi.setConfig({ testTimeout: 60_000 });

const SECRET = 'sk-lab-0123456789-very-secret';

/** A core whose own engine says "here", and the remote engine with a chat for it. */
async function start(says: Says, models?: object[]) {
  const here = scriptedEngine(() => 'here');
  const lab = await foreignEngine(says, models);
  const started = await startCore({ startEngine: here.startEngine });
  const { client } = started;
  const { engine, model } = await addEngine(client, lab.address, SECRET);
  const chat = await client.call('chats.create', { modelId: model.id });
  const turns = listen(client);
  const ask = async (text: string, chatId: ChatId = chat.id) => {
    const { turnId, messageId } = await client.call('turns.send', { chatId, text });
    const end = await turns.end(turnId);
    return { end, turnId, messageId, events: turns.of(turnId), message: await readMessage(client, chatId, messageId) };
  };
  const questions = () => lab.asked.filter(({ path }) => path.endsWith('/chat/completions'));
  return { ...started, lab, engine, model, chat, turns, ask, questions };
}

const until = (so: () => boolean) => vi.waitFor(() => expect(so()).toBe(true), { timeout: 20_000, interval: 10 });
const reasonOf = (event: TurnEvent) => (event.type === 'failed' ? event.failure.details?.reason : event.type);

test('another Longhand answers: streamed, with its own count of tokens, and cached ones the second time', async () => {
  const there = await startApi();
  const here = scriptedEngine(() => 'here');
  const { client } = await startCore({ startEngine: here.startEngine });
  const { address } = there;
  const listed = await client.call('remoteEngines.test', { address: address.replace('http://', ''), key: KEY });
  expect(listed.address).toBe(`${address}/v1`);
  expect(listed.models.map(({ model }) => model)).toContain(there.model);
  const wanted = listed.models.filter(({ model }) => model === there.model);
  await client.call('remoteEngines.add', { name: 'Next door', address, key: KEY, models: wanted });
  const model = (await client.call('models.list')).find(({ remote }) => remote !== null);
  expect(model).toMatchObject({
    remote: { host: new URL(address).host, here: true, pictures: false },
    builtIn: false,
  });
  const chat = await client.call('chats.create', { modelId: model?.id ?? null });
  await client.call('chats.update', { chatId: chat.id, sampling: { temperature: 0, maxTokens: 40 }, thinking: false });
  const turns = listen(client);
  for (const text of ['What is your name?', 'What is 2 + 2?']) {
    const { turnId, messageId } = await client.call('turns.send', { chatId: chat.id, text });
    const end = await turns.end(turnId);
    expect(end.type).toBe('finished');
    const { usage, text: said, modelName } = await readMessage(client, chat.id, messageId);
    expect(said.length).toBeGreaterThan(3);
    expect(said).toBe(textOf(turns.of(turnId), 'answer'));
    expect(modelName).toBe(model?.name);
    expect(usage?.promptTokens).toBeGreaterThan(3);
    expect(usage?.answerTokens).toBeGreaterThan(1);
    if (text.startsWith('What is 2')) expect(usage?.cachedTokens).toBeGreaterThan(0);
  }
  expect(there.refused).toEqual([]);
});

test('nothing is asked before an engine is added, and a new chat does not take its model by itself', async () => {
  const { client, lab, ask, chat, questions } = await start((response) => stream(response, [{ content: 'there' }]));
  const before = lab.asked.length;
  const own = await client.call('chats.create', {});
  expect((await ask('Where are you?', own.id)).message.text).toBe('here');
  expect(lab.asked.length).toBe(before);
  expect((await ask('Where are you?')).message.text).toBe('there');
  const [asked] = questions();
  expect(asked?.headers.authorization).toBe(`Bearer ${SECRET}`);
  expect(asked?.body).toMatchObject({
    model: 'lab/model-7b',
    stream: true,
    messages: [{ role: 'user', content: 'Where are you?' }],
  });
  // Used last, but not chosen.
  const next = await client.call('chats.create', {});
  expect((await ask('And now?', next.id)).message.text).toBe('here');
  expect(chat.modelId).not.toBeNull();
});

test('thinking comes apart, by its own field or by tags, whole or cut anywhere; what a template opened is moved there', async () => {
  const { ask, lab } = await start((response) =>
    stream(response, [
      ...['\n', 'Let me ', 'see.'].map((text) => ({ reasoning_content: text })),
      ...['\n\n', 'Four.'].map((text) => ({ content: text })),
    ]),
  );
  const told = (await ask('2 + 2?')).message;
  expect([told.thinking, told.text]).toEqual(['Let me see.', 'Four.']);
  lab.says((response) =>
    stream(
      response,
      [...'<think>Hm, well.</think>\n\nFive.'].map((content) => ({ content })),
    ),
  );
  const tagged = (await ask('2 + 3?')).message;
  expect([tagged.thinking, tagged.text]).toEqual(['Hm, well.', 'Five.']);
  lab.says((response) =>
    stream(
      response,
      ['Opened by ', 'the template.</th', 'ink>\n\nSix.'].map((content) => ({ content })),
    ),
  );
  const { message, events } = await ask('3 + 3?');
  expect([message.thinking, message.text]).toEqual(['Opened by the template.', 'Six.']);
  expect(events.some(({ type }) => type === 'retracted')).toBe(true);
});

test('figures are those of the engine; without any they are counted; every answer has a speed', async () => {
  const { ask, lab, client, chat, questions } = await start((response) =>
    stream(response, [{ reasoning_content: 'a ' }, { content: 'b ' }, { content: 'c' }], {
      ...{ prompt_tokens: 50, completion_tokens: 12 },
      prompt_tokens_details: { cached_tokens: 32 },
      completion_tokens_details: { reasoning_tokens: 4 },
    }),
  );
  const { message, end } = await ask('Hello');
  expect(message.usage).toEqual({ promptTokens: 50, cachedTokens: 32, thinkingTokens: 4, answerTokens: 8 });
  expect(end).toMatchObject({ type: 'finished', timings: { tokensPerSecond: expect.any(Number) } });
  lab.says((response) => stream(response, [{ content: 'one ' }, { content: 'two' }], null, 'length'));
  const again = await ask('Hello again');
  expect(again.message.usage).toMatchObject({ promptTokens: 0, answerTokens: 2 });
  expect(again.end).toMatchObject({ reason: 'length' });
  expect(questions().at(-1)?.body.chat_template_kwargs).toBeUndefined();
  await client.call('chats.update', { chatId: chat.id, thinking: false });
  await ask('Without thinking');
  expect(questions().at(-1)?.body.chat_template_kwargs).toEqual({ enable_thinking: false });
});

test('where an engine tells only the sum, thinking has as much of it as it has of the text', async () => {
  const pieces = [{ reasoning_content: 'a ' }, { content: 'b ' }, { content: 'c' }];
  const { ask } = await start((response) => stream(response, pieces, { prompt_tokens: 50, completion_tokens: 12 }));
  expect((await ask('Hello')).message.usage).toMatchObject({ promptTokens: 50, thinkingTokens: 4, answerTokens: 8 });
});

test('the title of such a chat is asked of its engine, and that of no other chat', async () => {
  const { client, chat, ask, questions } = await start((response, { body }) => {
    const titled = String(body.messages?.at(-1)?.content).includes('Write a title');
    return stream(response, [{ content: titled ? 'Trip to Rome' : 'By train, then.' }]);
  });
  const own = await client.call('chats.create', {});
  await ask('My secret trip to Oslo', own.id);
  const named = next(client, 'chat.changed', ({ id, titleSource }) => id === chat.id && titleSource === 'model');
  await ask('Plan a trip to Rome');
  expect((await named).title).toBe('Trip to Rome');
  expect(JSON.stringify(questions())).not.toContain('Oslo');
});

test('a stop ends the request there, and what came is kept; once more and going on are new requests', async () => {
  let hungUp = false;
  const { client, chat, turns, lab, questions } = await start((response) => {
    open(response);
    delta(response, { content: 'The begin' });
    response.on('close', () => (hungUp = true));
  });
  const { turnId, messageId } = await client.call('turns.send', { chatId: chat.id, text: 'Tell me' });
  await until(() => textOf(turns.of(turnId), 'answer') === 'The begin');
  await client.call('turns.cancel', { turnId: turnId as never });
  expect(await turns.end(turnId)).toMatchObject({ type: 'finished', reason: 'cancelled' });
  await until(() => hungUp);
  lab.says((response) => stream(response, [{ content: ' and the end.' }]));
  const more = await client.call('turns.continue', { messageId });
  await turns.end(more.turnId);
  expect((await readMessage(client, chat.id, messageId)).text).toBe('The begin and the end.');
  expect(
    questions()
      .at(-1)
      ?.body.messages?.map(({ role }) => role),
  ).toEqual(['user', 'assistant', 'user']);
  lab.says((response) => stream(response, [{ content: 'Another.' }]));
  const other = await client.call('turns.regenerate', { messageId });
  await turns.end(other.turnId);
  expect((await readMessage(client, chat.id, other.messageId)).text).toBe('Another.');
  expect(
    questions()
      .at(-1)
      ?.body.messages?.map(({ role }) => role),
  ).toEqual(['user']);
});

test('tools are offered, calls in pieces are made here and their results go back; a call in the text is text', async () => {
  const { client, chat, ask, questions } = await start((response, _, number) => {
    if (number > 0) return stream(response, [{ content: 'It is 42. <tool_call>{"name": "clock"}</tool_call>' }]);
    open(response);
    delta(response, { content: 'One moment.' });
    const call = (given: object) => delta(response, { tool_calls: [{ index: 0, ...given }] });
    call({ id: 'call_1', type: 'function', function: { name: 'calculator', arguments: '' } });
    call({ function: { arguments: '{"expression": ' } });
    call({ function: { arguments: '"6 * 7"}' } });
    delta(response, {}, 'tool_calls');
    event(response, '[DONE]');
    response.end();
  });
  await client.call('chats.update', { chatId: chat.id, tools: ['calculator'] });
  const { message } = await ask('6 times 7?');
  expect(message.toolUses).toMatchObject([{ name: 'calculator', state: { status: 'done' }, result: '42' }]);
  expect(message.text).toBe('One moment.\n\nIt is 42. <tool_call>{"name": "clock"}</tool_call>');
  const [first, second] = questions();
  expect(first?.body.tools).toMatchObject([{ function: { name: 'calculator' } }]);
  const [, called, result] = second?.body.messages ?? [];
  expect(called).toMatchObject({ role: 'assistant', tool_calls: [{ function: { name: 'calculator' } }] });
  expect(result).toMatchObject({ role: 'tool', content: '42' });
  expect([{ id: result?.tool_call_id }]).toMatchObject([{ id: Object(called?.tool_calls?.[0]).id }]);
});

test('a loop in an answer waits; going back asks anew from before it, and the loop is gone from the answer', async () => {
  const line = 'and then we will go to the market to buy some bread and cheese for the road, ';
  const { client, chat, turns, lab, questions } = await start((response) => {
    open(response);
    delta(response, { content: 'First we pack. ' });
    for (let copy = 0; copy < 40; copy++) delta(response, { content: line });
  });
  const { turnId, messageId } = await client.call('turns.send', { chatId: chat.id, text: 'Plan a trip' });
  const paused = () => turns.of(turnId).find(({ type }) => type === 'paused');
  await until(() => paused() !== undefined);
  expect(paused()).toMatchObject({ suggested: 'stop', choices: ['stop', 'rewind', 'keep-going', 'loop-guard-off'] });
  lab.says((response) => stream(response, [{ content: 'then we leave.' }]));
  await client.call('turns.decide', { turnId: turnId as never, choice: 'rewind' });
  expect(await turns.end(turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
  const { text, loops } = await readMessage(client, chat.id, messageId);
  expect(text).toMatch(/^First we pack\. /);
  expect(text).toMatch(/then we leave\.$/);
  expect(text.split('market').length).toBeLessThan(4);
  expect(loops).toMatchObject([{ where: 'answer', kind: 'exact', decided: 'rewind' }]);
  const again = questions().at(-1)?.body;
  expect(again?.messages?.at(-2)).toMatchObject({
    role: 'assistant',
    content: expect.stringMatching(/^First we pack/),
  });
  expect(again?.temperature).toBeGreaterThanOrEqual(0.6);
});

test.each([
  ['from its beginning on', []],
  ['behind a sentence', [{ content: 'First we pack.' }]],
])('line breaks without end, %s, are a loop too', async (_, begun) => {
  const { client, chat, turns } = await start((response) => {
    open(response);
    for (const part of begun) delta(response, part);
    for (let line = 0; line < 1500; line++) delta(response, { content: '\n' });
  });
  const { turnId, messageId } = await client.call('turns.send', { chatId: chat.id, text: 'Plan a trip' });
  await until(() => turns.of(turnId).some(({ type }) => type === 'paused'));
  await client.call('turns.decide', { turnId: turnId as never, choice: 'stop' });
  expect(await turns.end(turnId)).toMatchObject({ type: 'finished', reason: 'loop' });
  expect((await readMessage(client, chat.id, messageId)).loops).toMatchObject([{ where: 'answer', decided: 'stop' }]);
});

test('thinking in circles: answering now asks the same once more, without thinking', async () => {
  const { client, chat, turns, lab, questions } = await start((response) => {
    open(response);
    for (let copy = 0; copy < 60; copy++)
      delta(response, { reasoning_content: 'But wait, perhaps it is seven after all, or it is not seven at all. ' });
  });
  const { turnId, messageId } = await client.call('turns.send', { chatId: chat.id, text: 'How many?' });
  await until(() => turns.of(turnId).some(({ type }) => type === 'paused'));
  lab.says((response) => stream(response, [{ content: 'Seven.' }]));
  await client.call('turns.decide', { turnId: turnId as never, choice: 'answer-now' });
  await turns.end(turnId);
  expect((await readMessage(client, chat.id, messageId)).text).toBe('Seven.');
  expect(questions().at(-1)?.body.chat_template_kwargs).toEqual({ enable_thinking: false });
  expect(questions()[0]?.body.chat_template_kwargs).toBeUndefined();
});

/** One file in a collection of its own. */
async function collectionWith(client: Client, folder: string, text: string) {
  writeFileSync(join(folder, 'lease.txt'), text);
  const { id } = await client.call('documents.createCollection', { name: 'Home' });
  const ready = next(client, 'document.changed', ({ state }) => state.status === 'ready');
  await client.call('documents.add', {
    collectionId: id,
    files: [{ path: join(folder, 'lease.txt'), name: 'lease.txt' }],
  });
  await ready;
  return id;
}

test('passages of documents stay here until the chat says otherwise, for this engine alone', async () => {
  const { client, chat, ask, engine, questions, turns, dataFolder, lab } = await start((response) =>
    stream(response, [{ content: 'It is 840 euros [1].' }]),
  );
  const passage = 'The rent of the flat is 840 euros a month';
  const id = await collectionWith(client, dataFolder, `${passage}.`);
  await client.call('chats.update', { chatId: chat.id, collectionIds: [id] });
  const { end, messageId } = await ask('How high is the rent of the flat?');
  expect(reasonOf(end)).toBe('passages-stay');
  expect(questions()).toEqual([]);
  const sent = () => JSON.stringify(questions().at(-1)?.body.messages);
  const again = async (documents: 'search' | 'without') => {
    const { turnId } = await client.call('turns.regenerate', { messageId, documents });
    return turns.end(turnId);
  };
  expect((await again('without')).type).toBe('finished');
  expect(sent()).not.toContain(passage);
  // What was allowed for another engine is not allowed for this one.
  await client.call('chats.update', { chatId: chat.id, passagesTo: 'another' as never });
  expect(reasonOf(await again('search'))).toBe('passages-stay');
  await client.call('chats.update', { chatId: chat.id, passagesTo: engine.id });
  expect((await again('search')).type).toBe('finished');
  expect(sent()).toContain(passage);

  // The same for tools that read them, and for what they found while it was allowed.
  const tools = ['search_documents'];
  await client.call('chats.update', { chatId: chat.id, collectionIds: [], tools });
  const called: Says = (response, { body }) => {
    if (body.messages?.at(-1)?.role === 'tool') return stream(response, [{ content: 'Done.' }]);
    const call = { name: 'search_documents', arguments: '{"query": "rent of the flat"}' };
    return stream(response, [{ tool_calls: [{ index: 0, id: 'c', function: call }] }], null, 'tool_calls');
  };
  lab.says(called);
  expect((await ask('And the rent?')).message.toolUses).toMatchObject([{ state: { status: 'done' } }]);
  expect(sent()).toContain(`${passage}.`);
  await client.call('chats.update', { chatId: chat.id, passagesTo: null });
  expect((await ask('Look again')).message.toolUses).toMatchObject([{ state: { status: 'refused' } }]);
  expect(sent()).not.toContain(passage);
});

test('the key is in no answer of the core, no log and, as it was typed, in no file beside the database', async () => {
  const { client, dataFolder, ask, lab } = await start((response) => stream(response, [{ content: 'ok' }]));
  lab.says((response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${SECRET}` } }));
  });
  const { end } = await ask('Hello');
  expect(reasonOf(end)).toBe('engine-key');
  const said = JSON.stringify([
    end,
    await client.call('remoteEngines.list'),
    await client.call('privacy.networkLog'),
    await client.call('models.list'),
  ]);
  expect(said).not.toContain(SECRET);
  expect(said).toContain('The lab');
  for (const file of readdirSync(dataFolder, { recursive: true, withFileTypes: true }))
    if (file.isFile() && !file.name.startsWith('longhand.db'))
      expect(readFileSync(join(file.parentPath, file.name)).includes(SECRET), file.name).toBe(false);
});

test('with the network off an engine of another computer is not asked; every request is listed', async () => {
  const { client, ask, lab } = await start((response) => stream(response, [{ content: 'ok' }]));
  await ask('Hello');
  const listed = await client.call('privacy.networkLog');
  expect(listed).toContainEqual(
    expect.objectContaining({ host: new URL(lab.address).host, reason: 'engine', about: 'The lab', allowed: true }),
  );
  await client.call('settings.set', { network: 'off' });
  expect((await ask('Still here?')).message.text).toBe('ok');
  const refused = await client
    .call('remoteEngines.test', { address: 'http://192.0.2.1:9', key: null })
    .catch((error) => error);
  expect(refused).toMatchObject({ details: { reason: 'off' } });
  expect(await client.call('privacy.networkLog')).toContainEqual(
    expect.objectContaining({ host: '192.0.2.1:9', allowed: false }),
  );
});

test('an address of another host loses the key, its chats lose what they allowed, and a removed engine answers nobody', async () => {
  const { client, engine, chat, ask } = await start((response) => stream(response, [{ content: 'ok' }]));
  await client.call('chats.update', { chatId: chat.id, passagesTo: engine.id });
  const moved = await client.call('remoteEngines.change', { engineId: engine.id, address: 'http://192.0.2.7:8000' });
  expect(moved).toMatchObject({ key: false, host: '192.0.2.7:8000', here: false, plain: true });
  expect((await client.call('chats.get', { chatId: chat.id })).chat.passagesTo).toBeNull();
  await client.call('remoteEngines.remove', { engineId: engine.id });
  expect((await client.call('models.list')).every(({ remote }) => remote === null)).toBe(true);
  await expect(ask('Anybody?')).rejects.toMatchObject({ code: 'model-missing' });
});
