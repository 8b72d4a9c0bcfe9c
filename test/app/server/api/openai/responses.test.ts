import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import {
  createResponseStore,
  maxResponseBytes,
  maxResponses,
} from '../../../../../app/server/api/openai/response-store.ts';
import { scriptedEngine } from '../../../../support/core/scripted-engine.ts';
import { eventsOfMessage, KEY, startApi } from '../api.ts';

//  The Responses API, through the official client and its helpers. They check the order and the shape of events themselves.

async function start(...options: Parameters<typeof startApi>) {
  const server = await startApi(...options);
  return { ...server, openai: new OpenAI({ baseURL: `${server.address}/v1`, apiKey: KEY, maxRetries: 0 }) };
}
const input = 'What is your name?';
const greedy = { temperature: 0, max_output_tokens: 24 };

describe('a response', () => {
  test('whole and streamed says what a chat says, and its events come in order', async () => {
    const { openai, model } = await start();
    const chat = await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: input }],
      temperature: 0,
      max_tokens: 300,
    });
    const whole = await openai.responses.create({
      model,
      input,
      temperature: 0,
      max_output_tokens: 300,
      metadata: { from: 'test' },
    });
    const said = chat.choices[0]?.message.content ?? '';
    expect(whole.output_text).toBe(said);
    expect(whole).toMatchObject({ object: 'response', status: 'completed', error: null, metadata: { from: 'test' } });
    expect(whole.output).toMatchObject([{ type: 'message', role: 'assistant', status: 'completed' }]);
    expect(whole.usage?.input_tokens).toBe(chat.usage?.prompt_tokens);
    expect(whole.usage?.output_tokens).toBe(chat.usage?.completion_tokens);

    const stream = openai.responses.stream({ model, input, temperature: 0, max_output_tokens: 300 });
    const events: { type: string; sequence_number: number }[] = [];
    stream.on('event', (event) => events.push(event));
    let last = '';
    stream.on('response.output_text.delta', ({ snapshot }) => {
      last = snapshot;
    });
    const final = await stream.finalResponse();
    expect([final.output_text, last]).toEqual([said, said]);
    expect(final.usage?.output_tokens).toBe(whole.usage?.output_tokens);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
    const types = events.map(({ type }) => type.replace('response.', ''));
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      'created',
      'in_progress',
      ...eventsOfMessage,
      'completed',
    ]);

    // However late the pieces of a long one are heard of, they do not come as one.
    const long = openai.responses.stream({ model, input: 'Tell me a story about the sea.', max_output_tokens: 300 });
    let pieces = 0;
    long.on('response.output_text.delta', () => void pieces++);
    await long.finalResponse();
    expect(pieces).toBeGreaterThan(1);

    const cut = await openai.responses.create({ model, input, temperature: 0, max_output_tokens: 3 });
    expect([cut.status, cut.incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
    expect(cut.output).toMatchObject([{ status: 'incomplete' }]);
  });

  test('thinking is an item of its own, before the answer', async () => {
    const { openai, model } = await start();
    const asked = { model, input, temperature: 0, max_output_tokens: 300, reasoning: { effort: 'low' as const } };
    const final = await openai.responses.stream(asked).finalResponse();
    const [thought, message] = final.output;
    expect(thought).toMatchObject({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text' }] });
    expect(message?.type).toBe('message');
    expect(final.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(2);
    expect(final.output_text).not.toContain('think>');
    // What came may be sent back as it is.
    const next = await openai.responses.create({
      model,
      ...greedy,
      input: [
        { role: 'user', content: input },
        ...(final.output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user', content: 'Why?' },
      ],
    });
    expect(next.output_text).not.toBe('');
  });

  test('keeps to a schema, and the helper parses it; tells how likely its tokens were', async () => {
    const { openai, model } = await start();
    const schema = {
      type: 'object',
      properties: { age: { type: 'integer', minimum: 1, maximum: 9 } },
      required: ['age'],
    };
    const text = { format: { type: 'json_schema' as const, name: 'pet', schema } };
    const parsed = await openai.responses.parse({ model, input, text, temperature: 1, max_output_tokens: 200 });
    expect(parsed.output_parsed).toEqual({ age: expect.any(Number) });

    const final = await openai.responses.stream({ model, input, ...greedy, top_logprobs: 2 }).finalResponse();
    const [message] = final.output;
    const [part] = message?.type === 'message' ? message.content : [];
    const logprobs = part?.type === 'output_text' ? (part.logprobs ?? []) : [];
    expect(logprobs.map(({ token }) => token).join('')).toBe(final.output_text);
    expect(logprobs.every(({ logprob, top_logprobs: [best] }) => logprob === best?.logprob)).toBe(true);

    // They can be included without any alternatives.
    const scored = await openai.responses.create({
      model,
      input,
      ...greedy,
      include: ['message.output_text.logprobs'],
    });
    const [said] = scored.output.flatMap((item) => (item.type === 'message' ? item.content : []));
    const alone = said?.type === 'output_text' ? (said.logprobs ?? []) : [];
    expect(alone.map(({ token }) => token).join('')).toBe(scored.output_text);
    expect(alone.every(({ logprob }) => logprob <= 0)).toBe(true);
  });

  test('goes on from an earlier one by its name, which is read, forgotten, and not always kept', async () => {
    const { openai, model } = await start();
    const first = await openai.responses.create({
      model,
      input: 'My name is Anna.',
      instructions: 'Be short.',
      ...greedy,
    });
    const next = await openai.responses.create({
      model,
      input: 'Who am I?',
      previous_response_id: first.id,
      ...greedy,
    });
    const spelled = await openai.responses.create({
      model,
      ...greedy,
      input: [
        { role: 'user', content: 'My name is Anna.' },
        { role: 'assistant', content: first.output_text },
        { role: 'user', content: 'Who am I?' },
      ],
    });
    expect(next.previous_response_id).toBe(first.id);
    expect(next.usage?.input_tokens).toBe(spelled.usage?.input_tokens);
    expect(next.output_text).toBe(spelled.output_text);
    expect(spelled.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(0);

    const items = await openai.responses.inputItems.list(next.id, { order: 'asc', limit: 2 });
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'My name is Anna.' }] },
      { id: first.output[0]?.id, role: 'assistant', content: [{ type: 'output_text', text: first.output_text }] },
    ]);
    const all = [];
    for await (const item of items) all.push(item.id);
    const { data: backwards, has_more } = await openai.responses.inputItems.list(next.id);
    expect([items.has_more, has_more]).toEqual([true, false]);
    expect(all).toEqual(backwards.map(({ id }) => id).reverse());
    expect(all.length).toBe(3);
    const named = await openai.responses.create({
      model,
      ...greedy,
      input: all.map((id) => ({ type: 'item_reference' as const, id: id ?? '' })),
    });
    expect(named.output_text).toBe(spelled.output_text);
    expect(named.usage?.input_tokens).toBe(spelled.usage?.input_tokens);

    expect((await openai.responses.retrieve(first.id)).output_text).toBe(first.output_text);
    await openai.responses.delete(first.id);
    const gone = await openai.responses.retrieve(first.id).catch((error) => error);
    expect(gone).toBeInstanceOf(OpenAI.NotFoundError);
    const asked = openai.responses.create({ model, input, previous_response_id: first.id });
    await expect(asked).rejects.toThrow('[previous_response_id]');
    // What went on from it is whole.
    const further = await openai.responses.create({ model, input, previous_response_id: next.id, ...greedy });
    expect(further.usage?.input_tokens).toBeGreaterThan(next.usage?.input_tokens ?? 0);
    const unkept = await openai.responses.create({ model, input, store: false, ...greedy });
    await expect(openai.responses.retrieve(unkept.id)).rejects.toThrow('is not here');
  });

  test('one that is kept comes as a stream again, the same every time, from any event on', async () => {
    const { openai, model, address } = await start();
    const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false }];
    const thought = await openai.responses.create({ model, input, ...greedy, reasoning: { effort: 'low' } });
    const cut = await openai.responses.create({ model, input, temperature: 0, max_output_tokens: 3, top_logprobs: 1 });
    const called = await openai.responses.create({ model, input, ...greedy, tools, tool_choice: 'required' });
    for (const kept of [thought, cut, called]) {
      const stream = openai.responses.stream({ response_id: kept.id });
      const events: { type: string; sequence_number: number }[] = [];
      stream.on('event', (event) => events.push(event));
      const final = await stream.finalResponse();
      const { status, usage, output } = kept;
      expect(final).toMatchObject({ id: kept.id, status, usage, output });
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
      const rest = [];
      for await (const event of await openai.responses.retrieve(kept.id, { stream: true, starting_after: 3 }))
        rest.push(event);
      expect(rest.map(({ type }) => type)).toEqual(events.slice(4).map(({ type }) => type));
    }
    const types = async (id: string) => {
      const asked = await fetch(`${address}/v1/responses/${id}?stream=true`, { headers: { 'x-api-key': KEY } });
      return [...(await asked.text()).matchAll(/^event: response\.(.*)$/gm)].map(([, type]) => type);
    };
    expect(await types(called.id)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect((await types(cut.id)).at(-1)).toBe('incomplete');
    await expect(openai.responses.retrieve(cut.id, { starting_after: 1 } as never)).rejects.toThrow(
      '[starting_after] needs',
    );
    await expect(openai.responses.retrieve(cut.id, { stream: true, starting_after: -1 })).rejects.toThrow(
      '[starting_after]',
    );
    await expect(openai.responses.retrieve('resp_0', { stream: true })).rejects.toThrow('is not here');
  });

  test('what cannot be done is told', async () => {
    const { openai, model } = await start();
    for (const [body, where] of [
      [{ input: [] }, '[input]'],
      [{ input: undefined }, '[input] is missing'],
      [{ input: [{ type: 'file_search_call', id: 'x' }] }, 'has to be a message'],
      [{ input: [{ type: 'item_reference', id: 'x' }] }, '[input.0] "x" is no item'],
      [
        { input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] }] },
        'only a user',
      ],
      [{ tools: [{ type: 'web_search' }] }, 'only functions'],
      [{ tool_choice: 'required' }, '[tool_choice] a call is required'],
      [{ background: true }, '[background]'],
      [{ conversation: 'conv_1' }, '[conversation]'],
      [{ prompt: { id: 'p' } }, '[prompt]'],
    ] as const) {
      await expect(openai.responses.create({ model, input, ...body } as never), where).rejects.toThrow(where);
    }
    const missing = await openai.responses.create({ model: 'gpt-9', input }).catch((error) => error);
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

test('calls of functions are items, and so are their results', async () => {
  const template = '{% if tools %}<tool_call>\n{"name": …}{% endif %}';
  const call = (city: string) => `<tool_call>\n{"name": "weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
  const prompts: unknown[] = [];
  const { startEngine } = scriptedEngine(
    ({ prompt }) => {
      prompts.push(prompt.messages);
      const last = prompt.messages.at(-1);
      return last?.role === 'tool' ? `It is ${last.text}.` : `I will look.\n\n${call('Bern')}\n${call('Oslo')}`;
    },
    4e9,
    template,
  );
  const { openai, model } = await start({}, { startEngine });
  const tools = [
    {
      type: 'function' as const,
      name: 'weather',
      strict: true,
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ];
  const asked = { model, input: 'How is the weather?', tools };
  const whole = await openai.responses.create(asked);
  const streamed = await openai.responses.stream(asked).finalResponse();
  for (const { output } of [whole, streamed]) {
    expect(output).toMatchObject([
      { type: 'message', content: [{ text: 'I will look.' }] },
      { type: 'function_call', name: 'weather', arguments: '{"city": "Bern"}', status: 'completed' },
      { type: 'function_call', name: 'weather', arguments: '{"city": "Oslo"}' },
    ]);
  }
  const results = whole.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'sunny' }]
      : [],
  );
  const named = await openai.responses.create({ model, tools, input: results, previous_response_id: whole.id });
  expect(named.output_text).toBe('It is sunny.');
  await openai.responses.create({
    model,
    tools,
    input: [
      { role: 'user', content: asked.input },
      ...(whole.output as OpenAI.Responses.ResponseInputItem[]),
      ...results,
    ],
  });
  const [first, second] = prompts.slice(-2);
  expect(second).toEqual(first);
  expect(first).toMatchObject([
    { role: 'user' },
    { role: 'assistant', text: 'I will look.', calls: [{ function: { arguments: { city: 'Bern' } } }, {}] },
    { role: 'tool', text: 'sunny', answers: { callId: results[0]?.call_id } },
    { role: 'tool', answers: { callId: results[1]?.call_id } },
  ]);
});

test('a call that is cut off is incomplete, and not part of what is continued', async () => {
  const template = '{% if tools %}<tool_call>\n{"name": …}{% endif %}';
  const prompts: { messages: readonly { role: string }[] }[] = [];
  const { startEngine } = scriptedEngine(
    ({ prompt }) => {
      prompts.push(prompt);
      return 'I will look.\n\n<tool_call>\n{"name": "weather", "arguments": {"city": "Be';
    },
    4e9,
    template,
  );
  const { openai, model } = await start({}, { startEngine });
  const tools = [{ type: 'function' as const, name: 'weather', strict: false, parameters: { type: 'object' } }];
  const cut = await openai.responses.create({ model, input: 'How is the weather?', tools });
  expect(cut.output).toMatchObject([
    { type: 'message' },
    { type: 'function_call', name: 'weather', arguments: '{"city": "Be', status: 'incomplete' },
  ]);
  await openai.responses.create({ model, input: 'Go on.', tools, previous_response_id: cut.id });
  expect(prompts.at(-1)?.messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }]);
  expect(prompts.at(-1)?.messages[1]).not.toHaveProperty('calls');
});

test('responses are kept up to a number and a size', () => {
  const store = createResponseStore();
  const keep = (id: string, text: string, pictures: Uint8Array[] = [], caller = '') =>
    store.keep({
      caller,
      response: { id, status: 'completed', output: [] },
      items: [{ id: `m-${id}`, type: 'message', role: 'user', content: { text, pictures } }],
      asked: 1,
    });
  for (let i = 0; i <= maxResponses; i++) keep(`r${i}`, 'a');
  expect([store.get('r0', ''), store.get('r1', '')?.response.id]).toEqual([null, 'r1']);
  keep('half', 'a'.repeat(maxResponseBytes / 2));
  keep('other', 'a'.repeat(maxResponseBytes / 2));
  expect([store.get('half', ''), store.get('other', '')?.response.id]).toEqual([null, 'other']);
  store.forget('other');
  keep('seen', '', [new Uint8Array(maxResponseBytes - 500)]);
  keep('last', 'a'.repeat(500));
  expect([store.get('seen', ''), store.get('last', '')?.response.id]).toEqual([null, 'last']);
  keep('foreign', 'a', [], 'another');
  expect([...store.itemsOf('').keys()]).toEqual(['m-last']);
  expect([...store.itemsOf('another').keys()]).toEqual(['m-foreign']);
});
