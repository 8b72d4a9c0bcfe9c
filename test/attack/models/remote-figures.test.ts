import { createServer, type ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { listModels } from '../../../app/engine/remote/models.ts';
import type { TurnEvent } from '../../../app/protocol/index.ts';
import { delta, event, json, open, stream } from '../../support/fakes/foreign-engine.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';
import { askedOf, KEY, LONG, listening } from './remote-engine.ts';

//  Remote engines whose answers look right and are not: figures that no answer has, packed bodies that are larger than they say,
//  pieces of odd shapes, and lists of models with names that deceive.

vi.setConfig({ testTimeout: 180_000 });
const tally = tallyOf('remote');

const MAX_GROWTH = 400e6;
const MAX_TOKENS = 1e9;

type Says = (response: ServerResponse) => unknown;

async function engineOf(): Promise<{ address: string; says(next: Says): void }> {
  let answer: Says = () => {};
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    await answer(response);
  });
  return { address: await listening(server), says: (next) => (answer = next) };
}

const endsOf = (events: readonly TurnEvent[]) =>
  events.filter(({ type }) => type === 'failed' || type === 'finished') as Extract<
    TurnEvent,
    { type: 'failed' | 'finished' }
  >[];

/** Every number in the figures of an answer is one that can be shown and added up. */
function figuresAreSane(events: readonly TurnEvent[]): void {
  const [end, ...more] = endsOf(events);
  expect(more).toEqual([]);
  expect(end).toMatchObject({ type: 'finished' });
  const { usage, timings } = end as { usage: Record<string, unknown>; timings: Record<string, unknown> };
  for (const value of [...Object.values(usage), ...Object.values(timings)].filter((one) => typeof one === 'number')) {
    expect(value).toSatisfy((number: number) => Number.isFinite(number) && number >= 0 && number <= MAX_TOKENS);
  }
  expect(usage.cachedTokens).toBeLessThanOrEqual(usage.promptTokens as number);
  expect(JSON.stringify(events)).not.toContain(KEY);
}

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const whole = { prompt_tokens: 9, completion_tokens: 2 };
const FIGURES: Readonly<Record<string, unknown>> = {
  'negative ones': { prompt_tokens: -5, completion_tokens: -1 },
  'halves of tokens': { prompt_tokens: 1.5, completion_tokens: 0.5 },
  'more than there are atoms': { prompt_tokens: 1e308, completion_tokens: 1e308 },
  'numbers beyond safe ones': { prompt_tokens: 2 ** 53 + 2, completion_tokens: 2 ** 60 },
  'numbers as texts': { prompt_tokens: '9', completion_tokens: '__proto__' },
  'nothing for numbers': { prompt_tokens: null, completion_tokens: null },
  'lists for numbers': { prompt_tokens: [9], completion_tokens: nested(200) },
  'objects for numbers': { prompt_tokens: { valueOf: 1 }, completion_tokens: {} },
  'a text for all of them': 'many',
  'a list for all of them': [9, 2],
  'none in an object': {},
  'more cached than there were': { ...whole, prompt_tokens_details: { cached_tokens: 5000 } },
  'a negative number cached': { ...whole, prompt_tokens_details: { cached_tokens: -3 } },
  'a text for what was cached': { ...whole, prompt_tokens_details: 'all' },
  'more thinking than was written': { ...whole, completion_tokens_details: { reasoning_tokens: 90 } },
  'a negative thinking': { ...whole, completion_tokens_details: { reasoning_tokens: -9 } },
  'a list for the thinking': { ...whole, completion_tokens_details: [1] },
};

test('figures that no answer has are left out or brought within reason', async () => {
  const { address, says } = await engineOf();
  for (const [what, usage] of Object.entries(FIGURES)) {
    says((response) => stream(response, [{ content: 'Two words.' }], usage as object));
    await tally.refused(what, async () => {
      const events = await askedOf(address, LONG);
      if (typeof usage === 'object' && !Array.isArray(usage)) return figuresAreSane(events);
      expect(endsOf(events)).toHaveLength(1);
    });
  }
  await tally.refused('other figures with every piece', async () => {
    says((response) => {
      open(response);
      for (let i = 0; i < 2000; ++i)
        event(response, {
          choices: [{ delta: { content: 'a ' } }],
          usage: { prompt_tokens: i, completion_tokens: -i },
        });
      delta(response, {}, 'stop');
      event(response, '[DONE]');
      response.end();
    });
    figuresAreSane(await askedOf(address, LONG));
  });
  await tally.refused('figures behind the end', async () => {
    says((response) => {
      open(response);
      delta(response, { content: 'Done.' }, 'stop');
      event(response, '[DONE]');
      event(response, { choices: [], usage: { prompt_tokens: 1e300, completion_tokens: -1 } });
      response.end();
    });
    figuresAreSane(await askedOf(address, LONG));
  });
  tally.settle();
});

const BOMB = Buffer.alloc(512e6);
const packed = (encoding: string, body: Buffer, type = 'application/json'): Says => {
  return (response) => {
    response.writeHead(200, { 'content-type': type, 'content-encoding': encoding });
    response.end(body);
  };
};
const answer = JSON.stringify({ choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }] });
const PACKED: Readonly<Record<string, () => Says>> = {
  'half a gigabyte of zeros, gzipped': () => packed('gzip', gzipSync(BOMB)),
  'the same in a stream of events': () => packed('gzip', gzipSync(BOMB), 'text/event-stream'),
  'the same by brotli': () => packed('br', brotliCompressSync(BOMB)),
  'the same deflated': () => packed('deflate', deflateSync(BOMB)),
  'the same, gzipped twice': () => packed('gzip, gzip', gzipSync(gzipSync(BOMB))),
  'a body that is not packed at all': () => packed('gzip', Buffer.from(answer)),
  'a packed body that breaks off': () => packed('gzip', gzipSync(answer).subarray(0, 20)),
  'a hundred packings': () => packed(Array(100).fill('gzip').join(', '), gzipSync(answer)),
};

test('packed answers take no more than they may, and end in a sentence', async () => {
  const { address, says } = await engineOf();
  for (const [what, wrong] of Object.entries(PACKED)) {
    says(wrong());
    await tally.refused(what, async () => {
      const seen = observe();
      const events = await askedOf(address, LONG);
      expect(endsOf(events)).toMatchObject([
        { type: 'failed', failure: { details: { reason: expect.stringMatching(/^engine-/) } } },
      ]);
      expect(seen().grown).toBeLessThan(MAX_GROWTH);
    });
  }
  tally.settle();
});

const choice = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] });
const PIECES: Readonly<Record<string, unknown>> = {
  'a hundred thousand choices': { choices: Array(100_000).fill({ index: 0, delta: { content: 'a' } }) },
  'no choice': { choices: [] },
  'choices that are no list': { choices: { 0: { delta: { content: 'a' } } } },
  'a choice below nought': choice({ content: 'a' }, { index: -1 }),
  'a choice that is a number': { choices: [1] },
  'an end that is a book': choice({ content: 'a' }, { finish_reason: 'x'.repeat(500_000) }),
  'an end that is an object': choice({ content: 'a' }, { finish_reason: {} }),
  'half a character': choice({ content: '\ud83d' }),
  'signs that turn the text round': choice({ content: '\u202e\u2066\u0000\u001b[2J' }),
  'ten thousand thinkings, one in the other': choice({ content: '<think>'.repeat(10_000) }),
  'thinking that is a list': choice({ reasoning_content: ['a'] }),
  'a call before nought': choice({ tool_calls: [{ index: -1, function: { name: 'f', arguments: '{}' } }] }),
  'the millionth call': choice({ tool_calls: [{ index: 1e6, function: { name: 'f', arguments: '{}' } }] }),
  'a call named like a prototype': choice({
    tool_calls: [{ index: 0, function: { name: '__proto__', arguments: '{}' } }],
  }),
  'a call with a name of a megabyte': choice({
    tool_calls: [{ index: 0, function: { name: 'f'.repeat(1e6), arguments: '{}' } }],
  }),
  'arguments a thousand deep': choice({
    tool_calls: [{ index: 0, function: { name: 'f', arguments: '['.repeat(1000) + ']'.repeat(1000) } }],
  }),
};

test('pieces of odd shapes end the answer once, whatever they hold', async () => {
  const { address, says } = await engineOf();
  for (const [what, piece] of Object.entries(PIECES)) {
    says((response) => {
      open(response);
      event(response, piece);
      delta(response, {}, 'stop');
      event(response, '[DONE]');
      response.end();
    });
    await tally.refused(what, async () => {
      const seen = observe();
      const events = await askedOf(address, LONG);
      expect(endsOf(events)).toHaveLength(1);
      const [end] = endsOf(events);
      if (end?.type === 'failed')
        expect(end.failure.details).toMatchObject({ reason: expect.stringMatching(/^engine-/) });
      expect(JSON.stringify(events).length).toBeLessThan(4e6);
      expect(JSON.stringify(events)).not.toContain(KEY);
      expect(seen().grown).toBeLessThan(MAX_GROWTH);
    });
  }
  tally.settle();
});

const NAMES: Readonly<Record<string, string>> = {
  'a name that turns round': 'safe\u202ecod.exe',
  'a name in an isolate': 'a\u2066b\u2069',
  'a name with nothing to be seen in it': '\u200b\u200c\u2060',
  'a name with a line of its own': 'a\u2028b',
  'a name with a mark of an encoding': '\ufeffgpt',
  'a name with half a character': 'a\ud800',
  'a name with a tag from the end of Unicode': 'a\u{e0041}',
  'a name that orders a terminal about': '\u001b]0;owned\u0007',
  'a name that is empty space': '   ',
};

test('lists of models: names that deceive are left out, figures that are none are not taken', async () => {
  const { address, says } = await engineOf();
  const listed = () => listModels({ address, key: KEY, fetch }, new AbortController().signal, LONG);
  for (const [what, id] of Object.entries(NAMES)) {
    says((response) => json(response, { data: [{ id }, { id: 'good' }] }));
    await tally.refused(what, async () => expect((await listed()).map(({ model }) => model)).toEqual(['good']));
  }
  for (const [what, length] of Object.entries({
    'a context below nought': -1,
    'a context of nothing': 0,
    'a context without end': 1e300,
    'a context as a text': '8192',
    'half a token of context': 0.5,
  })) {
    says((response) => json(response, { data: [{ id: 'good', context_length: length }] }));
    await tally.refused(what, async () => expect((await listed())[0]?.contextLength).toBeNull());
  }
  await tally.refused('ten thousand models', async () => {
    says((response) => json(response, { data: Array.from({ length: 10_000 }, (_, at) => ({ id: `m${at}` })) }));
    expect((await listed()).length).toBeLessThanOrEqual(500);
  });
  tally.settle();
});
