// A chat with a real engine of others: llama.cpp's server, which runs the built-in model as a GGUF file made by this app.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import type { ChatId, ModelId } from '../../../app/protocol/index.ts';
import { longhand } from '../../support/core/cli.ts';
import { listen, newFolder, readMessage, startCore, textOf } from '../../support/core/core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { addEngine } from '../../support/fakes/foreign-engine.ts';
import { circling, repetitive } from '../../support/models/circling.ts';
import { realModel } from '../../support/models/real-models.mjs';

const KEY = 'sk-lab-0123456789-very-secret';
const script = join(import.meta.dirname, '../../support/models/llama-server.py');
const fetching = 600_000;
const patience = { timeout: 120_000, interval: 20 };

async function llamaServer(context: TestContext): Promise<string> {
  context.skip(process.platform !== 'linux', 'needs Linux: there is a build of this server for the tests');
  context.skip(process.arch !== 'x64', 'needs x86-64: there is a build of this server for the tests');
  const here = newFolder();
  const made = ['quantize', '--model', 'starter', '--out', 'starter.gguf', '--format', 'gguf:Q8_0', '--skip-quality'];
  expect(await longhand(here, made)).toMatchObject({ code: 0 });
  const server = await realModel('llama-server');
  const child = spawn('python3', ['-B', script, server, join(here, 'starter.gguf'), KEY], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  return (JSON.parse(value ?? '{}') as { address: string }).address;
}

async function start(context: TestContext) {
  const address = await llamaServer(context);
  const { client } = await startCore({ startEngine: scriptedEngine(() => 'here').startEngine });
  const turns = listen(client);
  const chatWith = async (modelId: ModelId, more: object) => {
    const chat = await client.call('chats.create', { modelId });
    await client.call('chats.update', { chatId: chat.id, thinking: false, ...more });
    return chat.id;
  };
  const ask = async (chatId: ChatId, text: string) => {
    const { turnId, messageId } = await client.call('turns.send', { chatId, text });
    const end = await turns.end(turnId);
    return { end, events: turns.of(turnId), message: await readMessage(client, chatId, messageId) };
  };
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const busy = async () => {
    const slots = (await (await fetch(`${address}/slots`, { headers })).json()) as { is_processing: boolean }[];
    return slots.filter(({ is_processing }) => is_processing).length;
  };
  /** What the server says to the same question, asked without us. */
  const directly = async (content: string) => {
    const messages = [{ role: 'user', content }];
    const body = { messages, temperature: 0, max_tokens: 60, chat_template_kwargs: { enable_thinking: false } };
    const asked = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await fetch(`${address}/v1/chat/completions`, asked)).json()) as {
      choices: [{ message: { content: string } }];
      usage: { prompt_tokens: number; completion_tokens: number };
    };
  };
  return { address, client, turns, chatWith, ask, busy, directly };
}

test('llama.cpp: listed, asked, thinking apart, stopped; a refusal is a sentence', {
  timeout: fetching,
}, async (context) => {
  const { address, client, turns, chatWith, ask, busy, directly } = await start(context);
  await expect(client.call('remoteEngines.test', { address, key: 'sk-wrong' })).rejects.toMatchObject({
    details: { reason: 'engine-key' },
  });
  const { models } = await client.call('remoteEngines.test', { address, key: KEY });
  expect(models).toMatchObject([{ contextLength: 2048, pictures: false }]);
  const { model } = await addEngine(client, address, KEY);
  expect(model.remote).toMatchObject({ host: new URL(address).host, here: true });

  const question = 'What is your name?';
  const chat = await chatWith(model.id, { sampling: { temperature: 0, maxTokens: 60 } });
  const first = await ask(chat, question);
  const { choices, usage } = await directly(question);
  expect(first.message.text).toBe(choices[0].message.content.trim());
  expect(first.message.text).toBe(textOf(first.events, 'answer'));
  expect(first.message.usage).toMatchObject({
    promptTokens: usage.prompt_tokens,
    thinkingTokens: 0,
    answerTokens: usage.completion_tokens,
  });
  const second = await ask(chat, 'And what can you do?');
  expect(second.message.usage?.promptTokens).toBeGreaterThan(usage.prompt_tokens + usage.completion_tokens);

  const thoughtful = await chatWith(model.id, { thinking: true, sampling: { temperature: 0, maxTokens: 200 } });
  const { message: thought } = await ask(thoughtful, question);
  expect(thought.thinking.length).toBeGreaterThan(5);
  expect(thought.text.length).toBeGreaterThan(5);
  expect(thought.thinking + thought.text).not.toContain('think>');

  // Rewarded for repetition, it writes line breaks until it is ended.
  const endless = await chatWith(model.id, { sampling: circling });
  const { turnId } = await client.call('turns.send', { chatId: endless, text: repetitive });
  await vi.waitUntil(async () => (await busy()) === 1, patience);
  await client.call('turns.cancel', { turnId: turnId as never });
  expect(await turns.end(turnId)).toMatchObject({ type: 'finished', reason: 'cancelled' });
  await vi.waitUntil(async () => (await busy()) === 0, { timeout: 3000, interval: 20 });

  const unknown = models.map((one) => ({ ...one, contextLength: null }));
  const again = await client.call('remoteEngines.add', { name: 'Twice', address, key: KEY, models: unknown });
  const other = (await client.call('models.list')).find(({ remote }) => remote?.engineId === again.id);
  const full = await ask(await chatWith(other?.id as ModelId, {}), 'word '.repeat(4000));
  expect(full.end).toMatchObject({ type: 'failed', failure: { details: { reason: 'engine-context' } } });
  expect(JSON.stringify(full.end)).not.toContain(KEY);
});
