// The list of what other programs asked: what a row says at every step, how long it stays, and who is told.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AnswerPart, AnswerRequest, Inference } from '../../../app/core/inference.ts';
import { createRequestLog, digestOf, retention } from '../../../app/core/server-log.ts';
import { LonghandError, type ServerRequest } from '../../../app/protocol/index.ts';
import { plainRequest, says } from '../../support/core/scripted-inference.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  // The app has been open for a while.
  vi.advanceTimersByTime(60_000);
});
afterEach(() => void vi.useRealTimers());

const usage = { promptTokens: 40, cachedTokens: 8, thinkingTokens: 5, answerTokens: 3 };
const timings = { firstTokenMs: 5, prefillMs: 4, decodeMs: 8, thinkingMs: 0, totalMs: 13, tokensPerSecond: 90 };
const end = (reason: 'stop' | 'cancelled' = 'stop', more: object = {}): AnswerPart =>
  ({ type: 'end', reason, stop: null, usage: { ...usage, ...more }, timings }) as AnswerPart;
const request = (words: string, more: Partial<AnswerRequest> = {}) =>
  plainRequest({ model: 'starter', messages: [{ role: 'user', text: words, thinking: '' }], ...more });

const key = (name: string) => ({ id: `id of ${name}`, name, digest: digestOf(name) });

/** A log in front of a model that writes these parts, one every 100 ms. */
function logOf(parts: readonly (AnswerPart | Error)[] = [end()], inspecting = false) {
  const told: ServerRequest[][] = [];
  const signals: AbortSignal[] = [];
  let read: unknown[] = [];
  const inference = {
    async *answer(_, signal) {
      signals.push(signal);
      for (const part of parts) {
        await vi.advanceTimersByTimeAsync(100);
        if (signal.aborted) return yield end('cancelled');
        if (part instanceof Error) throw part;
        yield part;
      }
    },
    async embed(...asked) {
      read = asked.slice(0, 3);
      signals.push(asked[3]);
      return { vectors: [], tokens: 7 };
    },
    async rank(...asked) {
      read = asked.slice(0, 3);
      return { scores: [], tokens: 9 };
    },
  } as Partial<Inference> as Inference;
  const log = createRequestLog({
    inference,
    inspecting: () => inspecting,
    changed: (rows) => told.push(rows),
    now: () => 1000 + told.length,
    report: (error) => {
      throw error;
    },
  });
  /** A request that asks the model, and hears it to its end. */
  const asked = (words: string, more: Partial<AnswerRequest> = {}, status = 200, name: string | null = 'Editor') =>
    log.follow({ method: 'POST', path: '/v1/chat', key: name === null ? null : key(name) }, async () => {
      const signal = new AbortController().signal;
      for await (const _ of log.inference.answer(request(words, more), signal));
      return status;
    });
  const first = () => log.list()[0] as ServerRequest;
  return { log, told, signals, asked, first, read: () => read };
}

test('a row follows its answer: how much is read, when the first word came, how much is written, how it ended', async () => {
  const parts = [
    { type: 'prompt', tokens: 40, cached: 4 } as const,
    says('Hm.', 'thinking'),
    says('Yes'),
    end('stop', { differs: { token: 12, text: 'secret' }, miss: { reason: 'evicted', tokens: 3 } }),
  ];
  const { log, first, told } = logOf(parts);
  const states: Partial<ServerRequest>[] = [];
  await log.follow({ method: 'POST', path: '/v1/chat', key: key('Editor') }, async () => {
    states.push(first());
    for await (const _ of log.inference.answer(request('Hello'), new AbortController().signal)) states.push(first());
    states.push(first());
    return 200;
  });
  const row = { id: '1', at: 1000, method: 'POST', path: '/v1/chat', client: 'Editor', reason: null, inspected: false };
  const open = { ...row, model: 'starter', state: 'running', status: null, totalMs: null, differsAt: null, miss: null };
  const read = { ...open, promptTokens: 40, cachedTokens: 4 };
  expect(states).toEqual([
    { ...open, model: null, promptTokens: null, cachedTokens: null, writtenTokens: null, firstMs: null },
    { ...read, writtenTokens: null, firstMs: null },
    { ...read, writtenTokens: 1, firstMs: 200 },
    { ...read, writtenTokens: 2, firstMs: 200 },
    { ...read, cachedTokens: 8, differsAt: 12, miss: expect.anything(), writtenTokens: 8, firstMs: 200 },
    { ...read, cachedTokens: 8, differsAt: 12, miss: expect.anything(), writtenTokens: 8, firstMs: 200 },
  ]);
  expect(first()).toMatchObject({ state: 'done', status: 200, totalMs: 400, firstMs: 200, writtenTokens: 8 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.at(-1)).toEqual(log.list());
  expect(JSON.stringify(told)).not.toContain('secret');
  expect(log.texts('1')).toBeNull();
});

test('whoever watches is told at once, then at most every quarter of a second, and nothing after the end', async () => {
  const { log, told } = logOf();
  const refuse = () => log.refused({ status: 401, reason: 'no key', method: 'GET', path: '/v1/models' });
  refuse();
  expect(told).toHaveLength(1);
  for (let more = 0; more < 5; more++) refuse();
  await vi.advanceTimersByTimeAsync(249);
  expect(told).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(told.map(({ length }) => length)).toEqual([1, 6]);
  await vi.advanceTimersByTimeAsync(250);
  refuse();
  expect(told.map(({ length }) => length)).toEqual([1, 6, 7]);
  refuse();
  log.close();
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toHaveLength(3);
});

test('how a request ended: done, failed by its status or its model, stopped by its client', async () => {
  const plain = logOf();
  await plain.log.follow({ method: 'GET', path: '/v1/models', key: null }, async () => 399);
  expect(plain.first()).toMatchObject({ state: 'done', status: 399, client: null, model: null });
  await plain.log.follow({ method: 'GET', path: '/v1/models', key: null }, async () => 400);
  expect(plain.first()).toMatchObject({ state: 'failed', status: 400 });
  const thrown = plain.log.follow({ method: 'GET', path: '/', key: null }, async () => {
    throw new Error('no');
  });
  await expect(thrown).rejects.toThrow('no');
  expect(plain.first()).toMatchObject({ state: 'failed', status: null, totalMs: 0 });

  const failing = logOf([says('Yes'), new LonghandError('engine-lost', '[engine] ended')]);
  await expect(failing.asked('Hello')).rejects.toThrow('[engine] ended');
  expect(failing.first()).toMatchObject({ state: 'failed', reason: '[engine] ended', totalMs: 200 });

  const cancelled = logOf([says('Yes'), end('cancelled')]);
  await cancelled.asked('Hello');
  expect(cancelled.first()).toMatchObject({ state: 'stopped', status: 200 });

  const left = logOf([says('Yes'), says(' it is'), end()]);
  await left.log.follow({ method: 'POST', path: '/v1/chat', key: null }, async () => {
    for await (const _ of left.log.inference.answer(request('Hello'), new AbortController().signal)) break;
    return 200;
  });
  expect(left.first()).toMatchObject({ state: 'stopped', writtenTokens: 1, totalMs: 100 });
});

test('a response that streams on after its handler is over is running until its answer ends', async () => {
  const { log, told, first } = logOf([says('Yes'), end()]);
  const { promise: read, resolve: done } = Promise.withResolvers<void>();
  await log.follow({ method: 'POST', path: '/v1/chat', key: null }, async () => {
    const answer = log.inference.answer(request('Hello'), new AbortController().signal);
    void (async () => {
      for await (const _ of answer);
      done();
    })();
    return 200;
  });
  expect(first()).toMatchObject({ state: 'running', status: 200, totalMs: null });
  log.clear();
  expect(log.list()).toHaveLength(1);
  await read;
  expect(first()).toMatchObject({ state: 'done', totalMs: 200, differsAt: null, miss: null });
  await vi.advanceTimersByTimeAsync(500);
  log.clear();
  expect([log.list(), told.at(-1)]).toEqual([[], []]);
});

test('stopped from the page: the row that was chosen, or all of a key, and what is done stays done', async () => {
  const { log, signals, asked } = logOf([says('Yes'), says(' it'), end()]);
  await asked('Earlier');
  const running = ['A', 'B', 'A'].map((name) => asked(name, {}, 200, name));
  log.stop('3');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true, false]);
  log.stopKey('id of A');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true, true]);
  expect(log.list().map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped', 'done']);
  await Promise.all(running);
  expect(log.list().map(({ state, status }) => [state, status])).toEqual([
    ['stopped', 200],
    ['stopped', 200],
    ['stopped', 200],
    ['done', 200],
  ]);
});

test('a request stopped from the page is stopped, not failed, when its model says so by an error', async () => {
  const { log, asked, first } = logOf([says('Yes'), new Error('ended')]);
  const answer = asked('Hello');
  await Promise.resolve();
  const own = log.list()[0]?.id ?? '';
  // The model fails by itself just after.
  log.stop(own);
  await answer.catch(() => {});
  expect(first().state).toBe('stopped');
});

test('texts that are read or ranked: their model and their tokens, and the signal of the page beside that of the client', async () => {
  const { log, first, read, signals } = logOf();
  const client = new AbortController();
  await log.inference.embed('encoder', ['one'], 'query', client.signal);
  expect((await log.inference.answer(request('Hello'), client.signal).next()).value).toEqual(end());
  expect([log.list(), read()]).toEqual([[], ['encoder', ['one'], 'query']]);
  await log.follow({ method: 'POST', path: '/v1/embeddings', key: null }, async () => {
    await log.inference.embed('encoder', ['one', 'two'], 'passage', client.signal);
    expect(read()).toEqual(['encoder', ['one', 'two'], 'passage']);
    log.stop('1');
    return 200;
  });
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true]);
  expect(first()).toMatchObject({ model: 'encoder', promptTokens: 7, state: 'stopped', writtenTokens: null });
  await log.follow({ method: 'POST', path: '/v1/rerank', key: null }, async () => {
    await log.inference.rank('reader', 'why?', ['one'], client.signal);
    return 200;
  });
  expect(read()).toEqual(['reader', 'why?', ['one']]);
  expect(first()).toMatchObject({ model: 'reader', promptTokens: 9, state: 'done' });
});

test('of each kind only the newest stay; what runs stays however much comes after it', async () => {
  const { log } = logOf();
  let finish = (_: number) => {};
  const oldest = log.follow(
    { method: 'GET', path: '/oldest', key: null },
    () => new Promise((done) => (finish = done)),
  );
  const ask = (path: string) => log.follow({ method: 'GET', path, key: null }, async () => 200);
  for (let at = 0; at < retention.answered; at++) await ask(`/${at}`);
  expect(log.list()).toHaveLength(retention.answered + 1);
  for (let at = 0; at <= retention.refused; at++)
    log.refused({ status: 401, reason: `reason ${at}`, method: 'GET', path: '/refused' });
  const refused = log.list().filter(({ state }) => state === 'refused');
  expect(refused).toHaveLength(retention.refused);
  expect(refused[0]).toMatchObject({ status: 401, reason: 'reason 50', client: null, totalMs: 0 });
  await ask('/last');
  await ask('/later');
  const done = log.list().filter(({ state }) => state === 'done');
  // The newest is counted when it is done.
  expect(done).toHaveLength(retention.answered + 1);
  expect([done[0]?.path, done.at(-1)?.path]).toEqual(['/later', '/1']);
  expect(log.list().at(-1)).toMatchObject({ path: '/oldest', state: 'running' });
  finish(200);
  await oldest;
});

test('the inspector shows what was asked and said, up to its limit, and what differs from the request before', async () => {
  const parts: AnswerPart[] = [
    says('Hm.', 'thinking'),
    says('Yes'),
    says(' it is'),
    { type: 'call', id: '1', name: 'look', arguments: '{"at":1}' },
    { type: 'call-begin', id: '2', name: 'find' },
    { type: 'call-arguments', text: '{}' },
    { type: 'call-end', cut: false },
    end(),
  ];
  const { log, asked, first } = logOf(parts, true);
  const tools = [{ type: 'function', function: { name: 'look' } }] as AnswerRequest['tools'];
  await asked('Is it 9?', { tools });
  expect(first().inspected).toBe(true);
  expect(log.texts('1')).toEqual({
    asked: [
      { role: 'tools', text: '{"name":"look"}' },
      { role: 'user', text: 'Is it 9?' },
    ],
    difference: null,
    thinking: 'Hm.',
    answer: 'Yes it is',
    calls: 'look {"at":1}\nfind {}\n',
  });
  await asked('Is it 8?', { model: 'other', tools });
  expect(log.texts('2')?.difference).toBeNull();
  await asked('Is it 7?', { tools });
  expect(log.texts('3')?.difference).toEqual({ role: 'user', before: '', was: 'Is it 9?', now: 'Is it 7?' });
  await asked('', { raw: { text: 'Once' } as NonNullable<AnswerRequest['raw']>, messages: [] });
  expect(log.texts('4')?.asked).toEqual([{ role: 'prompt', text: 'Once' }]);

  const half = 'x'.repeat(retention.characters - 1);
  const messages = [half, 'yyy', 'zzz'].map((words) => ({ role: 'user' as const, text: words, thinking: '' }));
  await asked('', { messages });
  expect(log.texts('5')?.asked.map(({ text: shown }) => shown)).toEqual([half, 'y', '']);

  for (let at = 0; at < retention.texts; at++) await asked('Again');
  expect(log.list().filter(({ inspected }) => inspected)).toHaveLength(retention.texts);
  expect([log.texts('5'), log.texts('6')?.asked[0]?.text, log.texts('none')]).toEqual([null, 'Again', null]);
  log.forgetTexts();
  expect(log.list().filter(({ inspected }) => inspected)).toEqual([]);
  expect(log.texts('25')).toBeNull();
});

test('of an answer without end the inspector keeps the beginning', async () => {
  const { log, asked } = logOf([says('a'.repeat(retention.characters - 1)), says('bcd'), end()], true);
  await asked('Go on');
  expect(log.texts('1')?.answer).toHaveLength(retention.characters);
  expect(log.texts('1')?.answer.at(-1)).toBe('b');
});
