// What other programs get of a model: names, answers, counts and vectors, from an engine that follows a script.
import { expect, test, vi } from 'vitest';
import {
  type AnswerPart,
  type AnswerRequest,
  createInference,
  type InferenceOptions,
} from '../../../app/core/inference.ts';
import { builtInModels, servedModels } from '../../../app/core/served-models.ts';
import type { Generation, TurnUpdate } from '../../../app/engine/ipc-protocol.ts';
import {
  defaultSettings,
  type ModelEntry,
  type ModelId,
  type Settings,
  type TurnId,
} from '../../../app/protocol/index.ts';
import { plainRequest } from '../../support/core/scripted-inference.ts';

const entry = (name: string, more: object = {}): ModelEntry =>
  ({
    id: `id-${name.toLowerCase()}`,
    name,
    path: `/models/${name}`,
    builtIn: false,
    missing: false,
    remote: null,
    description: null,
    thinking: { able: true, byDefault: true },
    ...more,
  }) as ModelEntry;
const described = (more: object) => ({ description: { supported: true, encoder: false, reranker: false, ...more } });

const usage = { promptTokens: 40, cachedTokens: 8, thinkingTokens: 5, answerTokens: 3 };
const timings = { firstTokenMs: 5, prefillMs: 4, decodeMs: 8, thinkingMs: 0, totalMs: 13, tokensPerSecond: 90 };
const finished = (reason: 'stop' | 'length' = 'stop') => ({ type: 'finished', reason, usage, timings });
const delta = (text: string, kind = 'answer') => ({ type: 'delta', kind, text, tokens: 1 });
const HERMES = 'tools <tool_call>';

const request = (more: Partial<AnswerRequest> = {}) => plainRequest({ model: 'tiny', ...more });
const look = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object' } },
} as AnswerRequest['tools'][0];

function start({
  events = [finished()] as object[],
  own = HERMES as string | null,
  settings = {} as Partial<Settings>,
} = {}) {
  const done: unknown[] = [];
  const asks: [string, unknown][] = [];
  const generated: Generation[] = [];
  let status: object = { phase: 'idle' };
  const target = { modelId: null as string | null };
  const reading = Promise.withResolvers<void>();
  let tell = (_: TurnUpdate[]) => {};
  const engine = {
    status: () => status,
    target: () => target.modelId && target,
    async load({ modelId }: { modelId: string }) {
      await reading.promise;
      done.push(`loaded ${modelId}`);
    },
    async unload() {
      await reading.promise;
      done.push('unloaded');
    },
    generate(generation: Generation, onUpdates: (updates: TurnUpdate[]) => void) {
      generated.push(generation);
      tell = onUpdates;
      onUpdates(events.map((event) => ('event' in event ? event : { event }) as TurnUpdate));
    },
    cancel: (turnId: string) => void done.push(`cancelled ${turnId}`),
    async ask(name: string, input: { texts: string[]; text: string }) {
      asks.push([name, input]);
      if (name === 'embed') return { vectors: input.texts.slice(0, 50).map(({ length }) => Float32Array.of(length)) };
      if (name === 'rank') return { scores: input.texts.map((text) => Number(text)) };
      if (name === 'countText') return input.text.length;
      if (name === 'preview') return { own };
      if (name === 'template') return own;
      if (name === 'inspect') return { thinking: { able: false } };
      return 11;
    },
  };
  const models = [
    entry('Tiny'),
    entry('acme/Tiny'),
    entry('Gone', { missing: true }),
    entry('Cloud', { remote: {} }),
    entry('Broken', described({ supported: false })),
    entry('New', { thinking: null }),
    entry('Meaning', described({ encoder: true })),
    entry('Order', described({ encoder: true, reranker: true })),
  ];
  const targetOf = (modelId: string) => ({ modelId, path: `/${modelId}`, template: null });
  const inference = createInference({
    engine,
    library: {
      list: async () => models,
      look: async (id: string) => {
        await Promise.resolve();
        done.push(`looked at ${id}`);
      },
      target: (id: string) => {
        done.push(`target of ${id}`);
        return { target: targetOf(id), sampling: { topK: 20, temperature: 0.5 } };
      },
      embedder: (id: string, kind: string) => ({ target: { path: `/${id} as ${kind}` }, name: '' }),
      thinksByDefault: (id: string) => id === 'id-new',
      used: (id: string) => void done.push(`used ${id}`),
    },
    builtIn: builtInModels('/resources'),
    keepAlive: { keepFor: (ms: number | null) => void done.push(`kept for ${ms}`), expiresAt: () => 99 },
    settings: () => ({ ...defaultSettings, ...settings }),
    newTurnId: () => 'turn' as TurnId,
    pictures: { measure: async ({ bytes }: { bytes: Uint8Array }) => ({ width: bytes.length, height: 2 }) },
    report: (error: unknown) => void done.push(`reported ${error}`),
  } as unknown as InferenceOptions);
  return {
    inference,
    done,
    asks,
    generated,
    engine,
    target,
    say: (...more: object[]) => tell(more.map((event) => ({ event }) as TurnUpdate)),
    now: (next: object) => (status = next),
    goOn: () => reading.resolve(),
    async parts(more: Partial<AnswerRequest> = {}) {
      const parts: AnswerPart[] = [];
      for await (const part of inference.answer(request(more), new AbortController().signal)) parts.push(part);
      return parts;
    },
  };
}

test('models have names that fit into an address; of two alike the later has a number; what cannot serve is left out', async () => {
  const served = await start().inference.models();
  expect(served.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
    'tiny chat',
    'tiny-2 chat',
    'new chat',
    'meaning encoder',
    'order ranker',
    'all-minilm-l6-v2 encoder',
    'longhand-reader ranker',
  ]);
  const named = ['A b/C  d!', '--', '模型 7B', 'a-b', 'x/A-B'].map((name) => entry(name));
  expect(servedModels(named, []).map(({ id }) => id)).toEqual(['c-d', 'model', '模型-7b', 'a-b', 'a-b-2']);
});

test('a model that is asked for by a wrong name, or for what it cannot do, is refused with the names there are', async () => {
  const { inference, parts } = start();
  const signal = new AbortController().signal;
  await expect(parts({ model: 'huge' })).rejects.toMatchObject({
    code: 'model-missing',
    message: '[model] "huge" is not here; expected one of tiny, tiny-2, new',
  });
  await expect(parts({ model: 'meaning' })).rejects.toMatchObject({
    code: 'model-unsupported',
    message: '[model] "meaning" reads text and writes none; expected one of tiny, tiny-2, new',
  });
  await expect(inference.embed('tiny', [], 'query', signal)).rejects.toThrow(
    '[model] "tiny" gives no vectors; expected one of meaning, all-minilm-l6-v2',
  );
  await expect(inference.rank('tiny', 'why?', [], signal)).rejects.toThrow(
    '[model] "tiny" ranks no texts; expected one of order, longhand-reader',
  );
  for (const model of ['TINY', 'tiny:latest', 'id-tiny', 'acme/TINY']) expect(await parts({ model })).toHaveLength(1);
});

test('an answer: what is read, its texts and how it ended, with the settings of the app, the model and the request', async () => {
  const thinkingBudget = { tokens: 100, seconds: 9 };
  const { parts, generated, done } = start({
    events: [
      { type: 'started', model: 'id-tiny', backEnd: 'cpu' },
      { type: 'progress', done: 1, total: 40, cached: 8 },
      { type: 'progress', done: 40, total: 40, cached: 8 },
      delta('Hm.', 'thinking'),
      { event: delta('Yes'), scores: ['a', 'b'] },
      { event: delta('.'), scores: [] },
      { event: finished(), stop: 'END', scores: ['c'] },
    ],
    settings: { thinkingBudget, sampling: { temperature: 0.9, topP: 0.7, topK: 5 }, thinkingByDefault: null },
  });
  const pictures = [Uint8Array.of(1, 2, 3)];
  const messages = [{ role: 'user' as const, text: 'Hello', thinking: '', pictures }];
  expect(await parts({ messages, sampling: { temperature: 0 }, keepMs: 5000 })).toEqual([
    { type: 'prompt', tokens: 40, cached: 8 },
    { type: 'text', kind: 'thinking', text: 'Hm.' },
    { type: 'text', kind: 'answer', text: 'Yes', scores: ['a', 'b'] },
    { type: 'text', kind: 'answer', text: '.' },
    { type: 'text', kind: 'answer', text: '', scores: ['c'] },
    { type: 'end', reason: 'stop', stop: 'END', usage, timings },
  ]);
  expect(done).toEqual(['looked at id-tiny', 'target of id-tiny', 'used id-tiny', 'kept for 5000']);
  const source = { bytes: pictures[0] };
  const shown = [{ source, width: 3, height: 2, detail: defaultSettings.pictureDetail }];
  expect(generated[0]).toMatchObject({
    turnId: 'turn',
    priority: 'server',
    prompt: { messages: [{ text: 'Hello', ids: null, pictures: shown }], thinking: false },
    sampling: { temperature: 0, topP: 0.7, topK: 20 },
    grammar: null,
    logprobs: null,
    bias: null,
    thinkingBudget,
    loopGuard: null,
  });
  expect(generated[0]?.prompt).not.toHaveProperty('raw');

  const more = {
    thinking: true,
    logprobs: 2,
    bias: { tokens: [1], values: [-5] },
    grammar: { kind: 'regex' as const, text: 'a' },
  };
  const raw = { text: 'Once', suffix: null };
  await parts({ ...more, thinkingTokens: 7, model: 'new', raw });
  const { thinking, ...handed } = more;
  expect(generated[1]).toMatchObject({
    ...handed,
    thinkingBudget: { tokens: 7, seconds: null },
    prompt: { thinking, raw },
  });
  expect(generated[1]?.prompt.messages[0]).not.toHaveProperty('pictures');
});

test('whether it thinks: as asked, else as in Settings, else as the model does', async () => {
  const thinks = async (thinkingByDefault: boolean | null, thinking: boolean | null, model = 'new') => {
    const { parts, generated } = start({ settings: { thinkingByDefault } });
    await parts({ thinking, model });
    return generated[0]?.prompt.thinking;
  };
  expect(await Promise.all([thinks(null, null), thinks(null, null, 'tiny')])).toEqual([true, false]);
  expect(await Promise.all([thinks(false, null), thinks(true, false), thinks(false, true)])).toEqual([
    false,
    false,
    true,
  ]);
});

test('calls: whole or in pieces, numbered, held back from the text, and the answer then ends with them', async () => {
  const words = [delta('Look: <tool_call>{"name":"lo'), delta('ok","arguments":{"at":1}}</tool_call>')];
  const called = { id: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: 'look' };
  const whole = start({ events: [...words, finished()] });
  expect(await whole.parts({ tools: [look] })).toEqual([
    { type: 'text', kind: 'answer', text: expect.stringMatching(/^Look:/) },
    { type: 'call', ...called, arguments: '{"at":1}' },
    expect.objectContaining({ type: 'end', reason: 'tool' }),
  ]);
  const cut = start({ events: [...words, finished('length')] });
  expect((await cut.parts({ tools: [look] })).at(-1)).toMatchObject({ type: 'end', reason: 'length' });
  const pieces = await whole.parts({ tools: [look], callsInPieces: true });
  expect(pieces.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])).toEqual([
    'text',
    'call-begin',
    'call-arguments',
    'call-end',
    'end',
  ]);
  expect(pieces.flatMap((part) => (part.type === 'call-arguments' ? part.text : [])).join('')).toBe('{"at":1}');
  const none = start({ own: 'no such thing' });
  await expect(none.parts({ tools: [look] })).rejects.toThrow(
    '[tools] this model’s chat template does not support tools',
  );
  expect(none.generated).toEqual([]);
  // Without tools nobody has to know how the model calls them.
  expect([await none.parts(), none.asks]).toEqual([[expect.anything()], [expect.anything()]]);
});

test('an answer is cancelled when its reader leaves, its client hangs up or had done so before, and never after its end', async () => {
  const ended = start();
  await ended.parts();
  expect(ended.done.filter((one) => one === 'cancelled turn')).toEqual([]);

  const left = start({ events: [delta('Yes')] });
  for await (const _ of left.inference.answer(request(), new AbortController().signal)) break;
  expect(left.done.at(-1)).toBe('cancelled turn');

  for (const before of [true, false]) {
    const hung = start({ events: [] });
    const client = new AbortController();
    if (before) client.abort();
    const next = hung.inference.answer(request(), client.signal).next();
    await vi.waitUntil(() => hung.generated.length > 0);
    client.abort();
    expect(hung.done.at(-1)).toBe('cancelled turn');
    hung.say(finished());
    await next;
    expect(hung.done.join()).not.toContain('reported');
  }

  const failed = start({ events: [{ type: 'failed', failure: { code: 'engine-lost', message: '[engine] ended' } }] });
  await expect(failed.parts()).rejects.toMatchObject({ code: 'engine-lost', message: '[engine] ended' });
  expect(failed.done).not.toContain('cancelled turn');
});

test('a model is loaded or unloaded before that is answered, kept as long as asked, and no other is unloaded', async () => {
  const { inference, done, target, goOn } = start();
  const loading = inference.load('tiny', 0).then(() => done.push('answered'));
  await new Promise(setImmediate);
  expect(done).toEqual(['looked at id-tiny', 'target of id-tiny']);
  goOn();
  await loading;
  expect(done.splice(0).slice(2)).toEqual(['loaded id-tiny', 'kept for 0', 'answered']);
  await inference.load('tiny', undefined);
  expect(done.splice(0).slice(2)).toEqual(['loaded id-tiny']);
  target.modelId = 'id-new';
  await inference.unload('tiny');
  expect(done.splice(0).slice(2)).toEqual([]);
  target.modelId = 'id-tiny';
  const slow = start();
  slow.target.modelId = 'id-tiny';
  const unloading = slow.inference.unload('tiny').then(() => slow.done.push('answered'));
  await new Promise(setImmediate);
  slow.goOn();
  await unloading;
  expect(slow.done.slice(2)).toEqual(['unloaded', 'answered']);
});

test('what is in memory is said while it is ready and while it writes', async () => {
  const { inference, now } = start();
  const facts = { modelId: 'id-tiny' as ModelId, memoryBytes: 5, contextLength: 6 };
  expect(await inference.inMemory()).toBeNull();
  for (const phase of ['ready', 'busy']) {
    now({ phase, ...facts });
    const model = expect.objectContaining({ id: 'tiny' });
    expect(await inference.inMemory()).toEqual({ model, bytes: 5, contextLength: 6, expiresAt: 99 });
  }
  now({ phase: 'loading', ...facts });
  expect(await inference.inMemory()).toBeNull();
  now({ phase: 'ready', ...facts, modelId: 'id-removed' });
  expect(await inference.inMemory()).toBeNull();
});

test('what a model can do and how long a prompt is', async () => {
  const { inference, asks } = start();
  expect(await inference.abilities('tiny')).toEqual({ tools: true, thinking: true });
  expect(await inference.abilities('new')).toEqual({ tools: true, thinking: false });
  expect(await start({ own: null }).inference.abilities('tiny')).toEqual({ tools: false, thinking: true });
  expect(await inference.count(request())).toBe(11);
  expect(asks.at(-1)).toMatchObject([
    'count',
    { model: { path: '/id-tiny' }, prompt: { messages: [{ text: 'Hello' }] } },
  ]);
});

test('texts are turned into vectors by the model that was named, and their tokens counted', async () => {
  const { inference, asks } = start();
  const signal = new AbortController().signal;
  const { vectors, tokens } = await inference.embed('meaning', ['a', 'bcd'], 'passage', signal);
  expect([vectors.map(([first]) => first), tokens]).toEqual([[1, 3], 4]);
  expect(asks[0]?.[1]).toMatchObject({ target: { path: '/id-meaning as encoder' }, kind: 'passage', urgent: true });
  await inference.embed('all-minilm-l6-v2', ['x'], 'query', signal);
  expect(asks.at(-2)).toMatchObject([
    'embed',
    { target: { path: '/resources/encoder', threads: null }, kind: 'query' },
  ]);
});

test('texts are ranked from 0 to 1, and the question is counted once for each', async () => {
  const { inference, asks } = start();
  const { scores, tokens } = await inference.rank(
    'longhand-reader',
    'why?',
    ['0', '-100', '100'],
    new AbortController().signal,
  );
  expect(scores).toEqual([0.5, expect.closeTo(0), 1]);
  expect(tokens).toBe(4 * 3 + 1 + 4 + 3);
  expect(asks[0]?.[1]).toMatchObject({
    target: { path: '/resources/encoder', adapter: '/resources/reader' },
    query: 'why?',
  });
});
