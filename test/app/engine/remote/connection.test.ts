// Requests to a remote engine: what is sent, what is waited for, and how its words of refusal are read.
import { expect, test } from 'vitest';
import { askAnswer, askList, DONE, messageIn, saidIn } from '../../../../app/engine/remote/connection.ts';
import { listModels } from '../../../../app/engine/remote/models.ts';
import { eventsIn, MAX_EVENT } from '../../../../app/engine/remote/sse.ts';
import { createTags } from '../../../../app/engine/remote/tags.ts';

const timeouts = { listMs: 5000, firstMs: 5000, silenceMs: 5000 };
const never = new AbortController().signal;

function engine(...answers: (() => Response)[]) {
  const sent: { url: string; init: RequestInit }[] = [];
  const reach = {
    address: 'http://lab:8000/v1',
    key: 'sk-0123456789' as string | null,
    fetch: (async (url: string, init: RequestInit) => {
      sent.push({ url, init });
      return (answers[sent.length - 1] ?? answers.at(-1))?.();
    }) as unknown as typeof fetch,
  };
  return { reach, sent };
}
const json = (value: unknown, init?: ResponseInit) => () => Response.json(value, init);
const stream = (text: string) => () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const answerOf = async ({ reach }: ReturnType<typeof engine>) => {
  const events: unknown[] = [];
  for await (const event of askAnswer(reach, { q: 1 }, never, timeouts)) events.push(event);
  return events;
};

test('a question carries the key and its body, a list only the key, and neither follows another address', async () => {
  const asked = engine(stream('data: {"a":1}\n\ndata: [DONE]\n\ndata: {"b":2}\n\n'));
  expect(await answerOf(asked)).toEqual([{ a: 1 }, DONE]);
  expect(asked.sent[0]).toMatchObject({
    url: 'http://lab:8000/v1/chat/completions',
    init: {
      method: 'POST',
      body: '{"q":1}',
      redirect: 'manual',
      credentials: 'omit',
      headers: {
        accept: 'text/event-stream, application/json',
        authorization: 'Bearer sk-0123456789',
        'content-type': 'application/json',
      },
    },
  });
  const listed = engine(json({ data: [] }));
  listed.reach.key = null;
  expect(await askList(listed.reach, '/models', never, timeouts)).toEqual({ data: [] });
  expect(listed.sent[0]?.init).toMatchObject({ method: 'GET', headers: { accept: 'application/json' } });
  expect(listed.sent[0]?.init.headers).not.toHaveProperty('authorization');
  expect(listed.sent[0]?.init.headers).not.toHaveProperty('content-type');
  expect(listed.sent[0]?.init).not.toHaveProperty('body');
  // One that does not stream answers at once.
  expect(await answerOf(engine(json({ choices: [] })))).toEqual([{ choices: [] }]);
});

test('an engine that says nothing is given up, and how long it had is told', async () => {
  const silent = ((_: string, { signal }: RequestInit) =>
    new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    )) as unknown as typeof fetch;
  const reach = { address: 'http://lab/v1', key: null, fetch: silent };
  await expect(askList(reach, '/models', never, { ...timeouts, listMs: 20 })).rejects.toThrow(
    '[remote] lab: nothing came for 0.02 s',
  );
});

const busy = (retryAfter: string | null) =>
  json({ error: 'full' }, { status: 429, ...(retryAfter !== null && { headers: { 'retry-after': retryAfter } }) });

test('a busy engine is asked three times at most, and only if it will be free soon; a list is asked once', async () => {
  const never0 = engine(busy('0'));
  await expect(answerOf(never0)).rejects.toMatchObject({
    details: { reason: 'engine-busy', seconds: 0, said: 'full' },
  });
  expect(never0.sent).toHaveLength(3);
  const soon = engine(busy('0'), stream('data: {"a":1}\n\n'));
  expect(await answerOf(soon)).toEqual([{ a: 1 }]);
  for (const [header, seconds] of [
    ['31', 31],
    ['30.2', 31],
    ['100000', 86_400],
    [new Date(Date.now() + 3_600_000).toUTCString(), expect.closeTo(3600, -1)],
    ['tomorrow', undefined],
    [null, undefined],
  ] as const) {
    const late = engine(busy(header));
    const error = await answerOf(late).catch((thrown) => thrown);
    expect([header, error.details.seconds]).toEqual([header, seconds]);
    expect(late.sent).toHaveLength(1);
  }
  const list = engine(busy('0'));
  await expect(askList(list.reach, '/models', never, timeouts)).rejects.toThrow('status 429');
  expect(list.sent).toHaveLength(1);
  const past = engine(busy(new Date(Date.now() - 3_600_000).toUTCString()), json({ a: 1 }));
  expect(await answerOf(past)).toEqual([{ a: 1 }]);
});

test('where it would lead is told by its host', async () => {
  const to = async (location: string | null) => {
    const headers = location === null ? {} : { location };
    const redirects = engine(() => new Response(null, { status: 307, headers }));
    return answerOf(redirects).catch((error) => error);
  };
  const error = await to('https://elsewhere.example/v1');
  expect(error.details).toMatchObject({ reason: 'engine-redirect', to: 'elsewhere.example' });
  expect(error.message).toBe('[remote] lab:8000: status 307, to elsewhere.example; redirects are not followed');
  expect((await to('/other')).details.to).toBe('lab:8000');
  expect((await to('http://')).message).toContain('to nowhere');
});

test.each([
  ['{"error":{"message":"no","code":"x1"}}', 'no (x1)'],
  ['{"error":{"message":"no x1","code":"x1"}}', 'no x1'],
  ['{"error":"no"}', 'no'],
  ['{"detail":"no"}', 'no'],
  ['{"detail":[{"loc":"a"}]}', '[{"loc":"a"}]'],
  ['{"message":"no"}', 'no'],
  ['{"error":null,"message":"no"}', 'no'],
  ['{"detail":""}', ''],
  ['{"detail":5}', '5'],
  ['{"code":5}', ''],
  ['plain words', 'plain words'],
  [' <html>no</html>', ''],
  ['[]', ''],
  ['', ''],
])('of %s the words are: %s', (text, said) => {
  expect(saidIn(text)).toBe(said);
});

test('a value without words has none', () => {
  expect([null, 5, {}, { error: {} }].map(messageIn)).toEqual([null, null, null, null]);
});

async function* pieces(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text);
}
async function eventsOf(...texts: string[]) {
  const events: string[] = [];
  for await (const event of eventsIn(pieces(...texts), () => new Error('too much'))) events.push(event);
  return events;
}

test('events, however their lines end and wherever they are cut', async () => {
  expect(await eventsOf('data: a\n\ndata:b\r\n\r\ndata:  c\r\rdata: d')).toEqual(['a', 'b', ' c', 'd']);
  expect(await eventsOf('da', 'ta: a\r', '\ndata: b\r', '\n\r\n', ': note\n\nevent: x\ndata: c\n')).toEqual([
    'a\nb',
    'c',
  ]);
  expect(await eventsOf('data: a\n', 'data: b')).toEqual(['a\nb']);
  expect(await eventsOf('\n\n: only a note\n\n', 'rest')).toEqual([]);
});

test('an event may be four million characters long, in one line or several; each begins anew', async () => {
  const line = (length: number) => `data: ${'x'.repeat(length)}\n`;
  expect((await eventsOf(`${line(MAX_EVENT)}\n`, `${line(MAX_EVENT)}\n`)).map(({ length }) => length)).toEqual([
    MAX_EVENT,
    MAX_EVENT,
  ]);
  await expect(eventsOf(line(MAX_EVENT + 1))).rejects.toThrow('too much');
  await expect(eventsOf(line(MAX_EVENT / 2), line(MAX_EVENT / 2 + 1))).rejects.toThrow('too much');
  expect(await eventsOf('x'.repeat(MAX_EVENT))).toEqual([]);
  await expect(eventsOf('x'.repeat(MAX_EVENT + 1))).rejects.toThrow('too much');
});

test('what servers say of their models, in their own words', async () => {
  const entry = (more: object) => ({ id: 'm', ...more });
  const of = async (more: object) => {
    const [model] = await listModels(engine(json({ data: [entry(more)] })).reach, never, timeouts);
    return model;
  };
  const told = { model: 'm', contextLength: null, pictures: null };
  expect(await of({})).toEqual(told);
  for (const [more, contextLength] of [
    [{ max_model_len: 4096 }, 4096],
    [{ loaded_context_length: 1024, max_model_len: 4096 }, 1024],
    [{ context_length: 0, context_window: 8192 }, 8192],
    [{ max_context_length: 1e9 }, 1e9],
    [{ max_context_length: 1e9 + 1 }, null],
    [{ meta: { n_ctx: 512, n_ctx_train: 4096 } }, 512],
    [{ meta: { n_ctx_train: 1 } }, 1],
    [{ context_length: '4096' }, null],
    [{ context_length: 10.5 }, null],
  ] as const)
    expect([more, (await of(more))?.contextLength]).toEqual([more, contextLength]);
  for (const [more, pictures] of [
    [{ type: 'vlm' }, true],
    [{ type: 'llm' }, null],
    [{ input_modalities: ['text', 'image'] }, true],
    [{ input_modalities: ['text'], capabilities: ['vision'] }, false],
    [{ architecture: { input_modalities: ['image'] } }, true],
    [{ capabilities: ['completion', 'multimodal'] }, true],
    [{ capabilities: ['vision'] }, true],
    [{ capabilities: ['completion'] }, null],
  ] as const)
    expect([more, (await of(more))?.pictures]).toEqual([more, pictures]);
  for (const more of [{ kind: 'encoder' }, { type: 'embeddings' }, { type: 'embedding' }, { type: 'rerank' }])
    expect(await of(more)).toBeUndefined();
  expect(await of({ id: 'x'.repeat(300) })).toMatchObject({ model: 'x'.repeat(300) });
  expect(await of({ id: 'x'.repeat(301) })).toBeUndefined();
});

test('a list is read from either field, each model once and five hundred at most', async () => {
  const listOf = async (value: unknown) =>
    (await listModels(engine(json(value)).reach, never, timeouts)).map(({ model }) => model);
  expect(await listOf({ models: [{ name: 'a' }, { id: 'b', name: 'c' }, null, 5, [], { id: 5 }] })).toEqual(['a', 'b']);
  expect(await listOf({ data: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] })).toEqual(['a', 'b']);
  expect(await listOf({ data: Array.from({ length: 501 }, (_, at) => ({ id: `m${at}` })) })).toHaveLength(500);
  await expect(listOf({ data: {} })).rejects.toThrow('[remote] lab:8000: its list of models has no "data"');
  await expect(listOf([])).rejects.toThrow('has no "data"');
});

test('an end tag alone makes thinking of what came before, but not in code, nor after long text', () => {
  const thinking = (text: string) => ({ kind: 'thinking', text });
  const open = createTags();
  open.push('Let me see.');
  const { recast, parts } = open.push(' So. </think>Four.');
  expect(recast).toBe(true);
  expect(parts[0]).toEqual(thinking('Let me see. So.'));
  expect([...parts.slice(1), ...open.flush()].map((part) => part.text).join('')).toContain('Four.');
  expect(open.push('</think> again').recast).toBe(false);
  const fenced = createTags();
  expect(fenced.push('Write `</think>` there').recast).toBe(false);
  expect(fenced.push('</think>').recast).toBe(false);
  const long = (length: number) => {
    const tags = createTags();
    tags.push('x'.repeat(length));
    return tags.push('</think>Four.').recast;
  };
  expect([long(199_000), long(200_001)]).toEqual([true, false]);
});
