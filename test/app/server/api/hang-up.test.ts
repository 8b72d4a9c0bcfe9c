import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { circling, repetitive } from '../../../support/models/circling.ts';
import { KEY, startApi } from './api.ts';

//  A client that is gone leaves no answer behind, in every dialect: left alone, these would be written for more than five seconds.

async function start() {
  const { address, model, host } = await startApi();
  const phase = async () => (await host.handlers['engine.status'](undefined as never)).phase;
  /** Hangs up as soon as the answer is being written. */
  const ends = async (asked: Promise<unknown>, abort: () => void) => {
    asked.catch(() => {});
    await expect.poll(phase, { timeout: 20_000, interval: 10 }).toBe('busy');
    abort();
    await expect(asked).rejects.toThrow(/abort/i);
    await expect.poll(phase, { timeout: 3000, interval: 10 }).toBe('ready');
  };
  return { address, model, ends };
}

async function read(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
  throw new Error('it was read to its end');
}

const messages = [{ role: 'user' as const, content: repetitive }];

test('openai: an abort ends a response and a completion, whole and streamed', async () => {
  const { address, model, ends } = await start();
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 });
  const sampling = { temperature: circling.temperature, frequency_penalty: circling.frequencyPenalty };
  for (const ask of [
    (signal: AbortSignal) => openai.responses.create({ model, input: repetitive, temperature: 2 }, { signal }),
    (signal: AbortSignal) =>
      openai.completions.create({ model, prompt: repetitive, max_tokens: 100_000, ...sampling }, { signal }),
  ]) {
    const hangUp = new AbortController();
    await ends(ask(hangUp.signal), () => hangUp.abort());
  }
  const hangUp = new AbortController();
  const stream = await openai.completions.create(
    { model, prompt: repetitive, max_tokens: 100_000, ...sampling, stream: true },
    { signal: hangUp.signal },
  );
  let pieces = 0;
  for await (const _ of stream) if (++pieces === 3) break;
  const next = await openai.completions.create({ model, prompt: 'Hello', max_tokens: 1 });
  expect(next.choices).toHaveLength(1);
});

test('@anthropic-ai/sdk: an abort ends a message, whole and streamed', async () => {
  const { address, model, ends } = await start();
  const anthropic = new Anthropic({ baseURL: address, apiKey: KEY, maxRetries: 0, timeout: 600_000 });
  const asked = { model, messages, max_tokens: 20_000, temperature: 2 } as const;
  const hangUp = new AbortController();
  await ends(anthropic.messages.create(asked, { signal: hangUp.signal }), () => hangUp.abort());
  const stream = anthropic.messages.stream(asked);
  await ends(stream.finalMessage(), () => stream.abort());
});

test('ollama: an abort ends a chat and a text, whole and streamed', async () => {
  const { address, model, ends } = await start();
  const options = { temperature: circling.temperature, frequency_penalty: circling.frequencyPenalty };
  for (const ask of [
    (ollama: Ollama) => ollama.chat({ model, messages, options, stream: true }),
    (ollama: Ollama) => ollama.generate({ model, prompt: repetitive, options, stream: true }),
  ]) {
    const ollama = new Ollama({ host: address, headers: { Authorization: `Bearer ${KEY}` } });
    // A stream is known to this client once it has begun.
    await ends(read(await ask(ollama)), () => ollama.abort());
  }
  const hangUp = new AbortController();
  const headers = { Authorization: `Bearer ${KEY}` };
  const ollama = new Ollama({
    host: address,
    headers,
    fetch: (url, given) => fetch(url, { ...given, signal: hangUp.signal }),
  });
  await ends(ollama.chat({ model, messages, options }), () => hangUp.abort());
});
