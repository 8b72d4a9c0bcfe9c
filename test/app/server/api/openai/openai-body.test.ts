// What the bodies of OpenAI's API become, field by field.
import { expect, test } from 'vitest';
import { CompletionsBody, choicesOf } from '../../../../../app/server/api/openai/completions-body.ts';
import { chatLogprobs, textLogprobs } from '../../../../../app/server/api/openai/logprobs.ts';
import { ChatBody, requestsOf } from '../../../../../app/server/api/openai/openai-body.ts';
import {
  finishReason,
  problemObject,
  sumOf,
  usageObject,
} from '../../../../../app/server/api/openai/openai-objects.ts';
import { asInput, kept, listed } from '../../../../../app/server/api/openai/response-items.ts';
import { replayOf } from '../../../../../app/server/api/openai/response-replay.ts';
import { ResponsesBody, requestOfItems } from '../../../../../app/server/api/openai/responses-body.ts';
import { headOf, readBody } from '../../../../../app/server/api/problems.ts';
import { plainRequest } from '../../../../support/core/scripted-inference.ts';
import { eventsOfMessage } from '../api.ts';

const question = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const chats = (more: object = {}) => requestsOf(readBody(ChatBody, { ...question, ...more }));
const chat = (more: object = {}) => chats(more)[0];
const clock = { type: 'function', function: { name: 'clock' } };
const date = { type: 'function', function: { name: 'date' } };

test('a chat: what was not given is not sent on', () => {
  expect(chats()).toEqual([plainRequest({ logprobs: null, bias: null, grammar: null })]);
});

test('a chat: sampling, limits, stops and how likely tokens were', () => {
  const sampled = { temperature: 0, top_p: 0.9, top_k: 3, min_p: 0.1, repetition_penalty: 1.1, seed: -5 };
  const penalties = { presence_penalty: 0.2, frequency_penalty: 0.3 };
  expect(chat({ ...sampled, ...penalties, max_tokens: 9, stop: 'END' })).toMatchObject({
    sampling: {
      temperature: 0,
      topP: 0.9,
      topK: 3,
      minP: 0.1,
      repetitionPenalty: 1.1,
      presencePenalty: 0.2,
      frequencyPenalty: 0.3,
      seed: 5,
      maxTokens: 9,
    },
    stops: ['END'],
  });
  expect(chat({ max_tokens: 9, max_completion_tokens: 7, stop: ['a', 'b'] })).toMatchObject({
    sampling: { maxTokens: 7 },
    stops: ['a', 'b'],
  });
  expect(chat({ seed: 2 ** 31 + 3 })?.sampling.seed).toBe(3);
  expect(chats({ n: 3, seed: 7 }).map(({ sampling }) => sampling.seed)).toEqual([7, 8, 9]);
  expect(chats({ n: 2 }).map(({ sampling }) => sampling.seed)).toEqual([undefined, undefined]);
  expect(chat({ logprobs: true })?.logprobs).toBe(0);
  expect(chat({ logprobs: true, top_logprobs: 4 })?.logprobs).toBe(4);
  expect(() => chat({ top_logprobs: 4 })).toThrow('[top_logprobs] needs "logprobs": true');
  expect(chat({ logit_bias: { 5: -100, 9: 2 } })?.bias).toEqual({ tokens: [5, 9], values: [-100, 2] });
  expect(chat({ logit_bias: {} })?.bias).toBeNull();
  const biases = (count: number) => ({
    logit_bias: Object.fromEntries(Array.from({ length: count }, (_, id) => [id, 1])),
  });
  expect(chat(biases(1024))?.bias?.tokens).toHaveLength(1024);
  expect(() => chat(biases(1025))).toThrow('[logit_bias] has more than 1024 tokens');
});

test.each([
  [{ reasoning_effort: 'none' }, false],
  [{ reasoning_effort: 'low' }, true],
  [{ chat_template_kwargs: { enable_thinking: false } }, false],
  [{ chat_template_kwargs: { enable_thinking: true } }, true],
  [{ chat_template_kwargs: {} }, null],
  [{ reasoning_effort: 'high', chat_template_kwargs: { enable_thinking: false } }, true],
])('%j: thinking %s', (more, thinking) => {
  expect(chat(more)?.thinking).toBe(thinking);
});

test('a chat: which tools may and must be called', () => {
  const tools = [clock, date];
  const grammar = (more: object) => chat({ tools, ...more })?.grammar;
  expect(grammar({})).toBeNull();
  expect(chat({ tools, tool_choice: 'none' })).toMatchObject({ tools: [], grammar: null });
  expect(grammar({ tool_choice: 'required' })).toEqual({ kind: 'calls', tools, beside: { kind: 'none' }, most: 1 });
  expect(grammar({ tool_choice: date })).toMatchObject({ tools: [date], beside: { kind: 'none' } });
  expect(grammar({ parallel_tool_calls: false })).toEqual({ kind: 'calls', tools, beside: { kind: 'text' }, most: 1 });
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [clock] } };
  expect(grammar({ tool_choice: allowed })).toEqual({
    kind: 'calls',
    tools: [clock],
    beside: { kind: 'text' },
    most: null,
  });
  const format = { type: 'json_schema', json_schema: { schema: { type: 'array' } } };
  expect(grammar({ response_format: format })).toMatchObject({ beside: { kind: 'schema', schema: { type: 'array' } } });
  expect(chat({ response_format: format })?.grammar).toEqual({ kind: 'json-schema', text: '{"type":"array"}' });
  expect(chat({ response_format: { type: 'json_object' } })?.grammar).toMatchObject({ text: '{"type":"object"}' });
  expect(chat({ response_format: { type: 'text' } })?.grammar).toBeNull();
  const strict = { type: 'function', function: { name: 'clock', strict: true } };
  expect(chat({ tools: [strict] })?.grammar).toMatchObject({ beside: { kind: 'text' }, most: null });
  expect(() => chat({ tool_choice: 'required' })).toThrow('a call is required, and the request gives no tools');
  expect(() => chat({ tool_choice: date })).toThrow('there is no tool "date"; the request gives none');
});

test('a chat: instructions at the beginning are one message, later ones stay where they are', () => {
  const said = (...messages: object[]) => chat({ messages })?.messages;
  const says = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more });
  expect(said(says('system', 'A'), says('developer', 'B'), says('user', 'C'), says('developer', 'D'))).toEqual([
    { role: 'system', text: 'A\n\nB', thinking: '' },
    { role: 'user', text: 'C', thinking: '' },
    { role: 'system', text: 'D', thinking: '' },
  ]);
  expect(said(says('system', 'A'))).toEqual([{ role: 'system', text: 'A', thinking: '' }]);
  expect(said(says('system', ''), says('user', 'C'))).toHaveLength(1);
  const call = { id: 'c1', function: { name: 'clock', arguments: '{"zone":1}' } };
  const odd = { function: { name: 'clock', arguments: 'no json' } };
  const png = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  expect(
    said(
      says('user', [{ type: 'text', text: 'See' }, png, { type: 'input_text', text: ' this' }]),
      says('assistant', null, { tool_calls: [call, odd], reasoning_content: 'Hm' }),
      says('tool', '12:00', { tool_call_id: 'c1', name: 'clock' }),
      says('tool', '13:00'),
    ),
  ).toEqual([
    { role: 'user', text: 'See this', thinking: '', pictures: [new Uint8Array(3)] },
    {
      role: 'assistant',
      text: '',
      thinking: 'Hm',
      calls: [
        { id: 'c1', type: 'function', function: { name: 'clock', arguments: { zone: 1 } } },
        { type: 'function', function: { name: 'clock', arguments: 'no json' } },
      ],
    },
    { role: 'tool', text: '12:00', thinking: '', answers: { callId: 'c1', name: 'clock' } },
    { role: 'tool', text: '13:00', thinking: '', answers: {} },
  ]);
  expect(() => said(says('user', Array(17).fill(png)))).toThrow('has 17 pictures, at most 16 are allowed');
  expect(said(says('user', Array(16).fill(png)))?.[0]?.pictures).toHaveLength(16);
  expect(() => said(says('assistant', [png]))).toThrow('only a user shows pictures');
  const address = { type: 'image_url', image_url: 'https://a/b.png' };
  expect(() => said(says('user', [address]))).toThrow('addresses are not fetched');
  expect(() => said(says('user', [{ type: 'audio' }]))).toThrow('has a part of type "audio"');
  expect(() => said(says('user', [{ type: 'refusal', text: 'No' }]))).toThrow('has a part of type "refusal"');
  expect(() => said(says('user', [{ type: 'text' }]))).toThrow('has a part of type "text"');
});

test('texts: sixteen tokens unless more are asked for, each prompt as often as wanted, with seeds of their own', () => {
  const choices = (more: object) => choicesOf(readBody(CompletionsBody, { model: 'm', ...more }));
  expect(choices({ prompt: 'Once' })).toEqual([
    {
      prompt: '',
      request: {
        model: 'm',
        messages: [],
        raw: { text: 'Once', suffix: null },
        tools: [],
        thinking: false,
        thinkingTokens: null,
        sampling: { maxTokens: 16 },
        stops: [],
        logprobs: null,
        bias: null,
      },
    },
  ]);
  const two = choices({ prompt: ['A', 'B'], n: 2, seed: 5, echo: true, max_tokens: 3 });
  expect(two.map(({ prompt, request: { raw, sampling } }) => [prompt, raw?.text, sampling.seed])).toEqual([
    ['A', 'A', 5],
    ['A', 'A', 6],
    ['B', 'B', 5],
    ['B', 'B', 6],
  ]);
  expect(two[0]?.request.sampling.maxTokens).toBe(3);
  expect(choices({ suffix: ' end', logprobs: 0 })[0]?.request).toMatchObject({
    raw: { text: '', suffix: ' end' },
    logprobs: 0,
  });
  expect(choices({ prompt: 'A', suffix: '', echo: true })[0]?.request.raw?.suffix).toBeNull();
  expect(choices({ prompt: Array(8).fill('A'), n: 2 })).toHaveLength(16);
  expect(() => choices({ prompt: Array(9).fill('A'), n: 2 })).toThrow('[n] asks for more than 16 texts');
  expect(choices({ best_of: 2, n: 2 })).toHaveLength(2);
  expect(choices({ best_of: 1 })).toHaveLength(1);
  expect(() => choices({ best_of: 2 })).toThrow('[best_of] is not supported');
  expect(() => choices({ echo: true, logprobs: 0 })).toThrow('[echo] cannot be combined with logprobs');
  expect(() => choices({ echo: true, suffix: 'x' })).toThrow('[echo] cannot be combined with suffix');
});

const asked = (more: object, items?: Parameters<typeof requestOfItems>[1]) => {
  const body = readBody(ResponsesBody, { model: 'm', input: 'Hello', ...more });
  return requestOfItems(body, items ?? (body.input as Parameters<typeof requestOfItems>[1]));
};

test('a response: items of one turn are one message, and what is asked is sent on', () => {
  const part = (text: string) => [{ text }];
  const input = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'Time?' },
    { type: 'reasoning', content: part('Hm') },
    { type: 'reasoning', summary: part(' hm') },
    { role: 'assistant', content: 'Let me see.' },
    { type: 'function_call', call_id: 'c1', name: 'clock', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'date', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: '12:00' },
    { role: 'assistant', content: 'Noon.' },
    { role: 'assistant', content: 'Really.' },
  ];
  const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: {} } });
  expect(asked({ input, instructions: 'Be kind.' }).messages).toEqual([
    { role: 'system', text: 'Be kind.\n\nBe brief.', thinking: '' },
    { role: 'user', text: 'Time?', thinking: '' },
    { role: 'assistant', text: 'Let me see.', thinking: 'Hm hm', calls: [call('c1', 'clock'), call('c2', 'date')] },
    { role: 'tool', text: '12:00', thinking: '', answers: { callId: 'c1' } },
    { role: 'assistant', text: 'Noon.', thinking: '' },
    { role: 'assistant', text: 'Really.', thinking: '' },
  ]);
  expect(asked({ instructions: '' }).messages).toEqual([{ role: 'user', text: 'Hello', thinking: '' }]);
  const full = { type: 'function', name: 'clock', description: 'Time', parameters: { type: 'object' }, strict: false };
  expect(asked({ tools: [full, { type: 'function', name: 'date' }] })).toMatchObject({
    tools: [{ type: 'function', function: { name: 'clock', description: 'Time', strict: false } }, date],
    thinking: null,
    sampling: {},
    logprobs: null,
    grammar: null,
  });
  const more = { temperature: 0.5, top_p: 0.9, max_output_tokens: 7, reasoning: { effort: 'none' }, top_logprobs: 3 };
  expect(asked(more)).toMatchObject({
    sampling: { temperature: 0.5, topP: 0.9, maxTokens: 7 },
    thinking: false,
    logprobs: 3,
  });
  expect(asked({ reasoning: { effort: 'low' } }).thinking).toBe(true);
  expect(asked({ include: ['message.output_text.logprobs'] }).logprobs).toBe(0);
  expect(asked({ include: ['other'] }).logprobs).toBeNull();
  expect(() => readBody(ResponsesBody, { model: 'm' })).toThrow('[input] is missing');
});

test.each([
  [{}, null],
  [{ parallel_tool_calls: false }, 1],
  [{ parallel_tool_calls: false, max_tool_calls: 5 }, 1],
  [{ parallel_tool_calls: false, max_tool_calls: 0 }, 0],
  [{ max_tool_calls: 5 }, 5],
])('a response: %j: so many calls at most: %s', (more, most) => {
  const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'clock' }] };
  const { grammar } = asked({ tools: [{ type: 'function', name: 'clock' }], tool_choice: choice, ...more });
  expect(grammar).toEqual({ kind: 'calls', tools: [clock], beside: { kind: 'text' }, most });
});

test('usage of several answers is added up, and the question of each', () => {
  const usage = { promptTokens: 9, cachedTokens: 4, thinkingTokens: 2, answerTokens: 3 };
  const miss = (tokens: number) => ({ ...usage, miss: { tokens, reason: 'evicted' as const } });
  expect(usageObject(sumOf([usage, miss(5), miss(6)]))).toEqual({
    prompt_tokens: 27,
    completion_tokens: 15,
    total_tokens: 42,
    prompt_tokens_details: { cached_tokens: 12 },
    miss: { tokens: 11, reason: 'evicted' },
    completion_tokens_details: { reasoning_tokens: 6 },
  });
  expect(usageObject(usage)).not.toHaveProperty('miss');
  const reasons = ['stop', 'length', 'context', 'tool', 'cancelled'] as const;
  expect(reasons.map(finishReason)).toEqual(['stop', 'length', 'length', 'tool_calls', 'stop']);
});

test.each([
  [429, 'too-busy', 'rate_limit_error', 'too_busy', { 'Retry-After': '2' }],
  [404, 'model-missing', 'invalid_request_error', 'model_not_found', undefined],
  [400, 'context-full', 'invalid_request_error', 'context_length_exceeded', undefined],
  [500, 'engine-failed', 'server_error', 'engine_failed', undefined],
] as const)('a problem of status %i, %s', (status, code, type, told, headers) => {
  expect(problemObject({ status, code, message: 'x' })).toEqual({
    error: { message: 'x', type, param: null, code: told },
  });
  expect(headOf({ status, code, message: 'x' })).toEqual({ status, ...(headers && { headers }) });
});

test('how likely tokens were, where half a character is written as its bytes', () => {
  const score = (bytes: number[], logprob: number) => ({ bytes, logprob, top: [{ bytes, logprob }] });
  const scores = [score([72, 105], -1), score([0xe4, 0x0b], -2), score([33], -3)];
  expect(textLogprobs(scores, 5)).toEqual({
    tokens: ['Hi', 'bytes:\\xe4\\xb', '!'],
    token_logprobs: [-1, -2, -3],
    top_logprobs: [{ Hi: -1 }, { 'bytes:\\xe4\\xb': -2 }, { '!': -3 }],
    text_offset: [5, 7, 9],
  });
  expect(chatLogprobs([])).toBeNull();
  expect(chatLogprobs()).toBeNull();
  expect(chatLogprobs([score([72], -1)])?.content[0]).toEqual({
    token: 'H',
    logprob: -1,
    bytes: [72],
    top_logprobs: [{ token: 'H', logprob: -1, bytes: [72] }],
  });
});

test('items as they are listed, and as they come again', () => {
  const pictures = [Uint8Array.of(137, 1), Uint8Array.of(9)];
  const user = { id: 'm1', type: 'message' as const, role: 'user' as const };
  const parts = (text: string) => (listed({ ...user, content: { text, pictures } }) as { content: object[] }).content;
  expect(parts('')).toEqual([
    { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,iQE=' },
    { type: 'input_image', detail: 'auto', image_url: 'data:image/unknown;base64,CQ==' },
  ]);
  expect(parts('See')).toHaveLength(3);
  expect(listed({ ...user, role: 'assistant', content: { text: '', pictures: [] } })).toEqual({
    ...user,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: '', annotations: [] }],
  });
  expect(kept({ ...user, content: { text: '', pictures: [] } }).id).toBe('m1');
  expect(kept({ type: 'reasoning' }).id).toMatch(/^rs_[0-9a-f]{32}$/);
  expect(listed({ id: 'r', type: 'reasoning' })).toEqual({ id: 'r', type: 'reasoning', summary: [] });
  const output = { id: 'o', type: 'message', content: [{ text: 'a' }, { text: 'b' }] } as unknown as Parameters<
    typeof asInput
  >[0];
  expect(asInput(output)).toEqual({
    id: 'o',
    type: 'message',
    role: 'assistant',
    content: { text: 'ab', pictures: [] },
  });
  expect(asInput({ ...output, type: 'reasoning' })).toEqual({ id: 'o', type: 'reasoning', content: [{ text: 'ab' }] });
});

test('a kept response comes again in one piece each, without pieces of nothing', () => {
  const call = (given: string) => ({ id: 'c', type: 'function_call', name: 'clock', arguments: given });
  const message = (text: string) => ({ id: 'm', type: 'message', content: [{ type: 'output_text', text }] });
  const types = (...output: object[]) =>
    replayOf({ status: 'completed', output: output as never }).map((event, at) => {
      expect(event.sequence_number).toBe(at);
      return event.type.replace('response.', '');
    });
  expect(types(message('Hi'), call('{}'))).toEqual([
    'created',
    'in_progress',
    ...eventsOfMessage,
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'completed',
  ]);
  expect(types(message('')).filter((type) => type.endsWith('delta'))).toEqual([]);
  expect(types(call('')).filter((type) => type.endsWith('delta'))).toEqual([]);
  expect(types({ ...message('Hm'), type: 'reasoning' })).toContain('reasoning_text.delta');
});

test('a response: which function must be called, of which shape the answer is, and who shows pictures', () => {
  const tools = [{ type: 'function', name: 'clock', parameters: { type: 'object' } }];
  const sent = { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } };
  const forced = { kind: 'calls', tools: [sent], beside: { kind: 'none' }, most: 1 };
  expect(asked({ tools, tool_choice: 'required' }).grammar).toEqual(forced);
  expect(asked({ tools, tool_choice: { type: 'function', name: 'clock' } }).grammar).toEqual(forced);
  expect(asked({ tools, tool_choice: 'none' })).toMatchObject({ tools: [], grammar: null });
  const text = { format: { type: 'json_schema', schema: { type: 'array' } } };
  expect(asked({ text }).grammar).toEqual({ kind: 'json-schema', text: '{"type":"array"}' });
  const content = [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }];
  expect(asked({ input: [{ role: 'user', content }] }).messages[0]?.pictures).toHaveLength(1);
  expect(() => asked({ input: [{ role: 'assistant', content }] })).toThrow('only a user shows pictures');
});
