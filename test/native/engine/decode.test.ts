// What an answer is chosen by, token after token, and what is told meanwhile: beside the logits of the same tokens read at once.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { GenerateOptions, Model, TokenEvent } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../../support/addon.ts';
import { someTokens, starter } from '../../support/models/models.ts';

const PROMPT = [5, 9, 5, 9, 17, 5];
const open = () => addon.load(join(golden, 'llama/gqa_tied'), { device: 'cpu' });
type Penalties = Pick<
  GenerateOptions,
  'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty' | 'penaltyWindow' | 'bias' | 'forbidden'
>;

/** The likeliest token after `tokens`, with what its options add and take away. */
async function likeliest(model: Model, tokens: number[], options: Penalties): Promise<number> {
  const { repetitionPenalty = 1, presencePenalty = 0, frequencyPenalty = 0, penaltyWindow = -1 } = options;
  const session = model.createSession({ path: 'exact' });
  const { data } = await session.logits(Int32Array.from(tokens), {});
  session.close();
  const counted = penaltyWindow < 0 ? tokens : tokens.slice(Math.max(0, tokens.length - penaltyWindow));
  const scores = [...data];
  for (const token of new Set(counted)) {
    const count = counted.filter((one) => one === token).length;
    const score = scores[token] ?? 0;
    scores[token] =
      (score > 0 ? score / repetitionPenalty : score * repetitionPenalty) - presencePenalty - frequencyPenalty * count;
  }
  for (const [i, token] of (options.bias?.tokens ?? []).entries())
    scores[token] = (scores[token] ?? 0) + (options.bias?.values[i] ?? 0);
  for (const token of options.forbidden ?? []) scores[token] = -Infinity;
  return scores.indexOf(Math.max(...scores));
}

test.each<Penalties>([
  {},
  { frequencyPenalty: 0.3 },
  { frequencyPenalty: 0.3, penaltyWindow: 1 },
  { frequencyPenalty: 4, penaltyWindow: 4 },
  { repetitionPenalty: 3, penaltyWindow: 5 },
  { presencePenalty: 9, penaltyWindow: 6 },
  { presencePenalty: 2, penaltyWindow: 7 },
  { presencePenalty: 2, penaltyWindow: 1000 },
  { presencePenalty: 20, penaltyWindow: 0 },
  { bias: { tokens: [4, 6, 4, 9], values: [40, 29, -12, 50] }, forbidden: [9] },
])('each token is the likeliest one with %j', async (asked) => {
  // Four tokens before all others, so that it is penalties that choose between them.
  const options = { bias: { tokens: [5, 9, 17, 3], values: [30, 30, 30, 30] }, ...asked };
  const model = await open();
  const session = model.createSession({ path: 'exact' });
  const { tokens } = await session.generate(Int32Array.from(PROMPT), { maxTokens: 14, temperature: 0, ...options });
  const wanted: number[] = [];
  while (wanted.length < 14) wanted.push(await likeliest(model, [...PROMPT, ...wanted], options));
  expect(tokens).toEqual(wanted);
  model.close();
});

test('logits of parts of a prompt and of tokens one by one are those of all at once', async () => {
  const model = await open();
  const tokens = Int32Array.from([...PROMPT, ...PROMPT, 3]);
  const session = model.createSession({ path: 'exact' });
  const whole = await session.logits(tokens, { all: true });
  expect([whole.rows, whole.columns, whole.data.length]).toEqual([13, 197, 13 * 197]);
  const row = whole.data.slice(-197);
  for (const options of [
    {},
    { chunk: 1 },
    { chunk: 5 },
    { chunk: 13 },
    { generated: 4 },
    { generated: 13, chunk: 3 },
  ]) {
    const all = await session.logits(tokens, { all: true, ...options });
    expect(all.rows).toBe(13);
    expect(all.data).toEqual(whole.data);
    const last = await session.logits(tokens, options);
    expect([last.rows, last.data]).toEqual([1, row]);
    expect([...session.tokens()]).toEqual([...tokens]);
  }
  model.close();
});

test('scores of a text longer than a pass are those of its parts', async () => {
  const model = await addon.load(starter, { device: 'cpu' });
  const session = model.createSession({ path: 'exact' });
  const tokens = someTokens(530);
  const all = await session.score(tokens, { from: 500, top: 2, path: 'fast' });
  expect([all.logprobs.length, all.top.length, all.topLogprobs.length]).toEqual([30, 60, 60]);
  for (const from of [513, 514]) {
    const { logprobs } = await session.score(tokens, { from, path: 'fast' });
    expect(logprobs).toHaveLength(530 - from);
    for (const [i, one] of logprobs.entries()) expect(one).toBeCloseTo(all.logprobs[from - 500 + i] ?? 0, 1);
  }
  model.close();
});

test('what is told while a prompt is read and an answer written', async () => {
  const model = await addon.load(starter, { device: 'cpu' });
  model.setPromptCache(64e6);
  const session = model.createSession({ contextLength: 1200 });
  const told: number[][] = [];
  const events: TokenEvent[] = [];
  const options = {
    maxTokens: 6,
    temperature: 0,
    onPrefill: (...now: number[]) => told.push(now),
    onTokens: (some: TokenEvent[]) => events.push(...some),
  };
  const prompt = someTokens(1030);
  const begun = performance.now();
  const { timings, tokens, reuse } = await session.generate(prompt, options);
  const took = performance.now() - begun;
  expect(told).toEqual([
    [0, 1030, 0],
    [512, 1030, 0],
    [1024, 1030, 0],
    [1030, 1030, 0],
  ]);
  expect(timings).toMatchObject({ promptTokens: 1030, cachedTokens: 0 });
  expect(reuse).toMatchObject({ tokens: 0, requested: 1030, known: 0, differs: false, reason: 'cold' });
  expect(events.map(({ id }) => id)).toEqual(tokens);
  const at = events.map((event) => event.at);
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  expect(timings.prefillMs).toBeGreaterThan(0);
  expect(timings.prefillMs).toBeLessThanOrEqual(timings.firstTokenMs);
  expect(timings.firstTokenMs).toBeLessThanOrEqual((at[0] ?? 0) + 0.01);
  expect(timings.decodeMs).toBeGreaterThanOrEqual((at[5] ?? 0) - (at[0] ?? 0) - 1);
  expect(timings.firstTokenMs + timings.decodeMs).toBeLessThanOrEqual(took);
  expect(timings.decodeMs).toBeGreaterThan(0);

  told.length = 0;
  const longer = Int32Array.from([...prompt, 7, 8]);
  const again = await session.generate(longer, { ...options, maxTokens: 1 });
  expect(told).toEqual([
    [1024, 1032, 1024],
    [1032, 1032, 1024],
  ]);
  expect(again.timings).toMatchObject({ promptTokens: 1032, cachedTokens: 1024 });
  expect(again.finish).toBe('length');
  expect((await session.generate(longer, { maxTokens: 0 })).tokens).toEqual([]);
  model.close();
});

test('lengths that can be gone back to: all of them, or those of which the state is kept', async () => {
  const plain = await open();
  const session = plain.createSession({ path: 'exact' });
  await session.generate(Int32Array.from(PROMPT), { maxTokens: 3, temperature: 0 });
  const held = session.tokens().length;
  expect(session.snapshots()).toEqual(Array.from({ length: held + 1 }, (_, length) => length));
  plain.close();
  const hybrid = await addon.load(starter, { device: 'cpu' });
  const other = hybrid.createSession({ contextLength: 100 });
  expect(other.snapshots()).toEqual([0]);
  await other.generate(someTokens(20), { maxTokens: 4, temperature: 0 });
  await other.snapshot();
  await other.generate(Int32Array.from([...other.tokens(), 5, 6]), { maxTokens: 3, temperature: 0 });
  const all = other.snapshots();
  expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
  expect([all[0], all.at(-1)]).toEqual([0, other.tokens().length]);
  expect(all).toContain(24);
  hybrid.close();
});

test('where the prompt cache has no room, the states after the first message and the latest four are kept', async () => {
  const model = await addon.load(starter, { device: 'cpu' });
  model.setPromptCache(0);
  const END = 2;
  const message = (seed: number) => [...someTokens(19, seed), END];
  const kept = async (messages: number, after: number) => {
    const session = model.createSession({ contextLength: 256 });
    const prompt = [...Array.from({ length: messages }, (_, seed) => message(seed + 1)).flat(), ...someTokens(after)];
    await session.generate(Int32Array.from(prompt), { maxTokens: 1, stopTokens: [END], temperature: 0 });
    const lengths = session.snapshots();
    session.close();
    return lengths;
  };
  expect(await kept(1, 5)).toEqual([0, 20, 25]);
  expect(await kept(5, 5)).toEqual([0, 20, 40, 60, 80, 100, 105]);
  expect(await kept(8, 5)).toEqual([0, 20, 100, 120, 140, 160, 165]);
  // Where more follows than a template adds, the state before the last token is one of them.
  expect(await kept(8, 12)).toEqual([0, 20, 100, 120, 140, 160, 172]);
  expect(await kept(8, 13)).toEqual([0, 20, 120, 140, 160, 172, 173]);
  model.close();
});
