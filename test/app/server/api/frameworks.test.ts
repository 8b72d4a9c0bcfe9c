import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { expect, test } from 'vitest';
import { scriptedEngine } from '../../../support/core/scripted-engine.ts';
import { circling, repetitive } from '../../../support/models/circling.ts';
import { KEY, startApi } from './api.ts';
import { callsWeather, template } from './weather.ts';

//  What others build on: Vercel's AI SDK and LangChain, against the real server. Tools are called by a scripted model.

const prompt = 'What is your name?';
const schema = {
  type: 'object' as const,
  properties: { name: { type: 'string', maxLength: 20 }, age: { type: 'integer', minimum: 1, maximum: 99 } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const pet = { name: expect.any(String), age: expect.any(Number) };
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
/** One that takes long enough to come in pieces, however fast it is written. */
const long = { prompt: repetitive, temperature: circling.temperature, frequencyPenalty: circling.frequencyPenalty };
const city = { city: 'Bern' };
const calling = () => startApi({}, { startEngine: scriptedEngine(callsWeather, 4e9, template).startEngine });

const vercel = ({ address, model }: { address: string; model: string }) =>
  createOpenAICompatible({
    name: 'longhand',
    baseURL: `${address}/v1`,
    apiKey: KEY,
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel(model);

const langchain = ({ address, model }: { address: string; model: string }, more: object = {}) =>
  new ChatOpenAI({
    model,
    apiKey: KEY,
    maxRetries: 0,
    temperature: 0,
    maxTokens: 24,
    configuration: { baseURL: `${address}/v1` },
    ...more,
  });

test('ai: text, whole and streamed, with usage, and thinking apart', async () => {
  const model = vercel(await startApi());
  const whole = await generateText({ model, prompt, temperature: 0, maxOutputTokens: 24 });
  expect(whole.text.length).toBeGreaterThan(5);
  expect(whole.usage.outputTokens).toBeGreaterThan(1);
  const streamed = streamText({ model, prompt, temperature: 0, maxOutputTokens: 24 });
  expect(await streamed.text).toBe(whole.text);
  expect((await streamed.usage).outputTokens).toBe(whole.usage.outputTokens);
  const options = { longhand: { reasoningEffort: 'low' } };
  const thought = await generateText({ model, prompt, temperature: 0, maxOutputTokens: 200, providerOptions: options });
  expect(thought.reasoningText?.length).toBeGreaterThan(5);
  expect(thought.text).not.toContain('<think>');
});

test('ai: an object of a schema', async () => {
  const model = vercel(await startApi());
  const output = Output.object({ schema: jsonSchema<{ name: string; age: number }>(schema) });
  const { output: whole } = await generateText({ model, prompt: 'A pet.', output, seed: 3, maxOutputTokens: 200 });
  expect(whole).toEqual(pet);
});

test('ai: tools that it runs by itself, whole and streamed', async () => {
  const model = vercel(await calling());
  const asked: unknown[] = [];
  const weather = tool({
    description: 'The weather',
    inputSchema: jsonSchema<{ city: string }>(parameters),
    execute: async (given: { city: string }) => {
      asked.push(given);
      return 'sunny';
    },
  });
  const request = { model, prompt: 'How is the weather in Bern?', tools: { weather }, stopWhen: stepCountIs(3) };
  const whole = await generateText(request);
  expect(whole.text).toBe('It is sunny.');
  expect(whole.steps).toHaveLength(2);
  const streamed = streamText(request);
  const parts: string[] = [];
  for await (const part of streamed.fullStream) parts.push(part.type);
  expect(await streamed.text).toBe('It is sunny.');
  expect(parts).toEqual(expect.arrayContaining(['tool-input-start', 'tool-input-delta', 'tool-call', 'tool-result']));
  expect(asked).toEqual([city, city]);
});

test('ai: an abort ends the answer for the server too', async () => {
  const server = await startApi();
  const model = vercel(server);
  const stop = new AbortController();
  const options = { longhand: { reasoningEffort: 'low' } };
  const long = streamText({
    model,
    prompt: 'Count to one hundred.',
    maxOutputTokens: 5000,
    abortSignal: stop.signal,
    providerOptions: options,
    onError: () => {},
  });
  for await (const part of long.fullStream) {
    if (part.type === 'reasoning-delta' || part.type === 'text-delta') stop.abort();
  }
  // The engine is free again: the next is answered at once.
  const next = await generateText({ model, prompt, temperature: 0, maxOutputTokens: 8 });
  expect(next.text).not.toBe('');
});

test('ai and langchain: a long answer comes while it is written', async () => {
  const server = await startApi();
  const pieces: string[] = [];
  for await (const piece of streamText({ ...long, model: vercel(server), maxOutputTokens: 600 }).textStream)
    pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(2);
  const chat = langchain(server, { ...circling, maxTokens: 600 });
  const chunks: string[] = [];
  for await (const { content } of await chat.stream(repetitive)) if (content !== '') chunks.push(String(content));
  expect(chunks.length).toBeGreaterThan(2);
});

test('langchain: text, whole and streamed, with usage, and vectors', async () => {
  const server = await startApi();
  const chat = langchain(server);
  const whole = await chat.invoke(prompt);
  expect(String(whole.content).length).toBeGreaterThan(5);
  expect(whole.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
  const pieces: string[] = [];
  for await (const piece of await chat.stream(prompt)) pieces.push(String(piece.content));
  expect(pieces.join('')).toBe(whole.content);
  const encoder = (await server.host.inference.models()).find(({ kind }) => kind === 'encoder')?.id ?? '';
  const configuration = { baseURL: `${server.address}/v1` };
  const embeddings = new OpenAIEmbeddings({ model: encoder, apiKey: KEY, configuration, maxRetries: 0 });
  const [one = [], other = []] = await embeddings.embedDocuments(['The rent is high.', 'Cats']);
  expect(one.length).toBe(384);
  expect(one).not.toEqual(other);
});

test('langchain: an object of a schema', async () => {
  const chat = langchain(await startApi(), { maxTokens: 200 });
  const shaped = chat.withStructuredOutput(schema, { name: 'pet', method: 'jsonSchema', strict: true });
  expect(await shaped.invoke('A pet.')).toEqual(pet);
});

test('langchain: tools, whole and streamed, and their result', async () => {
  const weather = { type: 'function' as const, function: { name: 'weather', description: 'The weather', parameters } };
  const chat = langchain(await calling()).bindTools([weather]);
  const question = new HumanMessage('How is the weather in Bern?');
  const called = await chat.invoke([question]);
  expect(called.tool_calls).toMatchObject([{ name: 'weather', args: city }]);
  const pieces: AIMessageChunk[] = [];
  for await (const piece of await chat.stream([question])) pieces.push(piece);
  expect(pieces.reduce((all, piece) => all.concat(piece)).tool_calls).toMatchObject([{ name: 'weather', args: city }]);
  const result = new ToolMessage({ content: 'sunny', tool_call_id: called.tool_calls?.[0]?.id ?? '' });
  expect((await chat.invoke([question, called, result])).content).toBe('It is sunny.');
});

test('langchain and ai: an abort, and thirty-two at once, each with its own answer', async () => {
  const server = await startApi();
  const chat = langchain(server, { maxTokens: 5000 });
  const stop = new AbortController();
  const running = chat.stream('Count to one hundred.', { signal: stop.signal }).then(async (stream) => {
    for await (const _ of stream) stop.abort();
  });
  await expect(running).rejects.toThrow();
  const model = vercel(server);
  const questions = Array.from({ length: 16 }, (_, index) => `What is ${index + 1} + ${index + 2}?`);
  const ask = {
    ai: async (question: string) =>
      (await generateText({ model, prompt: question, temperature: 0, maxOutputTokens: 12, maxRetries: 0 })).text,
    langchain: async (question: string) =>
      String((await langchain(server, { maxTokens: 12 }).invoke(question)).content),
  };
  const both = await Promise.all(questions.flatMap((question) => [ask.ai(question), ask.langchain(question)]));
  const alone: string[] = [];
  for (const question of questions) alone.push(await ask.ai(question));
  expect(both).toEqual(alone.flatMap((text) => [text, text]));
}, 60_000);
