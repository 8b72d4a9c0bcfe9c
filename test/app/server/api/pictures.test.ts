import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { connect, newFolder } from '../../../support/core/core.ts';
import { makeSeeingModel, pictureFiles } from '../../../support/models/seeing-model.ts';
import { KEY, startApi } from './api.ts';

//  Pictures in requests, with the clients that others wrote and a model that sees.

const base64 = (name: string) => readFileSync(pictureFiles(name)).toString('base64');
const rgb = base64('rgb.png'); // 9 x 6 tokens, and two marks around them
const TOKENS = 54 + 2;

async function start() {
  const server = await startApi();
  await connect(server.host).call('models.import', { path: makeSeeingModel(newFolder()) });
  const openai = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: KEY, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: server.address, apiKey: KEY, maxRetries: 0 });
  const ollama = new Ollama({ host: server.address, headers: { Authorization: `Bearer ${KEY}` } });
  return { ...server, seer: 'tiny-seer', openai, anthropic, ollama };
}

type Part = OpenAI.ChatCompletionContentPart;
const text: Part = { type: 'text', text: 'What is it?' };
const image = (url: string): Part => ({ type: 'image_url', image_url: { url } });

describe('a picture', () => {
  test('is seen, whoever asks, and is known the second time', async () => {
    const { seer: model, openai, anthropic, ollama } = await start();
    const ask = (content: Part[]) =>
      openai.chat.completions.create({ model, messages: [{ role: 'user', content }], temperature: 0, max_tokens: 6 });
    const blind = await ask([text]);
    const seen = await ask([image(`data:image/png;base64,${rgb}`), text]);
    expect((seen.usage?.prompt_tokens ?? 0) - (blind.usage?.prompt_tokens ?? 0)).toBe(TOKENS);
    const other = await ask([image(`data:image/jpeg;base64,${base64('jpeg_444.jpg')}`), text]);
    expect(other.choices[0]?.message.content).not.toBe(seen.choices[0]?.message.content);
    const again = await ask([image(`data:image/png;base64,${rgb}`), text]);
    expect(again.choices[0]?.message.content).toBe(seen.choices[0]?.message.content);
    expect(again.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0);

    const content: Anthropic.ContentBlockParam[] = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: rgb } },
      { type: 'text', text: 'What is it?' },
    ];
    const asked = { model, max_tokens: 6, temperature: 0, messages: [{ role: 'user' as const, content }] };
    const claude = await anthropic.messages.create(asked);
    expect(claude.usage.input_tokens + (claude.usage.cache_read_input_tokens ?? 0)).toBe(seen.usage?.prompt_tokens);
    expect((await anthropic.messages.countTokens(asked)).input_tokens).toBe(seen.usage?.prompt_tokens);

    const messages = [{ role: 'user', content: 'What is it?', images: [rgb] }];
    const local = await ollama.chat({ model, messages, options: { temperature: 0, num_predict: 6 } });
    expect(local.prompt_eval_count).toBe(seen.usage?.prompt_tokens);
    expect(local.message.content).toBe(seen.choices[0]?.message.content);
    expect((await ollama.show({ model })).capabilities).toContain('vision');
  });

  test('is refused in a sentence where it cannot be read', async () => {
    const { seer, model: blind, openai, anthropic } = await start();
    const refused = (content: Part[], model = seer) =>
      openai.chat.completions.create({ model, messages: [{ role: 'user', content }], max_tokens: 4 }).then(
        () => 'answered',
        (error: Error) => error.message,
      );
    expect(await refused([image('http://127.0.0.1:9/cat.png'), text])).toContain('addresses are not fetched');
    expect(await refused([image('file:///etc/passwd'), text])).toContain('addresses are not fetched');
    expect(await refused([image('data:image/png;base64,???'), text])).toContain('addresses are not fetched');
    expect(await refused([image('data:image/png;base64,aGVsbG8='), text])).toMatch(/\[pictures\]/);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>').toString('base64');
    expect(await refused([image(`data:image/svg+xml;base64,${svg}`), text])).toMatch(/\[pictures\]/);
    expect(await refused(Array.from({ length: 17 }, () => image(`data:image/png;base64,${rgb}`)))).toContain(
      '17 pictures',
    );
    expect(await refused([image(`data:image/png;base64,${rgb}`), text], blind)).toContain('does not see pictures');
    const content: Anthropic.ContentBlockParam[] = [
      { type: 'image', source: { type: 'url', url: 'https://example.org/cat.png' } },
    ];
    await expect(
      anthropic.messages.create({ model: seer, max_tokens: 4, messages: [{ role: 'user', content }] }),
    ).rejects.toThrow('addresses are not fetched');
  });
});
