import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { AnswerRequest, Inference } from '../../../../app/core/inference.ts';
import { allOrNone, createAnswers, maxRequests } from '../../../../app/server/api/answers.ts';
import { plainRequest } from '../../../support/core/scripted-inference.ts';
import { KEY, startApi } from './api.ts';

//  Several answers of one request, through the official client and the built-in model.

const messages = [{ role: 'user' as const, content: 'Tell me about the sea.' }];

async function start() {
  const { address, model } = await startApi();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  return { openai, asked: { model, messages, temperature: 2, seed: 5, max_tokens: 8 } };
}

test('they are numbered and differ; the same seed writes all of them again, and the question counts once', async () => {
  const { openai, asked } = await start();
  const { choices, usage } = await openai.chat.completions.create({ ...asked, n: 3 });
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
  const texts = choices.map(({ message }) => message.content ?? '');
  expect(new Set(texts).size).toBe(3);
  const alone = await openai.chat.completions.create(asked);
  expect(alone.choices[0]?.message.content).toBe(texts[0]);
  expect(usage?.prompt_tokens).toBe(alone.usage?.prompt_tokens);
  expect(usage?.completion_tokens).toBe(24);
  const second = await openai.chat.completions.create({ ...asked, seed: 6 });
  expect(second.choices[0]?.message.content).toBe(texts[1]);
});

test('streamed, each piece names its answer, each answer ends once, and the usage comes last', async () => {
  const { openai, asked } = await start();
  const whole = await openai.chat.completions.create({ ...asked, n: 2 });
  const options = { n: 2, stream: true as const, stream_options: { include_usage: true } };
  const texts = ['', ''];
  const roles: number[] = [];
  const ended: number[] = [];
  let last: OpenAI.ChatCompletionChunk | null = null;
  for await (const chunk of await openai.chat.completions.create({ ...asked, ...options })) {
    for (const { index, delta, finish_reason } of chunk.choices) {
      texts[index] += delta.content ?? '';
      if (delta.role) roles.push(index);
      if (finish_reason) ended.push(index);
    }
    last = chunk;
  }
  expect(texts).toEqual(whole.choices.map(({ message }) => message.content));
  expect(roles).toEqual([0, 1]);
  expect(ended.sort()).toEqual([0, 1]);
  // How much of the prompt was known, and what of it was read again, differs: the same was asked before.
  const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details } = whole.usage ?? {};
  expect(last?.usage).toMatchObject({ prompt_tokens, completion_tokens, total_tokens, completion_tokens_details });
});

test('a request whose later answers find no room gives its places back, and so does one that is never begun', async () => {
  const started: (() => void)[] = [];
  const answers = createAnswers({
    async *answer() {
      await new Promise<void>((resolve) => started.push(resolve));
    },
  });
  const { signal } = new AbortController();
  const request = {} as Parameters<typeof answers.parts>[0];
  const make = () => answers.parts(request, signal);
  for (let i = 0; i < maxRequests; i++) await make().return();
  const running = Array.from({ length: maxRequests }, () => make().next());
  await expect(make().next()).rejects.toThrow(`${maxRequests} requests wait already`);
  for (const end of started.splice(0)) end();
  await Promise.all(running);
  const again = make().next();
  expect(started).toHaveLength(1);
  started[0]?.();
  expect((await again).done).toBe(true);
});

/** Answers that end when they are told to; one that is given up takes a while to stop, as an engine does. */
function heldAnswers() {
  const waiting: (() => void)[] = [];
  const usage = { promptTokens: 1, cachedTokens: 0, thinkingTokens: 0, answerTokens: 0 };
  const inference = {
    async *answer(_: unknown, signal: AbortSignal) {
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), 300), { once: true });
      });
      yield { type: 'end', reason: 'stop', stop: null, usage, timings: { totalMs: 0, prefillMs: 0, decodeMs: 0 } };
    },
  } as unknown as Inference;
  return { waiting, inference };
}

test.each([
  ['/v1/chat/completions', { messages }],
  ['/v1/completions', { prompt: 'The sea' }],
])(
  '%s: of several answers one finds no room: that is said at once, and the place of the other is free by then',
  async (path, asked) => {
    const { waiting, inference } = heldAnswers();
    const { address } = await startApi({ inference });
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const ask = (more: object = {}) =>
      fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify({ model: 'm', ...asked, ...more }) });
    const before = Array.from({ length: maxRequests - 1 }, () => ask());
    await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(maxRequests - 1);
    for (const stream of [false, true]) {
      const begun = waiting.length;
      expect((await ask({ n: 2, stream })).status).toBe(429);
      expect(waiting.length).toBe(begun + 1);
    }
    const last = ask();
    await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(maxRequests + 2);
    for (const end of waiting) end();
    expect((await Promise.all([...before, last])).map(({ status }) => status)).toEqual(
      before.concat(last).map(() => 200),
    );
  },
);

test('when too many wait, every dialect says when to come again, and a client that comes again is answered', async () => {
  const { waiting, inference } = heldAnswers();
  const { address } = await startApi({ inference });
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'm', messages, max_tokens: 1, input: 'Hi' });
  const ask = (path: string) => fetch(`${address}${path}`, { method: 'POST', headers, body });
  const asked = Array.from({ length: maxRequests }, () => ask('/v1/chat/completions'));
  await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(maxRequests);
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/api/chat']) {
    const { status, headers: told } = await ask(path);
    expect([path, status, told.get('retry-after')]).toEqual([path, 429, '2']);
  }
  const patient = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 1 });
  const answer = patient.chat.completions.create({ model: 'm', messages });
  setTimeout(() => {
    for (const end of waiting.splice(0)) end();
  }, 300);
  expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true);
  await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(1);
  waiting[0]?.();
  expect((await answer).choices).toHaveLength(1);
});

test('a failure of one of several is told once the others have given up their places', async () => {
  const done: string[] = [];
  const hungUp = new AbortController();
  const answers = {
    whole: async ({ model }: AnswerRequest, signal: AbortSignal) => {
      if (model === 'bad') throw new Error('no room');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise((resolve) => setTimeout(resolve, 30));
      done.push(model);
      throw new Error('cancelled');
    },
  } as unknown as Parameters<typeof allOrNone>[1];
  const requests = ['one', 'bad', 'two'].map((model) => plainRequest({ model }));
  await expect(allOrNone(requests, answers, hungUp)).rejects.toThrow('no room');
  expect(done).toEqual(['one', 'two']);
});
