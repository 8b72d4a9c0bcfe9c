// What `longhand docs ask` prints while an answer comes and after it, from a core that follows a script.
import { expect, test } from 'vitest';
import { ask } from '../../../../../app/cli/commands/docs/docs-ask.ts';
import type { Context } from '../../../../../app/cli/runtime/command.ts';
import { createTerminal } from '../../../../../app/cli/runtime/terminal.ts';
import type { Client } from '../../../../../app/protocol/index.ts';

const passage = 'The lease is long. The rent is 840 euros.';
const source = (number: number, name: string, line: number) => ({
  number,
  name,
  text: passage,
  location: { kind: 'line', line },
});
const grounding = (found: boolean, more: object = {}) => ({
  found,
  sources: [source(1, 'lease.md', 3), source(2, 'old.md', 8)],
  support: [],
  quote: { source: 1, start: 19, end: 41, location: { kind: 'line', line: 4 } },
  ...more,
});
const said = (text: string) => ({ type: 'delta', kind: 'answer', text });
const thought = { type: 'delta', kind: 'thinking', text: 'Hm.' };
const finished = { type: 'finished', reason: 'stop' };
const done = { status: 'done', reason: 'stop' };

type Script = { events?: object[]; message?: object | null; during?: () => void; sent?: object };

async function asked(
  { events = [finished], message = {}, during = () => {}, sent = { turnId: 't' } }: Script,
  values: object = {},
  json = false,
  stop = new AbortController(),
) {
  const calls: [string, unknown][] = [];
  let hear = (_: object) => {};
  const answers: Record<string, (input: never) => unknown> = {
    'documents.collections': () => [
      { id: 'c', name: 'Documents' },
      { id: 'm', name: 'Manual', builtIn: true },
    ],
    'documents.ask': () => message,
    'models.list': () => [{ id: 'id-tiny', name: 'tiny', path: '/tiny' }],
    'chats.create': () => ({ id: 'chat' }),
    'turns.send'() {
      setTimeout(() => {
        hear({ chatId: 'other', event: said('of another chat') });
        hear({ chatId: 'other', event: finished });
        for (const event of events.slice(0, -1)) hear({ chatId: 'chat', event });
        during();
        hear({ chatId: 'chat', event: events.at(-1) });
      });
      return { messageId: 'answer', ...sent };
    },
    'chats.get': () => ({
      messages: [
        { id: 'question', text: 'Rent?' },
        ...(message ? [{ id: 'answer', text: '', grounding: null, state: done, loops: [], ...message }] : []),
      ],
    }),
  };
  const client = {
    async call(name: string, input: never) {
      calls.push([name, input]);
      if (name === 'chats.delete' || name === 'chats.update') {
        await new Promise(setImmediate);
        calls.push([name === 'chats.delete' ? 'chat is gone' : 'chat is set', null]);
      }
      return answers[name]?.(input);
    },
    on(_: string, listener: (event: object) => void) {
      hear = listener;
      return () => {
        hear = () => calls.push(['heard after the end', null]);
      };
    },
  } as unknown as Client;
  const printed = { out: '', note: '' };
  const stream = (name: 'out' | 'note') => ({ isTTY: false, write: (text: string) => (printed[name] += text) });
  const terminal = createTerminal(stream('out'), stream('note'), {});
  const context = { terminal, json, signal: stop.signal } as Context;
  const code = await ask(context, client, values, ['What', 'rent?']).catch((error) => error);
  hear({ chatId: 'chat', event: finished });
  return { code, calls, ...printed, names: calls.map(([name]) => name) };
}

test('an answer streams, without its thinking, then its quote, what it cites, and what is not fully supported', async () => {
  const support = ['supported', 'weak', 'none'].map((level) => ({ level }));
  const own = grounding(true, { support });
  const { code, out, note, calls, names } = await asked({
    events: [{ type: 'grounding', grounding: own }, thought, said('It is 840 '), said('euros [2].'), finished],
    message: { text: 'It is 840 euros [2].', grounding: own },
  });
  expect(code).toBe(0);
  expect(out).toBe('It is 840 euros [2].\n\n“The rent is 840 euros.”\n  lease.md, line 4\n');
  expect(note).toBe('Cited:\n  [2] old.md, line 8\n2 of 3 sentences are not fully supported\n');
  expect(calls.slice(1, 5)).toEqual([
    ['chats.create', { modelId: null }],
    ['chats.update', { chatId: 'chat', sampling: { temperature: 0 }, collectionIds: ['c'] }],
    ['chat is set', null],
    ['turns.send', { chatId: 'chat', text: 'What rent?', unattended: true }],
  ]);
  expect(names.slice(-2)).toEqual(['chat is gone', 'heard after the end']);
});

test('words are held back while they may only deny what the quote says, and are printed once they say more', async () => {
  const own = grounding(true);
  const start = { type: 'grounding', grounding: own };
  const denial = 'I could not find that in your documents.';
  const denied = await asked({ events: [start, said(denial), finished], message: { text: denial, grounding: own } });
  expect(denied.out).toBe('\n\n“The rent is 840 euros.”\n  lease.md, line 4\n');
  expect(denied.note).toBe('');
  const long = `${denial} ${'But there is a rent. '.repeat(7)}`;
  const more = await asked({
    events: [start, said(denial), said(long.slice(denial.length)), said('End.'), finished],
    message: { text: `${long}End.`, grounding: own },
  });
  expect(more.out.startsWith(`${long}End.\n`)).toBe(true);
  // Nothing is held back where there is no quote that could stand alone.
  const free = await asked({ events: [said(denial), finished], message: { text: denial } });
  expect(free).toMatchObject({ out: `${denial}\n`, note: '', code: 1 });
});

test('where nothing was found the closest is shown as such, with all its passages', async () => {
  const own = grounding(false, { quote: { ...grounding(true).quote, alsoIn: ['a.md', 'b.md'] } });
  const { code, out, note } = await asked({ message: { text: 'I could not find that.', grounding: own } });
  expect(code).toBe(1);
  expect(out).toBe('\n\nClosest: “The rent is 840 euros.”\n  lease.md, line 4; also in: a.md, b.md\n');
  expect(note).toBe('Closest passages:\n  [1] lease.md, line 3\n  [2] old.md, line 8\n');
});

test('an answer that repeated itself says so, and JSON says what repeated', async () => {
  const state = { status: 'done', reason: 'loop' };
  const script = {
    message: { text: 'So so', state, loops: [{ copies: 3 }, { copies: 9 }], grounding: grounding(true) },
  };
  expect((await asked(script)).note).toMatch(/^stopped: the answer was repeating itself\n$/);
  const { out } = await asked(script, {}, true);
  expect(JSON.parse(out)).toMatchObject({
    answer: 'So so',
    finish_reason: 'loop',
    loop: { copies: 9 },
    found: true,
    quote: { text: 'The rent is 840 euros.', where: 'lease.md, line 4', source: 1 },
  });
  const plain = await asked({ message: { text: 'Yes', state: { status: 'stopped' } } }, {}, true);
  expect(JSON.parse(plain.out)).toEqual({ answer: 'Yes', finish_reason: null, loop: null, found: false, quote: null });
});

test('the model, the temperature and the seed that were asked for', async () => {
  const { calls } = await asked({}, { model: 'tiny', temperature: 0.7, seed: 3 });
  expect(calls.slice(2, 4)).toEqual([
    ['chats.create', { modelId: 'id-tiny' }],
    ['chats.update', expect.objectContaining({ sampling: { temperature: 0.7, seed: 3 } })],
  ]);
  const none = await asked({}, { model: 'huge' });
  expect(none.code).toMatchObject({ code: 'not-found', message: '[docs] no model "huge"; models: tiny' });
  const nowhere = await asked({}, { collection: 'Elsewhere' });
  expect(nowhere.code).toMatchObject({ message: '[docs] no collection "Elsewhere"; collections: Documents, Manual' });
  expect((await asked({}, { collection: 'm' })).calls[2]?.[1]).toMatchObject({ collectionIds: ['m'] });
});

test('what failed is told, what was removed too, and the chat is gone each time', async () => {
  const failure = { code: 'context-full', message: '[context] too long' };
  const failed = await asked({
    events: [{ type: 'failed', failure }],
    message: { state: { status: 'failed', failure } },
  });
  expect(failed.code).toMatchObject(failure);
  const removed = await asked({ message: null });
  expect(removed.code).toMatchObject({ code: 'internal', message: '[docs] the answer has been removed' });
  for (const { names } of [failed, removed]) expect(names.slice(-2)).toEqual(['chat is gone', 'heard after the end']);
});

test('Ctrl-C cancels the answer, before or while it comes, and the chat is gone', async () => {
  for (const before of [true, false]) {
    const stop = new AbortController();
    if (before) stop.abort();
    const { code, calls, names } = await asked({ during: () => stop.abort() }, {}, false, stop);
    expect(code).toMatchObject({ code: 'cancelled', message: '[docs] stopped' });
    expect(calls.find(([name]) => name === 'turns.cancel')).toEqual(['turns.cancel', { turnId: 't' }]);
    expect(names.filter((name) => name === 'turns.cancel')).toHaveLength(1);
    expect(names).toContain('chat is gone');
  }
  // One that waits in a queue, or was answered without a model, has no turn.
  const stop = new AbortController();
  const { names } = await asked({ during: () => stop.abort(), sent: { turnId: null } }, {}, false, stop);
  expect(names).not.toContain('turns.cancel');
  // After its end there is nothing to cancel.
  const late = new AbortController();
  const ended = await asked({}, {}, false, late);
  late.abort();
  expect(ended.calls.map(([name]) => name)).not.toContain('turns.cancel');
});

test('without a model: the quote and its sources alone, and no chat', async () => {
  const found = await asked({ message: grounding(true) }, { 'no-model': true });
  expect(found).toMatchObject({ code: 0, out: '\n“The rent is 840 euros.”\n  lease.md, line 4\n' });
  expect(found.note).toBe('Sources:\n  [1] lease.md, line 3\n  [2] old.md, line 8\n');
  expect(found.calls[1]).toEqual(['documents.ask', { question: 'What rent?', collectionIds: ['c'] }]);
  expect(found.names).not.toContain('chats.create');
  const { out } = await asked({ message: grounding(true) }, { 'no-model': true }, true);
  const quote = { text: 'The rent is 840 euros.', where: 'lease.md, line 4', source: 1 };
  expect(JSON.parse(out)).toMatchObject({ found: true, sources: [{ number: 1 }, { number: 2 }], quote });
  const closest = await asked({ message: grounding(false) }, { 'no-model': true });
  expect(closest).toMatchObject({ code: 1, note: expect.stringMatching(/^Closest passages:\n/) });
  const nothing = await asked({ message: grounding(false, { quote: null, sources: [] }) }, { 'no-model': true });
  expect(nothing).toMatchObject({ code: 1, out: '', note: '' });
  for (const flag of ['model', 'temperature', 'seed']) {
    const { code } = await asked({}, { 'no-model': true, [flag]: 1 });
    expect(code.message).toBe(`[docs] --no-model cannot be combined with --${flag}`);
  }
});
