import { expect, test, vi } from 'vitest';
import { KEY, startApi } from '../../app/server/api/api.ts';
import { soaking } from '../../support/soak.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Attacks by programs with a key through everything that constrains an answer: schemas, patterns, tools, stop strings, texts to continue, and
//  responses to continue. Each is refused with a message or answered, quickly and in bounded memory, and so is the next request.

vi.setConfig({ testTimeout: 300_000 });
const tally = tallyOf('api');

type Server = Awaited<ReturnType<typeof startApi>>;
const OTHER = 'lh-other-key';
const MAX_GROWTH_MB = 400;
/** Wall time, on a busy machine. */
const SOON_MS = 60_000;

async function ask(server: Server, path: string, body: unknown, key = KEY, method = 'POST') {
  const answer = await fetch(`${server.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(SOON_MS),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Asserts that the status is one of these, and that neither engine nor core grows much or stalls. */
async function bounded(server: Server, what: string, path: string, body: unknown, ...allowed: number[]) {
  await tally.refused(what, async () => {
    const before = observe()().reader;
    const seen = observe();
    const { status, text } = await ask(server, path, body);
    const { grown, reader } = seen();
    expect(allowed, text.slice(0, 300)).toContain(status);
    if (status >= 400) expect(JSON.parse(text)).toMatchObject({ error: { message: expect.stringMatching(/./) } });
    expect(grown / 2 ** 20, 'MB of the core').toBeLessThan(MAX_GROWTH_MB);
    expect((reader - before) / 2 ** 20, 'MB of the engine').toBeLessThan(MAX_GROWTH_MB);
  });
}

const many = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
const nested = (levels: number, around: (inner: object) => object): object =>
  many(levels, () => 0).reduce<object>(around, { type: 'string' });
/** Each refers to the next twice. */
const doubling = (around: (next: object) => object) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    many(40, (at) => [`d${at}`, at === 39 ? { type: 'string' } : around({ $ref: `#/$defs/d${at + 1}` })]),
  ),
});
const pattern = (text: string) => ({ type: 'string', pattern: text });

const SCHEMAS: Readonly<Record<string, object | boolean>> = {
  'objects, 200 deep': nested(200, (inner) => ({ type: 'object', properties: { a: inner } })),
  'lists, 200 deep': nested(200, (inner) => ({ type: 'array', items: inner })),
  'choices, 150 deep': nested(150, (inner) => ({ anyOf: [inner, { type: 'null' }] })),
  'objects that name the next twice': doubling((next) => ({ type: 'object', properties: { a: next, b: next } })),
  'choices that name the next twice': doubling((next) => ({ anyOf: [next, next] })),
  'exclusive choices that name the next twice': doubling((next) => ({ oneOf: [next, next] })),
  'all of the next twice': doubling((next) => ({ allOf: [next, next] })),
  'a circle of one': { $ref: '#' },
  'a circle of two': { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  'a circle in a choice': { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
  'a circle in all of': { allOf: [{ $ref: '#' }, { type: 'object' }] },
  'a list of itself that must not be empty': { type: 'array', items: { $ref: '#' }, minItems: 1 },
  'an object that needs itself': { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
  'a reference to nowhere': { $ref: '#/$defs/none' },
  'a reference to the web': { $ref: 'https://evil.example/schema.json' },
  'a reference to a file': { $ref: 'file:///etc/passwd' },
  'a reference to a prototype': { $ref: '#/__proto__/constructor' },
  'a reference of a thousand steps': { $ref: `#${'/a'.repeat(1000)}` },
  'groups that repeat repetitions': pattern('^(a+)+$'),
  'the same choice twice, repeated': pattern('^(a|a)*b$'),
  'a choice of choices': pattern('^((a|ab)(c|bcd)(d*))*$'),
  'counts of counts': pattern('^((a{0,1000}){0,1000}){0,1000}$'),
  'a count beyond all': pattern('^a{999999999}$'),
  'a class repeated ten thousand times': pattern('^[\\u0000-\\uffff]{0,10000}$'),
  'groups, 5,000 deep': pattern(`^${'('.repeat(5000)}a${')'.repeat(5000)}$`),
  'a choice of 20,000 letters': pattern(`^(${many(20_000, () => 'a').join('|')})$`),
  'a look ahead': pattern('^(?=(a+))\\1$'),
  'a pattern that does not end': pattern('^(a'),
  'a pattern of two megabytes': pattern(`^${'a?'.repeat(1_000_000)}$`),
  'names by a hostile pattern': { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } },
  'a choice of 150,000 words': { enum: many(150_000, (at) => `word ${at}`) },
  'a choice of 150,000 equal beginnings': { enum: many(150_000, (at) => `${'a'.repeat(30)}${at}`) },
  'a word of ten megabytes': { const: 'a'.repeat(10e6) },
  'ten megabytes of description': { type: 'string', description: 'a'.repeat(10e6) },
  '30,000 fields': {
    type: 'object',
    properties: Object.fromEntries(many(30_000, (at) => [`f${at}`, { type: 'string' }])),
  },
  '30,000 fields that must be there': {
    type: 'object',
    properties: Object.fromEntries(many(30_000, (at) => [`f${at}`, { type: 'string' }])),
    required: many(30_000, (at) => `f${at}`),
  },
  '2,000 choices that exclude each other': {
    oneOf: many(2000, (at) => ({ type: 'object', properties: { kind: { const: `${at}` } }, required: ['kind'] })),
  },
  '2,000 choices that do not': { oneOf: many(2000, () => ({ type: 'object', properties: { a: { type: 'string' } } })) },
  '20,000 choices': { anyOf: many(20_000, (at) => ({ type: 'array', minItems: at % 50, items: { const: at } })) },
  'a field of a name of a megabyte': { type: 'object', properties: { ['a'.repeat(1e6)]: { type: 'string' } } },
  'a field that is a prototype': JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as object,
  'a billion items': { type: 'array', items: { type: 'string' }, minItems: 1e9 },
  'lists of ten thousand lists of ten thousand': nested(5, (inner) => ({
    type: 'array',
    items: inner,
    minItems: 10_000,
    maxItems: 10_000,
  })),
  'a length beyond all numbers': { type: 'string', maxLength: 1e300 },
  'a length below none': { type: 'string', minLength: -1 },
  'numbers between the ends of all': { type: 'number', minimum: -1e308, maximum: 1e308 },
  'a whole number of 300 digits': { type: 'integer', minimum: 1e300, maximum: 1.1e300 },
  'a bound that is a word': { type: 'integer', minimum: 'abc' },
  'a kind that is none': { type: 'password' },
  'a kind that is a number': { type: 5 },
  'nothing at all': false,
};

test('schemas and patterns that are deep, round, large or mean', async () => {
  const server = await startApi();
  const chat = (more: object) => ({
    model: server.model,
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 3,
    ...more,
  });
  await ask(server, '/v1/chat/completions', chat({}));
  const places: [string, (schema: object | boolean) => [path: string, body: object]][] = [
    [
      'chat',
      (schema) => ['/v1/chat/completions', chat({ response_format: { type: 'json_schema', json_schema: { schema } } })],
    ],
    [
      'response',
      (schema) => [
        '/v1/responses',
        { model: server.model, input: 'Hi', max_output_tokens: 3, text: { format: { type: 'json_schema', schema } } },
      ],
    ],
    [
      'tool',
      (parameters) => [
        '/v1/chat/completions',
        chat({ tool_choice: 'required', tools: [{ type: 'function', function: { name: 'f', parameters } }] }),
      ],
    ],
  ];
  for (const [at, [name, schema]] of Object.entries(SCHEMAS).entries()) {
    for (const [where, place] of soaking ? places : places.slice(at % places.length).slice(0, 1)) {
      const [path, body] = place(schema);
      await bounded(server, `${where}: ${name}`, path, body, 200, 400, 413);
    }
  }
  tally.settle();
  expect((await ask(server, '/v1/chat/completions', chat({}))).status).toBe(200);
});

test('a text to go on with: how many, how long, how likely, and where to stop', async () => {
  const server = await startApi();
  const text = (more: object) => ({ model: server.model, prompt: 'Hi', max_tokens: 1, ...more });
  await ask(server, '/v1/completions', text({}));
  for (const [name, more] of Object.entries<object>({
    '17 texts': { n: 17 },
    'a billion texts': { n: 1e9 },
    'no text': { n: 0 },
    'half a text': { n: 0.5 },
    '17 prompts': { prompt: many(17, () => 'a') },
    'four texts of five prompts': { n: 4, prompt: many(5, () => 'a') },
    'a prompt that is a number': { prompt: 5 },
    'prompts that are numbers': { prompt: [[1, 2, 3]] },
    'no prompt in a list': { prompt: [] },
    'the best of a billion': { best_of: 1e9 },
    '21 alternatives': { logprobs: 21 },
    'a billion alternatives': { logprobs: 1e9 },
    'alternatives below none': { logprobs: -1 },
    'alternatives that are a word': { logprobs: 'all' },
    'a likelihood of what was said': { logprobs: 1, echo: true },
    '17 stops': { stop: many(17, (at) => `${at}`) },
    'stops without end': { stop: many(100_000, (at) => `${at}`) },
    'a stop that is a number': { stop: 5 },
    'a bias beyond all': { logit_bias: { 5: 1e300 } },
    'a bias of what is no token': { logit_bias: { word: 1 } },
    'a bias of a token below none': { logit_bias: { '-1': 1 } },
    'a bias of a token beyond all': { logit_bias: { [2 ** 53]: 1 } },
    'a bias of a hundred thousand tokens': { logit_bias: Object.fromEntries(many(100_000, (at) => [at, 1])) },
    'a bias that is a list': { logit_bias: [5, 100] },
    'a trillion tokens': { max_tokens: 1e12 },
    'less than no token': { max_tokens: -1 },
    'a token and a half': { max_tokens: 1.5 },
    'a temperature beyond all': { temperature: 1e300 },
    'a share above all': { top_p: 2 },
  })) {
    await bounded(server, name, '/v1/completions', text(more), 400);
  }
  for (const [name, more] of Object.entries<object>({
    'eight megabytes': { prompt: 'word and word '.repeat(600_000) },
    '16 prompts of half a megabyte': { prompt: many(16, (at) => `${at} `.repeat(150_000)) },
    'a gap before eight megabytes': { suffix: 'x'.repeat(8e6) },
  })) {
    await bounded(server, name, '/v1/completions', text(more), 400, 413);
  }
  for (const [name, more] of Object.entries<object>({
    'a stop of ten megabytes': { stop: 'x'.repeat(10e6) },
    '16 stops of half a megabyte': { stop: many(16, () => 'ab'.repeat(250_000)) },
    'every bias that may be, of tokens that do not exist': {
      logit_bias: Object.fromEntries(many(1024, (at) => [999_999_999 - at, at % 2 ? 100 : -100])),
    },
    'empty stops': { stop: many(16, () => '') },
    'a seed beyond all numbers': { seed: 2 ** 53 - 1 },
    'a seed below none': { seed: -(2 ** 53) + 1 },
    'control characters': { prompt: '\u0000\u001b]0;x\u0007<|im_end|>\ud800' },
  })) {
    await bounded(server, name, '/v1/completions', text({ ...more, max_tokens: 4 }), 200, 400);
  }
  tally.settle();
  expect((await ask(server, '/v1/completions', text({}))).status).toBe(200);
});

test('responses belong to the key that they were asked for with', async () => {
  const server = await startApi({ keys: [KEY, OTHER] });
  const input = 'The word is heron.';
  const body = { model: server.model, input, max_output_tokens: 2 };
  const { id } = JSON.parse((await ask(server, '/v1/responses', body)).text) as { id: string };
  const next = { ...body, previous_response_id: id };
  for (const [name, path, method, sent] of [
    ['read with another key', `/v1/responses/${id}`, 'GET', null],
    ['read with another key, as a stream', `/v1/responses/${id}?stream=true`, 'GET', null],
    ['removed with another key', `/v1/responses/${id}`, 'DELETE', null],
    ['gone on from with another key', '/v1/responses', 'POST', next],
    ['gone on from with another key, as a stream', '/v1/responses', 'POST', { ...next, stream: true }],
  ] as const) {
    await tally.refused(name, async () => {
      const { status, text } = await ask(server, path, sent, OTHER, method);
      expect(status).toBe(404);
      expect(text).not.toContain('heron');
      // The same message as for a response that never existed.
      const unknown = await ask(
        server,
        path.replace(id, 'resp_0'),
        sent && { ...sent, previous_response_id: 'resp_0' },
        OTHER,
        method,
      );
      expect(text.replaceAll(id, 'resp_0')).toBe(unknown.text);
    });
  }
  expect((await ask(server, `/v1/responses/${id}`, null, KEY, 'GET')).status).toBe(200);
  expect((await ask(server, '/v1/responses', next)).status).toBe(200);
  for (const [name, named] of Object.entries({
    'a prototype': '__proto__',
    'a path': '..%2f..%2fetc%2fpasswd',
    'a half of it': id.slice(0, -1),
    'capitals of it': id.toUpperCase(),
    'a star': '*',
    'a long one': 'r'.repeat(5000),
  })) {
    await tally.refused(`a response by the name of ${name}`, async () => {
      for (const method of ['GET', 'DELETE']) {
        const { status, text } = await ask(server, `/v1/responses/${named}`, null, KEY, method);
        expect([400, 404]).toContain(status);
        expect(text).not.toContain('heron');
      }
      const asked = await ask(server, '/v1/responses', { ...body, previous_response_id: named });
      expect([400, 404]).toContain(asked.status);
    });
  }
  for (const [name, more] of Object.entries<object>({
    'a response without input': { input: undefined },
    'an item of an unknown kind': { input: [{ type: 'computer_call' }] },
    'an item that is null': { input: [null] },
    'a result of pictures': {
      input: [
        {
          type: 'function_call_output',
          call_id: 'a',
          output: [{ type: 'input_image', image_url: 'file:///etc/passwd' }],
        },
      ],
    },
    'a picture of the web': {
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'http://127.0.0.1/x.png' }] }],
    },
    '21 alternatives': { top_logprobs: 21 },
    'a tool of the web': { tools: [{ type: 'web_search' }] },
    'a server of tools': { tools: [{ type: 'mcp', server_url: 'http://evil.example' }] },
    '129 tools': { tools: many(129, (at) => ({ type: 'function', name: `f${at}` })) },
    'in the background': { background: true },
    'a conversation': { conversation: 'c' },
    'a prompt that is stored': { prompt: { id: 'p' } },
    'a trillion tokens': { max_output_tokens: 1e12 },
    'a note of a megabyte': { metadata: { a: 'x'.repeat(1e6) } },
    'a call by a name of a megabyte': {
      input: [{ type: 'function_call', call_id: 'a', name: 'x'.repeat(1e6), arguments: '{}' }],
    },
    'arguments, 600 deep': { input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '['.repeat(600) }] },
  })) {
    await bounded(server, name, '/v1/responses', { ...body, ...more }, 400, 413);
  }
  await bounded(
    server,
    '60,000 items',
    '/v1/responses',
    { ...body, input: many(60_000, (at) => ({ role: at % 2 ? 'assistant' : 'user', content: 'a' })) },
    400,
    413,
  );
  tally.settle();
  expect((await ask(server, '/v1/responses', body)).status).toBe(200);
});
