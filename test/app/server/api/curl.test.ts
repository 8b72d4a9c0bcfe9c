import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { linesFor } from '../../../../renderer/server/client-lines.ts';
import { circling, repetitive } from '../../../support/models/circling.ts';
import { KEY, startApi } from './api.ts';

//  curl, beginning with the lines that the page and the README give.

const run = promisify(execFile);

async function start() {
  const { address, model, host } = await startApi();
  const curl = async (path: string, body: object, ...flags: string[]) => {
    const headers = ['-H', `Authorization: Bearer ${KEY}`, '-H', 'Content-Type: application/json'];
    const given = ['-sS', ...flags, ...headers, '-d', JSON.stringify({ model, temperature: 0, ...body })];
    return (await run('curl', [...given, `${address}${path}`])).stdout;
  };
  return { address, model, host, curl };
}

const messages = [{ role: 'user', content: 'What is your name?' }];
const chat = '/v1/chat/completions';

test('the lines that are given, and the same streamed: SSE for OpenAI and Anthropic, a line each for Ollama', async () => {
  const { address, model, curl } = await start();
  const lines = linesFor('curl', address, model).replace('KEY', KEY);
  const { choices } = JSON.parse((await run('sh', ['-c', lines])).stdout);
  expect(choices[0].message.content.length).toBeGreaterThan(5);

  const said = JSON.parse(await curl(chat, { messages, max_tokens: 12 })).choices[0].message.content;
  const stream = await curl(chat, { messages, max_tokens: 12, stream: true }, '-N');
  const events = stream.split('\n\n').filter((event) => event !== '');
  expect(events.at(-1)).toBe('data: [DONE]');
  const deltas = events.slice(0, -1).map((event) => JSON.parse(event.replace(/^data: /, '')).choices[0].delta);
  expect(deltas.map(({ content = '' }) => content).join('')).toBe(said);
  const named = await curl('/v1/messages', { messages, max_tokens: 12, stream: true }, '-N');
  expect(named).toMatch(/^event: message_start\ndata: \{.*\}\n\n[\s\S]*event: message_stop\ndata: .*\n\n$/);
  const ollama = await curl('/api/chat', { messages, options: { temperature: 0, num_predict: 12 } });
  const parts = ollama
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(parts.map(({ message }) => message.content).join('')).toBe(said);
  expect(parts.at(-1)).toMatchObject({ done: true, done_reason: 'length' });
});

test('a schema and tools by curl', async () => {
  const { curl } = await start();
  const schema = {
    type: 'object',
    properties: { age: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['age'],
  };
  const response_format = { type: 'json_schema', json_schema: { name: 'pet', schema } };
  const shaped = JSON.parse(await curl(chat, { messages, response_format, max_tokens: 60 }));
  expect(JSON.parse(shaped.choices[0].message.content)).toEqual({ age: expect.any(Number) });
  const tools = [{ type: 'function', function: { name: 'keep', parameters: schema } }];
  const called = JSON.parse(await curl(chat, { messages, tools, tool_choice: 'required', max_tokens: 80 }));
  const [{ function: made }] = called.choices[0].message.tool_calls;
  expect([made.name, JSON.parse(made.arguments)]).toEqual(['keep', { age: expect.any(Number) }]);
});

test('an abort of curl ends the answer; without a key it is told how to send one', async () => {
  const { address, host, curl } = await start();
  const phase = async () => (await host.handlers['engine.status'](undefined as never)).phase;
  const long = { messages: [{ role: 'user', content: repetitive }], frequency_penalty: circling.frequencyPenalty };
  const hangUp = new AbortController();
  const headers = ['-H', `x-api-key: ${KEY}`, '-H', 'Content-Type: application/json'];
  const { models } = JSON.parse((await run('curl', ['-sS', ...headers, `${address}/api/tags`])).stdout);
  const body = JSON.stringify({ ...long, model: models[0].name, temperature: 0, stream: true });
  const asked = run('curl', ['-sSN', ...headers, '-d', body, `${address}${chat}`], { signal: hangUp.signal });
  await expect.poll(phase, { timeout: 20_000, interval: 10 }).toBe('busy');
  hangUp.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(phase, { timeout: 3000, interval: 10 }).toBe('ready');
  const refused = await run('curl', ['-sS', '-i', `${address}/v1/models`]);
  expect(refused.stdout).toMatch(/^HTTP\/1\.1 401 /);
  expect(refused.stdout).toContain('Send it as \\"Authorization: Bearer KEY\\"');
  expect(JSON.parse(await curl(chat, { messages, max_tokens: 1 })).choices).toHaveLength(1);
});

test('thirty-two at once by curl: each has its own answer, whole', async () => {
  const { address, model } = await start();
  const headers = ['-H', `Authorization: Bearer ${KEY}`, '-H', 'Content-Type: application/json'];
  const asked = Array.from({ length: 32 }, (_, at) => {
    const body = {
      model,
      messages: [{ role: 'user', content: `My name is Anna${at}. Hi.` }],
      max_tokens: 4,
      user: `${at}`,
    };
    return [...(at > 0 ? ['--next'] : []), '-sS', ...headers, '-d', JSON.stringify(body), `${address}${chat}`];
  });
  const { stdout } = await run('curl', ['-Z', '--parallel-max', '32', '--parallel-immediate', ...asked.flat()]);
  const answers = stdout.split(/(?<=\})(?=\{"id")/).map((answer) => JSON.parse(answer));
  expect(answers).toHaveLength(32);
  expect(new Set(answers.map(({ id }) => id)).size).toBe(32);
  expect(answers.every(({ usage }) => usage.completion_tokens > 0)).toBe(true);
});
