// What Ollama's API asks of the engine, and every field of what it answers.
import { expect, test } from 'vitest';
import type { ServedModel } from '../../../../app/core/inference.ts';
import { LonghandError } from '../../../../app/protocol/index.ts';
import { createAnswers } from '../../../../app/server/api/answers.ts';
import { ollama } from '../../../../app/server/api/ollama.ts';
import { end, plainRequest, post, says, scriptedInference } from '../../../support/core/scripted-inference.ts';

function served(script: Parameters<typeof scriptedInference>[0] = [says('Hi'), end()], models: ServedModel[] = []) {
  const scripted = scriptedInference(script, models);
  const app = ollama(scripted.inference, createAnswers(scripted.inference), '1.2.3');
  const ask = async (path: string, body: unknown) => {
    const answer = await app.request(path, post(body));
    return { status: answer.status, text: await answer.text() };
  };
  const json = async (path: string, body: unknown) => JSON.parse((await ask(path, body)).text);
  return { ...scripted, app, ask, json };
}
const question = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], stream: false };

test('the figures of an answer are in nanoseconds, thinking and calls apart', async () => {
  const call = { type: 'call' as const, id: 'c', name: 'clock', arguments: '{"zone":"UTC"}' };
  const { json } = served([says('Hm ', 'thinking'), says('Hi'), says(' you'), call, end()]);
  const answer = await json('/chat', question);
  expect(Date.parse(answer.created_at)).toBeGreaterThan(Date.now() - 60_000);
  expect(answer).toEqual({
    model: 'm',
    created_at: answer.created_at,
    message: {
      role: 'assistant',
      content: 'Hi you',
      thinking: 'Hm',
      tool_calls: [{ function: { name: 'clock', arguments: { zone: 'UTC' } } }],
    },
    done: true,
    done_reason: 'stop',
    total_duration: 30_000_000,
    load_duration: 0,
    prompt_eval_count: 9,
    prompt_eval_duration: 7_500_000,
    eval_count: 5,
    eval_duration: 20_000_000,
  });
  const plain = await served().json('/chat', question);
  expect(plain.message).toEqual({ role: 'assistant', content: 'Hi' });
  expect(plain).not.toHaveProperty('logprobs');
});

test.each([
  ['length', 'length'],
  ['context', 'length'],
  ['stop', 'stop'],
  ['tool', 'stop'],
] as const)('an answer that ends by %s is told as %s', async (reason, told) => {
  expect(await served([end({ reason })]).json('/chat', question)).toMatchObject({ done_reason: told });
});

test('streamed: a line for each part, log-probabilities with it, and a failure as the last line', async () => {
  const scores = [{ bytes: [72], logprob: -0.25, top: [{ bytes: [74], logprob: -2 }] }];
  const call = { type: 'call' as const, id: 'c', name: 'clock', arguments: '{}' };
  const script = [
    { type: 'prompt' as const, tokens: 9, cached: 4 },
    says('Hm', 'thinking'),
    { ...says('H'), scores },
    call,
  ];
  const lines = async (last: Parameters<typeof scriptedInference>[0][number]) => {
    const { text } = await served([...script, last]).ask('/generate', { model: 'm', prompt: 'Hello' });
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const whole = await lines(end());
  expect(whole.map(({ model: _, created_at: __, ...rest }) => rest)).toMatchObject([
    { response: '', thinking: 'Hm', done: false },
    {
      response: 'H',
      logprobs: [{ token: 'H', logprob: -0.25, bytes: [72], top_logprobs: [{ token: 'J', logprob: -2, bytes: [74] }] }],
      done: false,
    },
    { response: '', done: false },
    { response: '', done: true, done_reason: 'stop', eval_count: 5 },
  ]);
  expect((await lines(new LonghandError('engine-lost', '[engine] it ended'))).at(-1)).toEqual({
    error: '[engine] it ended',
  });
});

test('options are sent on, and what was not given is not', async () => {
  const { asked, json } = served();
  await json('/chat', question);
  expect(asked[0]).toEqual(plainRequest({ logprobs: null, grammar: null }));
  const sampled = { temperature: 0.5, top_k: 3, top_p: 0.9, min_p: 0.1, repeat_penalty: 1.1, presence_penalty: 0.2 };
  const options = { ...sampled, frequency_penalty: 0.3, seed: -7, num_predict: 5, stop: 'X' };
  await json('/chat', { ...question, options, think: 'low', logprobs: true, top_logprobs: 2, format: 'json' });
  expect(asked[1]).toMatchObject({
    thinking: true,
    sampling: {
      temperature: 0.5,
      topK: 3,
      topP: 0.9,
      minP: 0.1,
      repetitionPenalty: 1.1,
      presencePenalty: 0.2,
      frequencyPenalty: 0.3,
      seed: 7,
      maxTokens: 5,
    },
    stops: ['X'],
    logprobs: 2,
    grammar: { kind: 'json-schema', text: '{"type":"object"}' },
  });
  await json('/chat', { ...question, options: { num_predict: 0 }, think: false, logprobs: true, format: '' });
  expect(asked[2]).toMatchObject({ thinking: false, sampling: {}, logprobs: 0, grammar: null });
  await json('/chat', { ...question, options: { num_predict: 1, seed: 2 ** 31 } });
  expect(asked[3]?.sampling).toEqual({ maxTokens: 1, seed: 0 });
});

test('calls, their results and pictures of a conversation', async () => {
  const { asked, json } = served();
  const call = { function: { name: 'clock', arguments: { zone: 'UTC' } } };
  await json('/chat', {
    ...question,
    messages: [
      { role: 'user', content: 'Time?', images: ['AAAA'] },
      { role: 'assistant', content: '', thinking: 'Hm', tool_calls: [call] },
      { role: 'tool', content: '12:00', tool_name: 'clock' },
      { role: 'tool', content: '13:00' },
      { role: 'user', content: 'Sure?', images: [] },
    ],
  });
  expect(asked[0]?.messages).toEqual([
    { role: 'user', text: 'Time?', thinking: '', pictures: [new Uint8Array(3)] },
    { role: 'assistant', text: '', thinking: 'Hm', calls: [{ type: 'function', ...call }] },
    { role: 'tool', text: '12:00', thinking: '', answers: { name: 'clock' } },
    { role: 'tool', text: '13:00', thinking: '', answers: {} },
    { role: 'user', text: 'Sure?', thinking: '' },
  ]);
});

test('a text to go on with has no template; with pictures it is refused', async () => {
  const { asked, json, ask } = served();
  const generate = { model: 'm', prompt: 'Once', stream: false };
  await json('/generate', { ...generate, raw: true });
  await json('/generate', { ...generate, suffix: ' end' });
  await json('/generate', { ...generate, system: 'Be brief.', images: ['AAAA'] });
  expect(asked.map(({ raw }) => raw)).toEqual([
    { text: 'Once', suffix: null },
    { text: 'Once', suffix: ' end' },
    undefined,
  ]);
  expect(asked[0]).toMatchObject({ messages: [], thinking: false });
  expect(asked[2]?.messages).toEqual([
    { role: 'system', text: 'Be brief.', thinking: '' },
    { role: 'user', text: 'Once', thinking: '', pictures: [new Uint8Array(3)] },
  ]);
  const refused = await ask('/generate', { ...generate, raw: true, images: ['AAAA'] });
  expect(refused).toEqual({
    status: 400,
    text: '{"error":"[images] cannot be combined with raw or suffix"}',
  });
});

test.each([
  [90, 90_000],
  ['90', 90_000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['1.5s250ms', 1750],
  ['-1', null],
  [-1, null],
  [undefined, undefined],
  [null, undefined],
])('nothing to answer loads the model, to be kept for %s', async (keep_alive, ms) => {
  const { done, json, asked } = served();
  const answer = await json('/generate', { model: 'm', keep_alive });
  expect(answer).toMatchObject({ response: '', done: true, done_reason: 'load' });
  expect(done).toEqual([['load', 'm', ms]]);
  await json('/chat', { ...question, keep_alive });
  expect(asked[0]?.keepMs).toBe(ms);
});

test('kept for no time is unloaded; a duration that is none is refused', async () => {
  const { done, json, ask } = served();
  const answer = await json('/chat', { model: 'm', messages: [], keep_alive: 0 });
  expect(answer).toMatchObject({ message: { role: 'assistant', content: '' }, done_reason: 'unload' });
  expect(done).toEqual([['unload', 'm']]);
  for (const keep_alive of ['soon', '5 m', 'm'])
    expect(await ask('/generate', { model: 'm', keep_alive })).toMatchObject({
      status: 400,
      text: expect.stringContaining('[keep_alive] has to be seconds, or a duration'),
    });
});

test('models as they are listed and shown, with what they can do; one that is not here is named', async () => {
  const description = {
    weightBytes: 1000,
    container: 'gguf',
    family: 'qwen3',
    parameters: 600,
    contextLength: 4096,
    vision: {},
  };
  const models = [
    { id: 'own', name: 'Own', kind: 'chat', entry: { lastUsedAt: 86_400_000, description } },
    { id: 'bare', name: 'Bare', kind: 'encoder', entry: null },
  ] as unknown as ServedModel[];
  const { app, json, ask } = served([], models);
  const tags = (await (await app.request('/tags')).json()) as { models: object[] };
  expect(tags.models).toEqual([
    {
      name: 'own',
      model: 'own',
      modified_at: '1970-01-02T00:00:00.000Z',
      size: 1000,
      digest: '',
      details: { format: 'gguf', family: 'qwen3', parameter_size: '600', quantization_level: '' },
    },
    {
      name: 'bare',
      model: 'bare',
      modified_at: '1970-01-01T00:00:00.000Z',
      size: 0,
      digest: '',
      details: { format: '', family: '', parameter_size: '', quantization_level: '' },
    },
  ]);
  expect(await json('/show', { model: 'own:latest' })).toMatchObject({
    model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 4096 },
    capabilities: ['completion', 'vision', 'tools'],
  });
  expect(await json('/show', { name: 'bare' })).toMatchObject({
    model_info: { 'general.architecture': '', '.context_length': 0 },
    capabilities: ['embedding'],
  });
  expect(await ask('/show', { model: 'gone' })).toEqual({
    status: 404,
    text: '{"error":"[model] \\"gone\\" is not here"}',
  });
  expect(await ask('/show', {})).toEqual({ status: 404, text: '{"error":"[model] \\"\\" is not here"}' });
  expect(await (await app.request('/version')).json()).toEqual({ version: '1.2.3' });
  expect(await (await app.request('/ps')).json()).toEqual({ models: [] });
});
