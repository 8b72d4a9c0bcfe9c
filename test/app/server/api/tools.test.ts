import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { Generation } from '../../../../app/engine/ipc-protocol.ts';
import { scriptedEngine } from '../../../support/core/scripted-engine.ts';
import { KEY, startApi } from './api.ts';
import { callsWeather, template } from './weather.ts';

//  Calls of tools through the clients that others wrote. The words that a scripted model writes are parsed as those of a real
//  one.

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
async function start() {
  const prompts: Generation['prompt'][] = [];
  const grammars: Generation['grammar'][] = [];
  const { startEngine } = scriptedEngine(
    (generation) => {
      prompts.push(generation.prompt);
      grammars.push(generation.grammar);
      return callsWeather(generation);
    },
    4e9,
    template,
  );
  return { ...(await startApi({}, { startEngine })), prompts, grammars };
}

test('openai: a call, whole and streamed, its result, and no call without tools', async () => {
  const { address, model, prompts } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'How is the weather in Bern?' }];
  const { choices } = await openai.chat.completions.create({ model, messages, tools });
  const [{ message, finish_reason } = { message: null, finish_reason: null }] = choices;
  expect(finish_reason).toBe('tool_calls');
  expect(message?.content).toBe('I will look.');
  expect(message?.tool_calls).toMatchObject([{ type: 'function', function: { name: 'weather' } }]);
  const [made] = message?.tool_calls ?? [];
  expect(made?.type === 'function' && JSON.parse(made.function.arguments)).toEqual({ city: 'Bern' });

  const stream = openai.chat.completions.stream({ model, messages, tools });
  const streamed = (await stream.finalChatCompletion()).choices[0]?.message;
  expect(streamed?.content).toBe('I will look.');
  expect(streamed?.tool_calls).toMatchObject([{ function: { name: 'weather', arguments: '{"city": "Bern"}' } }]);

  const answered = await openai.chat.completions.create({
    model,
    tools,
    messages: [...messages, message as never, { role: 'tool', tool_call_id: made?.id ?? '', content: 'sunny' }],
  });
  expect(answered.choices[0]?.message.content).toBe('It is sunny.');
  expect(prompts.at(-1)?.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', calls: [{ id: made?.id, function: { name: 'weather', arguments: { city: 'Bern' } } }] },
    { role: 'tool', text: 'sunny', answers: { callId: made?.id } },
  ]);

  // What was called has no text beside it, and its result names the tool instead of the call.
  const silent = { role: 'assistant' as const, content: null, tool_calls: message?.tool_calls ?? [] };
  const result = { role: 'tool', name: 'weather', content: 'sunny' } as never;
  const named = await openai.chat.completions.create({ model, tools, messages: [...messages, silent, result] });
  expect(named.choices[0]?.message.content).toBe('It is sunny.');
  expect(prompts.at(-1)?.messages.at(-1)?.answers).toEqual({ name: 'weather' });

  for (const none of [{}, { tools, tool_choice: 'none' as const }]) {
    const plain = await openai.chat.completions.create({ model, messages, ...none });
    expect(plain.choices[0]?.message.content).toBe('Write `<tool_call>` to call.');
    expect(plain.choices[0]?.finish_reason).toBe('stop');
  }
});

test('openai, its responses: no more than one call where calls may not stand side by side, however many may be made', async () => {
  const { address, model, grammars } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const tools = [{ type: 'function' as const, name: 'weather', strict: false, parameters }];
  const asked = { model, input: 'How is the weather in Bern?', tools, max_tool_calls: 3 };
  for (const parallel_tool_calls of [true, false]) await openai.responses.create({ ...asked, parallel_tool_calls });
  expect(grammars).toMatchObject([{ most: 3 }, { most: 1 }]);
});

test('@anthropic-ai/sdk: tool_use blocks, whole and streamed, and tool_result', async () => {
  const { address, model, prompts } = await start();
  const anthropic = new Anthropic({ baseURL: address, apiKey: KEY, maxRetries: 0 });
  const asked = {
    model,
    max_tokens: 100,
    tools: [{ name: 'weather', input_schema: parameters as Anthropic.Tool.InputSchema }],
    messages: [{ role: 'user' as const, content: 'How is the weather in Bern?' }],
  };
  const whole = await anthropic.messages.create(asked);
  expect(whole.stop_reason).toBe('tool_use');
  expect(whole.content).toMatchObject([
    { type: 'text', text: 'I will look.' },
    { type: 'tool_use', name: 'weather', input: { city: 'Bern' } },
  ]);
  const streamed = await anthropic.messages.stream(asked).finalMessage();
  expect(streamed.content).toMatchObject(whole.content.map(({ type }) => ({ type })));
  expect(streamed.content[1]).toMatchObject({ input: { city: 'Bern' } });
  const used = whole.content[1] as Anthropic.ToolUseBlock;
  const answered = await anthropic.messages.create({
    ...asked,
    messages: [
      ...asked.messages,
      { role: 'assistant', content: whole.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: used.id, content: 'sunny' }] },
    ],
  });
  expect(answered.content).toMatchObject([{ type: 'text', text: 'It is sunny.' }]);
  expect(prompts.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
});

test('ollama: tool_calls with arguments as they are', async () => {
  const { address, model } = await start();
  const ollama = new Ollama({ host: address, headers: { Authorization: `Bearer ${KEY}` } });
  const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
  const messages = [{ role: 'user', content: 'How is the weather in Bern?' }];
  const whole = await ollama.chat({ model, messages, tools });
  expect(whole.message.tool_calls).toEqual([{ function: { name: 'weather', arguments: { city: 'Bern' } } }]);
  const seen = [];
  for await (const { message } of await ollama.chat({ model, messages, tools, stream: true })) {
    seen.push(...(message.tool_calls ?? []));
  }
  expect(seen).toEqual(whole.message.tool_calls);
  const result = { role: 'tool', content: 'sunny', tool_name: 'weather' };
  const answered = await ollama.chat({ model, messages: [...messages, whole.message, result], tools });
  expect(answered.message.content).toBe('It is sunny.');
});

test('arguments come while they are written: openai, its responses, @anthropic-ai/sdk', async () => {
  const note = 'Milk, bread, and a long list of other things that nobody needs.\n'.repeat(20);
  const written = `<tool_call>\n${JSON.stringify({ name: 'note', arguments: { text: note } })}\n</tool_call>`;
  const { startEngine } = scriptedEngine(() => `Noted.\n\n${written}\n${written}`, 4e9, template);
  const { address, model } = await startApi({}, { startEngine });
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: address, apiKey: KEY, maxRetries: 0 });
  const schema = { type: 'object' as const, properties: { text: { type: 'string' } } };
  const messages = [{ role: 'user' as const, content: 'Note it.' }];

  const pieces: string[][] = [[], []];
  const chat = {
    model,
    messages,
    tools: [{ type: 'function' as const, function: { name: 'note', parameters: schema } }],
  };
  for await (const { choices } of await openai.chat.completions.create({ ...chat, stream: true })) {
    for (const { index, function: part } of choices[0]?.delta.tool_calls ?? [])
      pieces[index]?.push(part?.arguments ?? '');
  }
  const events: string[] = [];
  const tools = [{ type: 'function' as const, name: 'note', strict: false, parameters: schema }];
  for await (const event of await openai.responses.create({ model, input: 'Note it.', tools, stream: true })) {
    if (event.type === 'response.function_call_arguments.delta' && event.output_index === 2) events.push(event.delta);
  }
  const blocks: string[] = [];
  const asked = { model, max_tokens: 100, messages, tools: [{ name: 'note', input_schema: schema }] };
  for await (const event of await anthropic.messages.create({ ...asked, stream: true })) {
    if (event.type === 'content_block_delta' && event.index === 2 && event.delta.type === 'input_json_delta') {
      blocks.push(event.delta.partial_json);
    }
  }
  for (const came of [...pieces, events, blocks]) {
    expect(JSON.parse(came.join(''))).toEqual({ text: note });
    // A scripted model writes 24 characters at a time.
    expect(came.length).toBeGreaterThan(written.length / 24 - 6);
  }
});

test('a model whose template knows no tools says so', async () => {
  const { startEngine } = scriptedEngine(() => 'Hi', 4e9, '{{ messages }}');
  const { address, model } = await startApi({}, { startEngine });
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const tools = [{ type: 'function' as const, function: { name: 'weather' } }];
  const refused = openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }], tools });
  await expect(refused).rejects.toThrow('this model’s chat template does not support tools');
});
