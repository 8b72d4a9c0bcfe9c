// What is sent to a remote engine for one answer.
import { expect, test } from 'vitest';
import type { Generation } from '../../../../app/engine/ipc-protocol.ts';
import { chatBody } from '../../../../app/engine/remote/chat-body.ts';

const message = { role: 'user' as const, text: 'Hello', thinking: '', ids: null };
const generation = (more: Partial<Generation> = {}): Generation =>
  ({
    target: { remote: { model: 'lab/model-7b' } },
    prompt: { messages: [message], thinking: true, continuation: null },
    sampling: {},
    stops: [],
    ...more,
  }) as Generation;
const segment = { kept: '', thinking: true, rewinds: 0 };
const body = async (given: Partial<Generation>, at: Partial<typeof segment> = {}) =>
  chatBody(generation(given), { ...segment, ...at }, async () => 'data:image/png;base64,AA==');

test('what nobody set is not sent', async () => {
  expect(await body({})).toEqual({
    model: 'lab/model-7b',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('an answer that goes on says what stands already; thinking is only ever switched off; four stops at most', async () => {
  const sent = await body({ stops: ['a', 'b', 'c', 'd', 'e'] }, { kept: 'So far', thinking: false });
  expect(sent).toMatchObject({
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'So far' },
      { role: 'user', content: expect.stringMatching(/^Your answer above was interrupted\./) },
    ],
    stop: ['a', 'b', 'c', 'd'],
    chat_template_kwargs: { enable_thinking: false },
  });
});

test('after a rewind it is sampled more freely, and a second time still more', async () => {
  const set = { temperature: 0.2, topP: 0.9, topK: 20, minP: 0.1, seed: 5, maxTokens: 100 };
  const penalties = { repetitionPenalty: 1.1, presencePenalty: 0.3, frequencyPenalty: 0.2 };
  const sampling = { ...set, ...penalties } as Generation['sampling'];
  const figures = {
    top_p: 0.9,
    top_k: 20,
    min_p: 0.1,
    max_tokens: 100,
    repetition_penalty: 1.1,
    presence_penalty: 0.3,
  };
  const at = (rewinds: number) => body({ sampling }, { rewinds });
  expect(await at(0)).toMatchObject({ ...figures, temperature: 0.2, frequency_penalty: 0.2, seed: 5 });
  expect(await at(1)).toMatchObject({ ...figures, temperature: 0.6, frequency_penalty: 0.5, seed: 6 });
  expect(await at(2)).toMatchObject({ temperature: 0.9, frequency_penalty: 0.5, seed: 7 });
  const hot = { temperature: 1.5, frequencyPenalty: 0.7 } as Generation['sampling'];
  expect(await body({ sampling: hot }, { rewinds: 2 })).toMatchObject({ temperature: 1.5, frequency_penalty: 0.7 });
  const unset = await body({}, { rewinds: 1 });
  expect(unset).toMatchObject({ temperature: 0.6, frequency_penalty: 0.5 });
  expect(unset).not.toHaveProperty('seed');
});

test('tools, their calls and results, and pictures before the text', async () => {
  const tool = { type: 'function' as const, function: { name: 'clock', description: '', parameters: {} } };
  const calls = [{ id: 'c1', type: 'function' as const, function: { name: 'clock', arguments: { zone: 'UTC' } } }];
  const picture = { source: { path: '/a.png' }, width: 1, height: 1, detail: 'normal' as const };
  const messages = [
    { ...message, pictures: [picture] },
    { ...message, role: 'assistant' as const, text: '', calls },
    { ...message, role: 'tool' as const, text: '12:00', answers: { callId: 'c1', name: 'clock' } },
    { ...message, role: 'assistant' as const, text: 'Noon.', calls },
    { ...message, pictures: [] },
  ];
  const sent = await body({ prompt: { messages, tools: [tool], thinking: true, continuation: null } });
  const sentCalls = [{ id: 'c1', type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }];
  expect(sent).toMatchObject({
    tools: [tool],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'text', text: 'Hello' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: sentCalls },
      { role: 'tool', content: '12:00', tool_call_id: 'c1', name: 'clock' },
      { role: 'assistant', content: 'Noon.', tool_calls: sentCalls },
      { role: 'user', content: 'Hello' },
    ],
  });
  expect(
    await body({ prompt: { messages: [message], tools: [], thinking: true, continuation: null } }),
  ).not.toHaveProperty('tools');
});
