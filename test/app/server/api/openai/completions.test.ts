import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { loadAddon } from '../../../../../app/engine/process/addon.ts';
import { decode } from '../../../../../app/text/tokenizer/detokenizer.ts';
import { createTokenizer } from '../../../../../app/text/tokenizer/tokenizer.ts';
import { connect, newFolder, root } from '../../../../support/core/core.ts';
import { KEY, startApi } from '../api.ts';

//  Texts that are gone on with, and how likely every token was, through the official client and the built-in model.

const starter = join(root, 'resources/starter-model');
const prompt = 'The sun rises in the';
const greedy = { temperature: 0, max_tokens: 8 };

async function start() {
  const server = await startApi();
  return { ...server, openai: new OpenAI({ baseURL: `${server.address}/v1`, apiKey: KEY, maxRetries: 0 }) };
}

/** Log-probabilities of the token after these, as the model's logits have them. */
async function nextLogprobs(tokens: number[]): Promise<number[]> {
  const addon = loadAddon(join(root, 'build/native/Release/longhand.node'));
  const model = await addon.load(starter);
  const session = model.createSession({ contextLength: 64 });
  const { data } = await session.logits(Int32Array.from(tokens), { path: 'fast' });
  model.close();
  const logits = [...data];
  const peak = Math.max(...logits);
  const total = peak + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - peak), 0));
  return logits.map((logit) => logit - total);
}

describe('a text that is gone on with', () => {
  test('whole and piece by piece, with stop, echo and a limit', async () => {
    const { openai, model } = await start();
    const ask = (more: object = {}) => openai.completions.create({ model, prompt, ...greedy, ...more });
    const whole = await ask();
    const text = whole.choices[0]?.text ?? '';
    expect(text.length).toBeGreaterThan(3);
    expect(whole.choices[0]).toMatchObject({ index: 0, logprobs: null, finish_reason: 'length' });
    expect(whole.usage).toMatchObject({ completion_tokens: 8 });
    expect(Math.abs(whole.created - Date.now() / 1000), 'seconds').toBeLessThan(600);
    // Nothing of a template stands around it.
    const tokenizer = createTokenizer(JSON.parse(readFileSync(join(starter, 'tokenizer.json'), 'utf8')));
    expect(whole.usage?.prompt_tokens).toBe(tokenizer.encodeText(prompt).length);

    let streamed = '';
    let finish: string | null = null;
    let total = 0;
    const options = { stream: true as const, stream_options: { include_usage: true } };
    for await (const { choices, usage } of await openai.completions.create({ model, prompt, ...greedy, ...options })) {
      streamed += choices[0]?.text ?? '';
      finish = choices[0]?.finish_reason ?? finish;
      total = usage?.total_tokens ?? total;
    }
    expect([streamed, finish, total]).toEqual([text, 'length', whole.usage?.total_tokens]);

    const stop = text.slice(3, 6);
    const stopped = (await ask({ stop: [stop] })).choices[0];
    expect([stopped?.text, stopped?.finish_reason]).toEqual([text.slice(0, text.indexOf(stop)), 'stop']);
    expect((await ask({ echo: true })).choices[0]?.text).toBe(prompt + text);
    expect((await openai.completions.create({ model, prompt })).usage?.completion_tokens).toBeLessThanOrEqual(16);
    await expect(ask({ prompt: null })).rejects.toThrow(
      '400 [prompt] is empty, and this model has no token that starts',
    );
    const marked = '<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\n';
    expect((await ask({ prompt: marked })).usage?.prompt_tokens).toBeLessThan(tokenizer.encodeText(marked).length);
  });

  test('several prompts and several texts of each, in their order, whole and streamed', async () => {
    const { openai, model } = await start();
    const asked = { model, prompt: [prompt, 'One, two,'], n: 2, temperature: 1.5, seed: 5, max_tokens: 6 };
    const { choices, usage } = await openai.completions.create(asked);
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(usage?.completion_tokens).toBe(24);
    const texts = choices.map(({ text }) => text);
    expect(texts[0]).not.toBe(texts[1]);
    const next = await openai.completions.create({ ...asked, prompt, n: 1, seed: 6 });
    expect(next.choices[0]?.text).toBe(texts[1]);
    const streamed = ['', '', '', ''];
    for await (const part of await openai.completions.create({ ...asked, echo: true, stream: true })) {
      for (const { index, text } of part.choices) streamed[index] += text;
    }
    expect(streamed).toEqual(texts.map((text, index) => asked.prompt[index >> 1] + text));
  });

  test('a bias makes a token certain or keeps it out, in texts and chats; ids that the model does not have change nothing', async () => {
    const { openai, model } = await start();
    const tokenizer = createTokenizer(JSON.parse(readFileSync(join(starter, 'tokenizer.json'), 'utf8')));
    const ask = async (logit_bias: Record<string, number>, more: object = {}) =>
      (await openai.completions.create({ model, prompt, ...greedy, ...more, logit_bias })).choices.map(
        ({ text }) => text,
      );
    const [text = ''] = await ask({});
    const written = tokenizer.encodeText(text, false);
    const [apple = 0] = tokenizer.encodeText(' apple', false);
    const apples = decode(
      tokenizer,
      Array.from({ length: 8 }, () => apple),
    );
    expect(await ask({ [apple]: 100 })).toEqual([apples]);
    expect(await ask({ [apple]: 100 }, { n: 2 })).toEqual([apples, apples]);
    const [other = ''] = await ask({ [written[0] ?? 0]: -100 });
    expect(other).not.toBe('');
    expect(tokenizer.encodeText(other, false)).not.toContain(written[0]);
    expect(await ask({ 900000000: 100 })).toEqual([text]);

    const messages = [{ role: 'user' as const, content: 'What is your name?' }];
    const chat = { model, messages, temperature: 0, max_tokens: 4, reasoning_effort: 'none' as const };
    const answered = await openai.chat.completions.create({ ...chat, logit_bias: { [apple]: 100 } });
    expect(answered.choices[0]?.message.content?.match(/apple/g)).toHaveLength(4);
    const many = Object.fromEntries(Array.from({ length: 1025 }, (_, id) => [id, 1]));
    await expect(ask(many)).rejects.toThrow('[logit_bias] has more than 1024 tokens');
  });

  test('a gap is filled where the model has tokens for it, and refused in a sentence where not', async () => {
    const { openai, model, host } = await start();
    const gap = { prompt: 'def add(a, b):\n', suffix: '\n    return c', ...greedy };
    const refused = await openai.completions.create({ model, ...gap }).catch((error) => error);
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused.message).toContain('[suffix] this model cannot fill in a gap');

    const folder = join(newFolder(), 'tiny-filler');
    cpSync(starter, folder, { recursive: true });
    const path = join(folder, 'tokenizer.json');
    const names = ['vision_start', 'vision_end', 'image_pad'];
    const roles = ['fim_prefix', 'fim_suffix', 'fim_middle'];
    const renamed = names.reduce(
      (text, name, at) => text.replaceAll(`<|${name}|>`, `<|${roles[at]}|>`),
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, renamed);
    await connect(host).call('models.import', { path: folder });
    const filled = await openai.completions.create({ model: 'tiny-filler', ...gap });
    const tokenizer = createTokenizer(JSON.parse(renamed));
    const parts = tokenizer.encodeText(gap.prompt).length + tokenizer.encodeText(gap.suffix, false).length;
    expect(filled.usage?.prompt_tokens).toBe(parts + 3);
  });

  test('what cannot be done is told', async () => {
    const { openai, model } = await start();
    for (const [body, where] of [
      [{ prompt: '' }, '[prompt] is empty'],
      [{ prompt: [1, 2, 3] }, '[prompt.0] has to be a text or a list of texts'],
      [{ n: 17 }, '[n]'],
      [{ prompt: ['a', 'b', 'c'], n: 6 }, '[n] asks for more than 16 texts'],
      [{ best_of: 3 }, '[best_of]'],
      [{ echo: true, logprobs: 1 }, '[echo]'],
      [{ echo: true, suffix: 'x' }, '[echo]'],
      [{ max_tokens: 0 }, '[max_tokens]'],
    ] as const) {
      const asked = openai.completions.create({ model, prompt, ...body } as never);
      await expect(asked, where).rejects.toThrow(where);
    }
  });
});

describe('log probabilities', () => {
  test('are those of a softmax of the logits, for the token and its alternatives', async () => {
    const { openai, model } = await start();
    const { choices } = await openai.completions.create({
      model,
      prompt,
      ...greedy,
      temperature: 0.7,
      seed: 1,
      logprobs: 5,
    });
    const { text, logprobs } = choices[0] ?? {};
    expect(logprobs?.tokens?.join('')).toBe(text);
    expect(logprobs?.text_offset).toEqual(
      logprobs?.tokens?.map((_, at) => logprobs.tokens?.slice(0, at).join('').length),
    );
    const tokenizer = createTokenizer(JSON.parse(readFileSync(join(starter, 'tokenizer.json'), 'utf8')));
    const expected = await nextLogprobs(tokenizer.encodeText(prompt));
    const named = (id: number) => Buffer.from(tokenizer.bytes.of(id)).toString();
    const best = expected
      .map((logprob, id) => ({ id, logprob }))
      .sort((a, b) => b.logprob - a.logprob)
      .slice(0, 5);
    const told = Object.entries(logprobs?.top_logprobs?.[0] ?? {});
    expect(told.map(([token]) => token)).toEqual(best.map(({ id }) => named(id)));
    for (const [at, [, logprob]] of told.entries()) expect(logprob).toBeCloseTo(best[at]?.logprob ?? 0, 3);
    const first = expected.findIndex((_, id) => named(id) === logprobs?.tokens?.[0]);
    expect(logprobs?.token_logprobs?.[0]).toBeCloseTo(expected[first] ?? 0, 3);
  });

  test('of a chat: of every token of the answer, not of its thinking, whole and streamed', async () => {
    const { openai, model } = await start();
    const messages = [{ role: 'user' as const, content: 'What is your name?' }];
    const asked = { model, messages, temperature: 0, max_tokens: 24, logprobs: true, top_logprobs: 3 };
    const { choices } = await openai.chat.completions.create(asked);
    const content = choices[0]?.logprobs?.content ?? [];
    expect(content.map(({ token }) => token).join('')).toBe(choices[0]?.message.content);
    expect(content.every(({ top_logprobs }) => top_logprobs.length === 3)).toBe(true);
    // Greedy: what was taken is the likeliest.
    expect(content.map(({ token, logprob }) => [token, logprob])).toEqual(
      content.map(({ top_logprobs: [best] }) => [best?.token, best?.logprob]),
    );
    expect(Buffer.from(content.flatMap(({ bytes }) => bytes ?? [])).toString()).toBe(choices[0]?.message.content);
    const streamed = (await openai.chat.completions.stream(asked).finalChatCompletion()).choices[0];
    expect(streamed?.logprobs?.content).toEqual(content);

    const plain = await openai.chat.completions.create({ ...asked, top_logprobs: null });
    expect(plain.choices[0]?.logprobs?.content?.map(({ top_logprobs }) => top_logprobs.length)).toEqual(
      content.map(() => 0),
    );
    const thought = await openai.chat.completions.create({ ...asked, max_tokens: 300, reasoning_effort: 'low' });
    const { message, logprobs } = thought.choices[0] ?? {};
    expect((message as { reasoning_content?: string }).reasoning_content?.length).toBeGreaterThan(5);
    expect(
      logprobs?.content
        ?.map(({ token }) => token)
        .join('')
        .trim(),
    ).toBe(message?.content?.trim());

    await expect(openai.chat.completions.create({ ...asked, logprobs: false })).rejects.toThrow('[top_logprobs] needs');
    const silent = await openai.chat.completions.create({ ...asked, logprobs: null, top_logprobs: null });
    expect(silent.choices[0]?.logprobs).toBe(null);
  });
});
