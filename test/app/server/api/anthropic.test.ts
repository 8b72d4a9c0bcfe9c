// What Anthropic's API asks of the engine, and every event of what it answers.
import { expect, test } from 'vitest';
import type { AnswerPart } from '../../../../app/core/inference.ts';
import { LonghandError } from '../../../../app/protocol/index.ts';
import { createAnswers } from '../../../../app/server/api/answers.ts';
import { anthropic } from '../../../../app/server/api/anthropic.ts';
import { end, plainRequest, post, says, scriptedInference } from '../../../support/core/scripted-inference.ts';

function served(script: Parameters<typeof scriptedInference>[0] = [says('Hi'), end()]) {
  const scripted = scriptedInference(script);
  const app = anthropic(scripted.inference, createAnswers(scripted.inference));
  const ask = async (body: unknown, path = '/') => {
    const answer = await app.request(path, post(body));
    return { status: answer.status, text: await answer.text() };
  };
  const json = async (body: unknown, path?: string) => JSON.parse((await ask(body, path)).text);
  return { ...scripted, ask, json };
}
const question = { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };
const bare = { name: 'bare', input_schema: {} };
const call = { type: 'call' as const, id: 'c1', name: 'clock', arguments: '{"zone":"UTC"}' };

test('whole: thinking, text and calls as blocks; what was known already is counted apart', async () => {
  const answer = await served([says('Hm', 'thinking'), says('Hi'), call, end({ reason: 'tool' })]).json(question);
  expect(answer).toEqual({
    id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: '' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'c1', name: 'clock', input: { zone: 'UTC' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
  });
  expect((await served([call, end()]).json(question)).content).toHaveLength(1);
  expect((await served([end()]).json(question)).content).toEqual([{ type: 'text', text: '' }]);
});

test.each([
  ['stop', null, 'end_turn', null],
  ['stop', 'END', 'stop_sequence', 'END'],
  ['length', null, 'max_tokens', null],
  ['length', 'END', 'max_tokens', null],
  ['context', null, 'model_context_window_exceeded', null],
] as const)('an answer that ends by %s, at %s: %s', async (reason, stop, stop_reason, stop_sequence) => {
  expect(await served([end({ reason, stop })]).json(question)).toMatchObject({ stop_reason, stop_sequence });
});

test('streamed: each block begins, grows and ends under its own number', async () => {
  const pieces: AnswerPart[] = [
    { type: 'prompt', tokens: 9, cached: 4 },
    says('Hm', 'thinking'),
    says('H'),
    says('i'),
    { type: 'call-begin', id: 'c1', name: 'clock' },
    { type: 'call-arguments', text: '{}' },
    { type: 'call-end', cut: false },
    says('Bye'),
    end({ reason: 'tool' }),
  ];
  const eventsOf = async (script: Parameters<typeof scriptedInference>[0]) => {
    const { ask, asked } = served(script);
    const { text } = await ask({ ...question, stream: true });
    expect(asked[0]?.callsInPieces).toBe(true);
    return text
      .trim()
      .split('\n\n')
      .map((event) => {
        const [name, data] = event.split('\n');
        const value = JSON.parse(data?.slice('data: '.length) ?? '');
        expect(name).toBe(`event: ${value.type}`);
        return value;
      });
  };
  const [start, ...events] = await eventsOf(pieces);
  expect(start.message).toMatchObject({
    content: [],
    stop_reason: null,
    usage: { input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 0 },
  });
  const at = (type: string, index: number, more: object = {}) => ({ type: `content_block_${type}`, index, ...more });
  const delta = (index: number, type: string, key: string, text: string) =>
    at('delta', index, { delta: { type: `${type}_delta`, [key]: text } });
  expect(events).toEqual([
    { type: 'ping' },
    at('start', 0, { content_block: { type: 'thinking', thinking: '', signature: '' } }),
    delta(0, 'thinking', 'thinking', 'Hm'),
    at('stop', 0),
    at('start', 1, { content_block: { type: 'text', text: '' } }),
    delta(1, 'text', 'text', 'H'),
    delta(1, 'text', 'text', 'i'),
    at('stop', 1),
    at('start', 2, { content_block: { type: 'tool_use', id: 'c1', name: 'clock', input: {} } }),
    delta(2, 'input_json', 'partial_json', '{}'),
    at('stop', 2),
    at('start', 3, { content_block: { type: 'text', text: '' } }),
    delta(3, 'text', 'text', 'Bye'),
    at('stop', 3),
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
    },
    { type: 'message_stop' },
  ]);
  // A prompt that was known as a whole is not read.
  const [known, , ...failed] = await eventsOf([says('H'), new LonghandError('out-of-memory', '[memory] full')]);
  expect(known.message.usage).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 0 });
  expect(failed.at(-1)).toEqual({ type: 'error', error: { type: 'overloaded_error', message: '[memory] full' } });
});

test('what was asked is sent on, and what was not given is not', async () => {
  const { asked, json } = served();
  await json(question);
  expect(asked[0]).toEqual(plainRequest({ sampling: { maxTokens: 50 }, grammar: null }));
  const tool = { name: 'clock', description: 'The time', input_schema: { type: 'object' }, strict: true };
  await json({
    ...question,
    system: [
      { type: 'text', text: 'Be ' },
      { type: 'text', text: 'brief.' },
    ],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 3,
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 100 },
    tools: [tool, bare],
    tool_choice: { type: 'any' },
  });
  const plain = { type: 'function', function: { name: 'bare', parameters: {} } };
  const full = {
    type: 'function',
    function: { name: 'clock', description: 'The time', parameters: { type: 'object' }, strict: true },
  };
  expect(asked[1]).toMatchObject({
    messages: [{ role: 'system', text: 'Be brief.' }, { role: 'user' }],
    tools: [full, plain],
    thinking: true,
    thinkingTokens: 100,
    sampling: { maxTokens: 50, temperature: 0.5, topP: 0.9, topK: 3 },
    stops: ['END'],
    grammar: { kind: 'calls', tools: [full, plain], beside: { kind: 'none' }, most: 1 },
  });
  await json({ ...question, thinking: { type: 'disabled' }, tools: [tool], tool_choice: { type: 'none' } });
  expect(asked[2]).toMatchObject({ thinking: false, tools: [], grammar: null });
  const auto = { type: 'auto', disable_parallel_tool_use: true };
  await json({ ...question, tools: [bare], tool_choice: auto });
  expect(asked[3]?.grammar).toMatchObject({ beside: { kind: 'text' }, most: 1 });
  await json({ ...question, tools: [tool, bare], tool_choice: { type: 'tool', name: 'bare' } });
  expect(asked[4]?.grammar).toMatchObject({ tools: [plain] });
  const refused = await json({ ...question, tools: [tool], tool_choice: { type: 'tool' } });
  expect(refused.error).toEqual({
    type: 'invalid_request_error',
    message: '[tool_choice] there is no tool ""; expected one of clock',
  });
});

test('results of calls stand before the text of their message, and alone where there is none', async () => {
  const { asked, json } = served();
  const result = { type: 'tool_result', tool_use_id: 'c1', content: '12:00' };
  const lines = {
    type: 'tool_result',
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  };
  const use = { type: 'tool_use', id: 'c1', name: 'clock', input: { zone: 'UTC' } };
  const picture = { type: 'image', source: { type: 'base64', data: 'AAAA' } };
  const messages = [
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm' }, { type: 'text', text: 'Let me see' }, use] },
    { role: 'user', content: [result, lines] },
    { role: 'user', content: [{ type: 'text', text: 'And?' }, result] },
    { role: 'user', content: [result, picture] },
    { role: 'assistant', content: [{ type: 'tool_use' }] },
  ];
  expect(await json({ model: 'm', messages }, '/count_tokens')).toEqual({ input_tokens: 42 });
  const told = { role: 'tool', text: '12:00', thinking: '', answers: { callId: 'c1' } };
  expect(asked[0]?.messages).toEqual([
    {
      role: 'assistant',
      text: 'Let me see',
      thinking: 'Hm',
      calls: [{ id: 'c1', type: 'function', function: { name: 'clock', arguments: { zone: 'UTC' } } }],
    },
    told,
    { role: 'tool', text: 'a\nb', thinking: '', answers: {} },
    told,
    { role: 'user', text: 'And?', thinking: '' },
    told,
    { role: 'user', text: '', thinking: '', pictures: [new Uint8Array(3)] },
    { role: 'assistant', text: '', thinking: '', calls: [{ type: 'function', function: { name: '', arguments: {} } }] },
  ]);
});

test('pictures: sixteen of a user and no more, none of anybody else, none from an address', async () => {
  const { ask } = served();
  const picture = { type: 'image', source: { type: 'base64', data: 'AAAA' } };
  const said = async (content: unknown[], role = 'user') => ask({ ...question, messages: [{ role, content }] });
  expect((await said(Array(16).fill(picture))).status).toBe(200);
  expect((await said(Array(17).fill(picture))).text).toContain('has 17 pictures, at most 16 are allowed');
  expect((await said([picture], 'assistant')).text).toContain('only a user shows pictures');
  const address = { type: 'image', source: { type: 'url', url: 'http://a/b.png' } };
  expect((await said([address])).text).toContain('addresses are not fetched');
  expect((await said([{ type: 'image', source: { type: 'base64' } }])).text).toContain('addresses are not fetched');
  expect((await said([{ type: 'video' }])).text).toContain('has a block of type \\"video\\"');
});

test.each([
  ['not-found', 404, 'not_found_error'],
  ['too-large', 413, 'request_too_large'],
  ['engine-failed', 500, 'api_error'],
  ['context-full', 400, 'invalid_request_error'],
] as const)('%s: status %i, %s', async (code, status, type) => {
  const answer = await served([new LonghandError(code, '[here] so')]).ask(question);
  expect(answer).toEqual({ status, text: JSON.stringify({ type: 'error', error: { type, message: '[here] so' } }) });
});
