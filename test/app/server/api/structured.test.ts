import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { KEY, startApi as start } from './api.ts';

//  Answers in a shape that was asked for, with the clients that others wrote.

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 20 },
    age: { type: 'integer', minimum: 1, maximum: 99 },
    kind: { enum: ['cat', 'dog'] },
  },
  required: ['name', 'age', 'kind'],
  additionalProperties: false,
};
const pet = expect.objectContaining({
  name: expect.any(String),
  age: expect.any(Number),
  kind: expect.stringMatching(/^(cat|dog)$/),
});
const messages = [{ role: 'user' as const, content: 'Tell me about a pet.' }];

test('openai: json_schema and json_object, whole and streamed, with thinking apart', async () => {
  const { address, model } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const response_format = { type: 'json_schema' as const, json_schema: { name: 'pet', strict: true, schema } };
  const asked = { model, messages, response_format, temperature: 0.7, seed: 3, max_tokens: 400 };
  const whole = await openai.chat.completions.create(asked);
  const said = whole.choices[0]?.message.content ?? '';
  expect(JSON.parse(said)).toEqual(pet);
  expect(whole.choices[0]?.finish_reason).toBe('stop');
  let streamed = '';
  for await (const { choices } of await openai.chat.completions.create({ ...asked, stream: true })) {
    streamed += choices[0]?.delta.content ?? '';
  }
  expect(streamed).toBe(said);

  const thought = await openai.chat.completions.create({ ...asked, reasoning_effort: 'low' });
  const { reasoning_content, content } = (thought.choices[0]?.message ?? {}) as {
    reasoning_content?: string;
    content?: string;
  };
  expect(reasoning_content?.length).toBeGreaterThan(5);
  expect(JSON.parse(content ?? '')).toEqual(pet);

  const any = await openai.chat.completions.create({
    ...asked,
    response_format: { type: 'json_object' },
    max_tokens: 12,
  });
  expect(any.choices[0]?.message.content).toMatch(/^\{/);

  const parsed = await openai.chat.completions.parse(asked);
  expect(parsed.choices[0]?.message.parsed).toEqual(pet);
});

test('openai: many shapes at once, each its own', async () => {
  const { address, model } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const answers = await Promise.all(
    [...Array(8).keys()].map((number) =>
      openai.chat.completions.create({
        model,
        messages,
        temperature: 1,
        seed: number,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { const: { number, list: [number] } } as never },
        },
      }),
    ),
  );
  expect(answers.map(({ choices }) => JSON.parse(choices[0]?.message.content ?? ''))).toEqual(
    [...Array(8).keys()].map((number) => ({ number, list: [number] })),
  );
});

test('ollama: a schema as format, in chat and generate', async () => {
  const { address, model } = await start();
  const ollama = new Ollama({ host: address, headers: { authorization: `Bearer ${KEY}` } });
  const options = { seed: 5, num_predict: 300 };
  const chat = await ollama.chat({ model, messages, format: schema, options });
  expect(JSON.parse(chat.message.content)).toEqual(pet);
  const { response } = await ollama.generate({ model, prompt: 'A pet.', format: schema, options });
  expect(JSON.parse(response ?? '')).toEqual(pet);
  await expect(ollama.chat({ model, messages, format: { type: 'pet' } })).rejects.toThrow('#/type is "pet"');

  const tools = [{ type: 'function', function: { name: 'weather', parameters: look, strict: true } }];
  const both = (await ollama.chat({ model, messages, format: schema, tools, options })).message;
  expectPetOrCall(
    both.content,
    (both.tool_calls ?? []).map(({ function: called }) => called),
  );
});

const look = {
  type: 'object',
  properties: {
    city: { enum: ['Bern', 'Oslo'] },
    days: { type: 'integer', minimum: 1, maximum: 9 },
    note: { type: 'string', maxLength: 9 },
  },
  required: ['city', 'days'],
};

test('openai and anthropic: a tool has to be called, and its arguments are of its schema', async () => {
  const { address, model } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const tools = [
    { type: 'function' as const, function: { name: 'weather', parameters: look, strict: true } },
    { type: 'function' as const, function: { name: 'clock', parameters: { type: 'object', properties: {} } } },
  ];
  for (const tool_choice of ['required' as const, { type: 'function' as const, function: { name: 'weather' } }]) {
    const { choices } = await openai.chat.completions.create({
      model,
      messages,
      tools,
      tool_choice,
      temperature: 1,
      seed: 4,
    });
    const [call, ...more] = choices[0]?.message.tool_calls ?? [];
    expect([choices[0]?.finish_reason, choices[0]?.message.content, more]).toEqual(['tool_calls', null, []]);
    if (call?.type !== 'function') throw new Error('no call');
    if (tool_choice !== 'required') expect(call.function.name).toBe('weather');
    if (call.function.name === 'weather') {
      expect(JSON.parse(call.function.arguments)).toMatchObject({
        city: expect.stringMatching(/^(Bern|Oslo)$/),
        days: expect.any(Number),
      });
    }
  }
  const only = { mode: 'required' as const, tools: [{ type: 'function', function: { name: 'clock' } }] };
  const allowed = await openai.chat.completions.create({
    model,
    messages,
    tools,
    tool_choice: { type: 'allowed_tools', allowed_tools: only },
  });
  expect(allowed.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'clock' } }]);
  const foreign = openai.chat.completions.create({
    model,
    messages,
    tools,
    tool_choice: { type: 'function', function: { name: 'rm' } },
  });
  await expect(foreign).rejects.toThrow('expected one of weather, clock');

  const anthropic = new Anthropic({ baseURL: address, apiKey: KEY, maxRetries: 0 });
  const { content, stop_reason } = await anthropic.messages.create({
    model,
    max_tokens: 300,
    messages,
    tools: [{ name: 'weather', input_schema: look as never }],
    tool_choice: { type: 'any' },
  });
  expect(stop_reason).toBe('tool_use');
  expect(content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { days: expect.any(Number) } }]);
  const two = [
    { name: 'weather', input_schema: look as never },
    { name: 'clock', input_schema: { type: 'object' as const, properties: {} } },
  ];
  const demanded = (tool_choice: object) =>
    anthropic.messages.create({ model, max_tokens: 300, messages, tools: two, tool_choice: tool_choice as never });
  for (const { name } of two) {
    const called = await demanded({ type: 'tool', name });
    expect(called.content).toMatchObject([{ type: 'tool_use', name }]);
  }
  for (const nobody of [{ name: 'rm' }, {}])
    await expect(demanded({ type: 'tool', ...nobody })).rejects.toThrow(
      /there is no tool \\"(?:rm)?\\"; expected one of weather, clock/,
    );
  const shaped = await anthropic.messages.create({
    model,
    max_tokens: 400,
    messages,
    output_config: { format: { type: 'json_schema', schema } },
  });
  expect(JSON.parse(shaped.content[0]?.type === 'text' ? shaped.content[0].text : '')).toEqual(pet);
});

/** The model chooses: an answer of the shape, or a call of the schema in its place. */
function expectPetOrCall(content: string, calls: { name: string; arguments: unknown }[]) {
  if (calls.length === 0) return expect(JSON.parse(content)).toEqual(pet);
  expect(content).toBe('');
  for (const { name, arguments: given } of calls) {
    expect(name).toBe('weather');
    expect(given).toMatchObject({ city: expect.stringMatching(/^(Bern|Oslo)$/), days: expect.any(Number) });
  }
}

test('openai: a shape beside tools that may be called, in chat and responses', async () => {
  const { address, model } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const weather = { name: 'weather', parameters: look, strict: true };
  for (const seed of [1, 2, 3]) {
    const { choices } = await openai.chat.completions.create({
      model,
      messages,
      tools: [{ type: 'function', function: weather }],
      response_format: { type: 'json_schema', json_schema: { name: 'pet', schema } },
      parallel_tool_calls: false,
      temperature: 1,
      max_tokens: 400,
      seed,
    });
    const { content, tool_calls = [] } = choices[0]?.message ?? { content: null };
    const calls = tool_calls.flatMap((call) => (call.type === 'function' ? [call.function] : []));
    expect(calls.length).toBeLessThan(2);
    expectPetOrCall(
      content ?? '',
      calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
    );
  }
  const { output_text, output } = await openai.responses.create({
    model,
    input: 'Tell me about a pet.',
    tools: [{ type: 'function', ...weather }],
    text: { format: { type: 'json_schema', name: 'pet', schema } },
    max_tool_calls: 2,
    max_output_tokens: 400,
  });
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  expect(calls.length).toBeLessThan(3);
  expectPetOrCall(
    output_text,
    calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
  );
});
