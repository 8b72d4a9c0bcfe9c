import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { circling, repetitive } from '../../../support/models/circling.ts';
import { KEY, startApi as start } from './api.ts';

//  The clients that others wrote, against the real server, engine and built-in model.

const question = [{ role: 'user' as const, content: 'What is your name?' }];
const greedy = { temperature: 0, max_tokens: 24 };

describe('openai', () => {
  const client = (address: string, apiKey = KEY) => new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 });

  test('lists models, answers at once and piece by piece with the same words, and counts them', async () => {
    const { address, model } = await start();
    const openai = client(address);
    const listed = [];
    for await (const one of openai.models.list()) listed.push(one.id);
    expect(listed).toContain(model);
    expect((await openai.models.retrieve(model)).id).toBe(model);

    const whole = await openai.chat.completions.create({ model, messages: question, ...greedy });
    const said = whole.choices[0]?.message.content ?? '';
    expect(said.length).toBeGreaterThan(5);
    expect(whole.usage?.completion_tokens).toBeGreaterThan(1);
    expect(whole.usage?.prompt_tokens).toBeGreaterThan(3);

    let streamed = '';
    let finish: string | null = null;
    let total = 0;
    let pieces = 0;
    const stream = await openai.chat.completions.create({
      model,
      messages: question,
      ...greedy,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const { choices, usage } of stream) {
      streamed += choices[0]?.delta.content ?? '';
      finish = choices[0]?.finish_reason ?? finish;
      total = usage?.total_tokens ?? total;
      pieces++;
    }
    expect(streamed).toBe(said);
    expect(finish).toBe(whole.choices[0]?.finish_reason);
    expect(total).toBe(whole.usage?.total_tokens);
    expect(pieces).toBeGreaterThan(3);
    expect(whole.usage).not.toHaveProperty('miss');

    // Beyond the dialect: how the known part of a message that was changed is read again.
    const changed = [{ role: 'user' as const, content: 'What is your job?' }];
    const { usage } = await openai.chat.completions.create({ model, messages: changed, ...greedy });
    expect(usage).toMatchObject({ miss: { tokens: expect.any(Number), reason: 'boundary' } });
  });

  test('passages in the order in which they answer a question, and as vectors', async () => {
    const { address, model } = await start();
    const openai = client(address);
    const listed = (await openai.models.list()).data as unknown as { id: string; kind: string }[];
    const named = (kind: string) => listed.find((one) => one.kind === kind)?.id ?? '';
    const query = 'How high is the monthly rent?';
    const documents = [
      'Lease, Deposit: Cats and birds need no permission.',
      'Lease, Rent and payment: The monthly rent is 840 euros.',
      { text: 'Lease, Keys: Two keys are handed over.' },
    ];
    const asked = { model: named('ranker'), query, documents };
    type Ranked = {
      results: { index: number; relevance_score: number; document?: object }[];
      usage: { total_tokens: number };
    };
    const { results, usage } = await openai.post<Ranked>('/rerank', { body: asked });
    expect(results[0]?.index).toBe(1);
    expect(results.map(({ index }) => index).sort()).toEqual([0, 1, 2]);
    // resources/reader/reference.json has the score before it is brought between 0 and 1.
    expect(results[0]?.relevance_score).toBeCloseTo(1 / (1 + Math.exp(-1.02262)), 2);
    expect(results.map((one) => one.relevance_score)).toEqual(
      results.map((one) => one.relevance_score).sort((a, b) => b - a),
    );
    // The question is read with each passage.
    let total = 0;
    for (const each of documents) {
      const alone = await openai.post<Ranked>('/rerank', { body: { ...asked, documents: [each] } });
      total += alone.usage.total_tokens;
    }
    expect(usage).toEqual({ total_tokens: total });
    const one = await openai.post<Ranked>('/rerank', { body: { ...asked, top_n: 1, return_documents: true } });
    expect(one.results).toEqual([{ ...results[0], document: { text: documents[1] } }]);
    for (const [wrong, why] of [
      [{ model }, `expected one of ${named('ranker')}`],
      [{ documents: [] }, '[documents]'],
      [{ documents: Array(1001).fill('a') }, '[documents]'],
      [{ query: '' }, '[query] is empty'],
      [{ top_n: 0 }, '[top_n]'],
    ] as const) {
      await expect(openai.post('/rerank', { body: { ...asked, ...wrong } })).rejects.toThrow(why);
    }
    const { data } = await openai.embeddings.create({
      model: named('encoder'),
      input: [query, 'The rent is high.', 'Cats'],
    });
    const [first = [], near = [], far = []] = data.map(({ embedding }) => embedding);
    const likeness = (other: number[]) => first.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
    expect(likeness(first)).toBeCloseTo(1, 4);
    expect(likeness(near)).toBeGreaterThan(likeness(far));
  });

  test('max_tokens, stop and seed are obeyed', async () => {
    const { address, model } = await start();
    const openai = client(address);
    const ask = (more: object) =>
      openai.chat.completions.create({ model, messages: question, temperature: 0, ...more });
    const short = await ask({ max_completion_tokens: 3 });
    expect(short.choices[0]?.finish_reason).toBe('length');
    expect(short.usage?.completion_tokens).toBe(3);
    const whole = (await ask({ max_tokens: 40 })).choices[0]?.message.content ?? '';
    const word = whole.split(' ')[2] ?? '';
    const stopped = await ask({ max_tokens: 40, stop: [word] });
    expect(stopped.choices[0]?.finish_reason).toBe('stop');
    expect(stopped.choices[0]?.message.content).toBe(whole.slice(0, whole.indexOf(word)));
    const wild = { temperature: 1.5, max_tokens: 12 };
    const [first, second, other] = [
      await ask({ ...wild, seed: 7 }),
      await ask({ ...wild, seed: 7 }),
      await ask({ ...wild, seed: 8 }),
    ].map(({ choices }) => choices[0]?.message.content);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  test('what cannot be done is a sentence in the shape the client knows', async () => {
    const { address, model } = await start();
    const openai = client(address);
    const refused = (body: object) =>
      openai.chat.completions.create({ model, messages: question, ...body } as never).then(
        () => null,
        (error: InstanceType<typeof OpenAI.APIError>) => error,
      );
    const missing = await refused({ model: 'gpt-9' });
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
    expect(missing?.code).toBe('model_not_found');
    expect(missing?.message).toContain(model);
    for (const [body, where] of [
      [{ temperature: 9 }, '[temperature]'],
      [{ messages: [] }, '[messages]'],
      [
        { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }] },
        'addresses are not fetched',
      ],
      [{ tools: [{ type: 'custom' }] }, 'only functions'],
      [{ functions: [{ name: 'look' }] }, 'functions are not supported yet'],
      [{ tool_choice: 'required' }, '[tool_choice] a call is required, and the request gives no tools'],
      [{ n: 17 }, '[n]'],
      [{ modalities: ['text', 'audio'] }, '[modalities.1] only text'],
      [{ audio: { voice: 'a', format: 'mp3' } }, '[audio] only text'],
      [{ web_search_options: {} }, '[web_search_options] the web is not searched'],
      [{ logit_bias: { 5: 101 } }, '[logit_bias.5]'],
      [{ logit_bias: { Paris: 10 } }, '[logit_bias] has to name tokens by their ids'],
      [{ response_format: { type: 'xml' } }, 'response_format.type'],
      [
        { response_format: { type: 'json_schema', json_schema: { schema: { not: {} } } } },
        '[schema] #/not is not supported',
      ],
    ] as const) {
      const error = await refused(body);
      expect(error, where).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error?.message).toContain(where);
    }
    const long = await refused({ messages: [{ role: 'user', content: 'word '.repeat(200_000) }] });
    expect(long?.code).toBe('context_length_exceeded');
    const wrong = await client(address, 'sk-wrong')
      .models.list()
      .catch((error) => error);
    expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test('a client that hangs up ends its answer, and the next one is served', async () => {
    const { address, model, host } = await start();
    const openai = client(address);
    const stream = await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Tell me a long story.' }],
      temperature: 2,
      max_tokens: 100_000,
      stream: true,
    });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await expect.poll(async () => host.handlers['engine.status'](undefined as never)).toMatchObject({ phase: 'ready' });
    const next = await openai.chat.completions.create({ model, messages: question, ...greedy });
    expect(next.choices[0]?.message.content).not.toBe('');
  });

  test('a client that hangs up before its answer is whole ends it too', async () => {
    const { address, model, host } = await start();
    const hangUp = new AbortController();
    // It goes in circles until the context is full.
    const asked = client(address).chat.completions.create(
      {
        model,
        messages: [{ role: 'user', content: repetitive }],
        temperature: circling.temperature,
        frequency_penalty: circling.frequencyPenalty,
      },
      { signal: hangUp.signal },
    );
    const status = async () => host.handlers['engine.status'](undefined as never);
    const patience = { timeout: 20_000, interval: 10 };
    await expect.poll(status, patience).toMatchObject({ phase: 'busy' });
    hangUp.abort();
    await expect(asked).rejects.toThrow();
    // Left alone it writes for more than five seconds.
    await expect.poll(status, { timeout: 3000, interval: 10 }).toMatchObject({ phase: 'ready' });
  });

  test('many at once: each gets its own answer, whole', async () => {
    const { address, model } = await start();
    const openai = client(address);
    const ask = async (name: string) => {
      const messages = [{ role: 'user' as const, content: `My name is ${name}. Say hello.` }];
      const stream = await openai.chat.completions.create({ model, messages, ...greedy, stream: true });
      let text = '';
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      return text;
    };
    const names = Array.from({ length: 32 }, (_, index) => `Anna${index}`);
    const alone = [];
    for (const name of names.slice(0, 3)) alone.push(await ask(name));
    const together = await Promise.all(names.map(ask));
    expect(together.slice(0, 3)).toEqual(alone);
    expect(together.every((text) => text !== '')).toBe(true);
  });
});

describe('@anthropic-ai/sdk', () => {
  test('messages, streamed and whole, with system, and tokens counted before', async () => {
    const { address, model } = await start();
    const anthropic = new Anthropic({ baseURL: address, apiKey: KEY, maxRetries: 0 });
    const asked = { model, system: 'Answer shortly.', messages: question };
    const whole = await anthropic.messages.create({ ...asked, ...greedy });
    const [block] = whole.content;
    expect(block?.type).toBe('text');
    const counted = await anthropic.messages.countTokens(asked);
    const { input_tokens, cache_read_input_tokens } = whole.usage;
    expect(input_tokens + (cache_read_input_tokens ?? 0)).toBe(counted.input_tokens);

    const stream = anthropic.messages.stream({ ...asked, ...greedy });
    const types: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type));
    const final = await stream.finalMessage();
    expect(final.content).toEqual(whole.content);
    expect(final.stop_reason).toBe(whole.stop_reason);
    expect(types[0]).toBe('message_start');
    expect(types.at(-1)).toBe('message_stop');
    const thinking = { type: 'enabled' as const, budget_tokens: 20 };
    const thought = await anthropic.messages.create({ ...asked, max_tokens: 60, thinking });
    expect(thought.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const mcp_servers = [{ type: 'url', name: 'a', url: 'http://127.0.0.1:1' }];
    await expect(anthropic.messages.create({ ...asked, max_tokens: 2, mcp_servers } as never)).rejects.toThrow(
      '[mcp_servers] tool servers are not connected to',
    );
    const short = await anthropic.messages.create({ ...asked, max_tokens: 2 });
    expect(short.stop_reason).toBe('max_tokens');
    const [word = ''] = /\w+$/.exec(block?.type === 'text' ? block.text.trim().slice(0, -1) : '') ?? [];
    const stop_sequences = ['never said', word];
    const ended = await anthropic.messages.create({ ...asked, ...greedy, stop_sequences });
    expect([ended.stop_reason, ended.stop_sequence]).toEqual(['stop_sequence', word]);
    const endedStream = await anthropic.messages.stream({ ...asked, ...greedy, stop_sequences }).finalMessage();
    expect([endedStream.stop_reason, endedStream.stop_sequence]).toEqual(['stop_sequence', word]);
    expect([whole.stop_reason, whole.stop_sequence]).toEqual([whole.stop_reason, null]);
    // Beyond the dialect: how the known part of a message that was changed is read again.
    const changed = [{ role: 'user' as const, content: 'What is your job?' }];
    const { usage } = await anthropic.messages.create({ ...asked, messages: changed, ...greedy });
    expect(usage).toMatchObject({ miss: { tokens: expect.any(Number), reason: 'boundary' } });
    const wrong = await anthropic.messages.create({ ...asked, model: 'claude', max_tokens: 2 }).catch((error) => error);
    expect(wrong).toBeInstanceOf(Anthropic.NotFoundError);
  });
});

describe('ollama', () => {
  const client = (address: string) => new Ollama({ host: address, headers: { Authorization: `Bearer ${KEY}` } });

  test('tags, show, chat and generate, streamed and whole', async () => {
    const { address, model } = await start();
    const ollama = client(address);
    const { models } = await ollama.list();
    expect(models.map(({ name }) => name)).toContain(model);
    expect((await ollama.show({ model })).capabilities).toEqual(['completion', 'tools', 'thinking']);
    expect((await ollama.show({ model: 'all-minilm-l6-v2' })).capabilities).toEqual(['embedding']);
    const options = { temperature: 0, num_predict: 24 };
    const begun = performance.now();
    const whole = await ollama.chat({ model: `${model}:latest`, messages: question, options });
    expect(whole.total_duration, 'nanoseconds').toBeLessThanOrEqual((performance.now() - begun) * 1e6);
    expect(whole.total_duration).toBeGreaterThan(1e6);
    // Clients that want no shape send an empty one, or null.
    for (const format of ['', null])
      expect((await ollama.chat({ model, messages: question, options, format: format as never })).message.content).toBe(
        whole.message.content,
      );
    expect(whole.message.content.length).toBeGreaterThan(5);
    expect(whole.eval_count).toBeGreaterThan(1);
    let text = '';
    for await (const part of await ollama.chat({ model, messages: question, options, stream: true })) {
      text += part.message.content;
    }
    expect(text).toBe(whole.message.content);
    const generated = await ollama.generate({ model, prompt: 'What is your name?', options });
    expect(generated.response).toBe(text);
    const thought = await ollama.chat({ model, messages: question, think: true, options: { num_predict: 20 } });
    expect(thought.message.thinking?.length).toBeGreaterThan(5);
    const { embeddings } = await ollama.embed({ model: 'all-minilm-l6-v2', input: ['a', 'b'] });
    expect(embeddings.map((vector) => vector.length)).toEqual([384, 384]);
    await expect(ollama.chat({ model: 'nobody', messages: question })).rejects.toThrow('"nobody" is not here');

    // A text as it is: what the template makes of a question is gone on with in the same words.
    const raw = await ollama.generate({
      model,
      prompt: '<|im_start|>user\nWhat is your name?<|im_end|>\n<|im_start|>assistant\n',
      raw: true,
      logprobs: true,
      top_logprobs: 2,
      options,
    });
    expect(raw.response?.length).toBeGreaterThan(5);
    expect(raw.logprobs?.map(({ token }) => token).join('')).toBe(raw.response);
    expect(raw.logprobs?.every(({ logprob, top_logprobs = [] }) => top_logprobs[0]?.logprob === logprob)).toBe(true);

    const [loaded] = (await ollama.ps()).models;
    expect(loaded).toMatchObject({ name: model, size: expect.any(Number) });
    expect(loaded?.size).toBeGreaterThan(1e6);
    const expires = async () => Date.parse(String((await ollama.ps()).models[0]?.expires_at)) - Date.now();
    expect(await expires()).toBeGreaterThan(1e9);
    await ollama.generate({ model, prompt: 'Hi', keep_alive: '1h30m', options: { num_predict: 1 } });
    expect(Math.abs((await expires()) - 5_400_000)).toBeLessThan(60_000);
    await ollama.generate({ model, prompt: '', keep_alive: 0 });
    expect((await ollama.ps()).models).toEqual([]);
    await ollama.generate({ model, prompt: '', keep_alive: 300 });
    expect(Math.abs((await expires()) - 300_000)).toBeLessThan(60_000);
    await expect(ollama.generate({ model, prompt: 'Hi', keep_alive: 'soon' })).rejects.toThrow(
      '[keep_alive] has to be',
    );
  });
});

test('pages of an origin that was allowed by name may ask', async () => {
  const { address, model } = await start({ origins: () => ['http://editor.example'] });
  const asked = await fetch(`${address}/v1/models`, {
    headers: { authorization: `Bearer ${KEY}`, origin: 'http://editor.example' },
  });
  expect(asked.headers.get('access-control-allow-origin')).toBe('http://editor.example');
  expect(JSON.stringify(await asked.json())).toContain(model);
  const preflight = await fetch(`${address}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: { origin: 'http://editor.example', 'access-control-request-headers': 'authorization,x-stainless-os' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,x-stainless-os');
});
