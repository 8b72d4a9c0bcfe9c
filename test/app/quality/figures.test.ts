import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { meanOf, shareOf } from '../../../app/protocol/index.ts';
import { askChoices, readQuestions } from '../../../app/quality/choices.ts';
import { divergenceOf, kldOf } from '../../../app/quality/divergence.ts';
import { cut } from '../../../app/quality/evaluation/texts.ts';
import { needleIn } from '../../../app/quality/needle.ts';
import { perplexityOf } from '../../../app/quality/perplexity.ts';
import { readReference, takeReference, textHash, writeReference } from '../../../app/quality/reference-file.ts';
import type { Scorer } from '../../../app/quality/scorer.ts';
import { windowsOf } from '../../../app/quality/windows.ts';
import { newFolder } from '../../support/core/core.ts';

const tokens = (count: number) => Int32Array.from({ length: count }, (_, at) => at);

test.each([
  [2, 2, 1],
  [5, 2, 1],
  [100, 16, 16],
  [100, 16, 8],
  [100, 16, 15],
  [17, 16, 5],
  [100, 1000, 500],
])(
  '%d tokens in windows of %d, %d further each: every token is scored once, after all that fits before it',
  (count, length, stride) => {
    const scored = new Map<number, number>();
    for (const window of windowsOf(tokens(count), length, stride)) {
      expect(window.tokens.length).toBeLessThanOrEqual(length);
      expect(window.from).toBeGreaterThan(0);
      for (const [at, token] of window.tokens.entries()) if (at >= window.from) scored.set(token, at);
    }
    // Where windows do not overlap, the first token of each has nothing before it.
    const expected = [...tokens(count)].filter((token) => token > 0 && (stride < length || token % length > 0));
    expect([...scored.keys()].sort((a, b) => a - b)).toEqual(expected);
    for (const [token, before] of scored) expect(before).toBeGreaterThanOrEqual(Math.min(token, length - stride));
  },
);

test.each([
  [1, 16, 8, /1 tokens; at least two/],
  [9, 1, 1, /window of 1/],
  [9, 8, 9, /stride of 9/],
  [9, 8, 0, /stride of 0/],
])('%d tokens, a window of %d and a stride of %d are refused', (count, length, stride, why) => {
  expect(() => windowsOf(tokens(count), length, stride)).toThrow(why);
});

/** Distributions over three tokens that depend on the token before. */
const table = (sharp: number): Scorer => {
  const row = (token: number) => {
    const weights = [0, 1, 2].map((one) => Math.exp(one === (token + 1) % 3 ? sharp : 0));
    const sum = weights.reduce((a, b) => a + b);
    return weights.map((weight) => Math.log(weight / sum));
  };
  return async (ids, { from, top = 0, at = [] }) => {
    const rows = [...ids.slice(from - 1, -1)].map(row);
    const each = at.length / rows.length;
    const order = rows.map((one) =>
      [0, 1, 2].sort((a, b) => (one[b] as number) - (one[a] as number) || a - b).slice(0, top),
    );
    return {
      logprobs: Float32Array.from(rows, (one, n) => one[ids[from + n] as number] as number),
      top: Int32Array.from(order.flat()),
      topLogprobs: Float32Array.from(order.flatMap((ids, n) => ids.map((id) => rows[n]?.[id] as number))),
      atLogprobs: Float32Array.from(at, (id, n) => rows[Math.floor(n / each)]?.[id] as number),
    };
  };
};
const text = Int32Array.from({ length: 400 }, (_, at) => (at * at) % 3);

test('perplexity is e to the mean loss: three for a model that knows nothing of three tokens', async () => {
  const { perplexity, tokens: count } = await perplexityOf(table(0), windowsOf(text, 64, 32));
  expect(perplexity.value).toBeCloseTo(3, 5);
  expect(count).toBe(399);
});

test('divergence from itself is nothing, from another what the definition says', async () => {
  const windows = windowsOf(text, 64, 32);
  const reference = await takeReference(table(2), 'sharp', windows, 3);
  const same = await divergenceOf(table(2), windows, reference);
  expect(same.kld.value).toBeLessThan(1e-7);
  expect(same.sameTop.value).toBe(1);
  const p = [Math.exp(2), 1, 1].map((one) => one / (Math.exp(2) + 2));
  const kld = p.reduce((sum, one) => sum + one * Math.log(one * 3), 0);
  const other = await divergenceOf(table(0), windows, reference);
  expect(other.kld.value).toBeCloseTo(kld, 5);
  expect(other.kld99).toBeCloseTo(kld, 5);
  expect(other.perplexity.value).toBeCloseTo(3, 5);
  expect(other.referencePerplexity.value).not.toBeCloseTo(3, 1);
});

test('where the divergence is large at some tokens only, its 99th percentile says so', async () => {
  const windows = windowsOf(text, 64, 32);
  const reference = await takeReference(table(2), 'sharp', windows, 3);
  let asked = 0;
  const flatAtFirst: Scorer = (...given) => table(asked++ === 0 ? 0 : 2)(...given);
  const { kld, kld99 } = await divergenceOf(flatAtFirst, windows, reference);
  expect(kld.value).toBeLessThan(0.1);
  expect(kld99).toBeGreaterThan(0.3);
});

test('tokens that are not known one by one count as one, and never make the divergence larger than it is', () => {
  const p = [0.5, 0.3, 0.15, 0.05].map(Math.log);
  const q = [0.4, 0.3, 0.1, 0.2].map(Math.log);
  const whole = kldOf(p, q);
  expect(whole).toBeCloseTo(0.5 * Math.log(0.5 / 0.4) + 0.15 * Math.log(1.5) + 0.05 * Math.log(0.25), 6);
  const two = kldOf(p.slice(0, 2), q.slice(0, 2));
  expect(two).toBeLessThanOrEqual(whole);
  expect(two).toBeCloseTo(0.5 * Math.log(0.5 / 0.4) + 0.2 * Math.log(0.2 / 0.3), 6);
});

test('a reference comes back from its file; a damaged one, a shorter one and another file are refused', async () => {
  const windows = windowsOf(text, 64, 32);
  const reference = await takeReference(table(2), 'sharp', windows, 3);
  const path = join(newFolder(), 'sharp.reference');
  await writeReference(path, reference);
  expect(await readReference(path)).toEqual(reference);
  expect(reference.text).not.toBe(textHash(windowsOf(text, 64, 16)));
  const bytes = readFileSync(path);
  for (const at of [30, 200, bytes.length - 40, bytes.length - 1]) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] as number) ^ 1;
    writeFileSync(path, flipped);
    await expect(readReference(path)).rejects.toThrow(/damaged/);
  }
  writeFileSync(path, bytes.subarray(0, -400));
  await expect(readReference(path)).rejects.toThrow(/damaged/);
  writeFileSync(path, 'something else');
  await expect(readReference(path)).rejects.toThrow(/no reference/);
});

test('where nothing is asked for, windows are as long as the model reads and overlap by half', () => {
  const subject = {
    native: { contextLength: 8 },
    text: { before: [], tokenizer: { encodeText: (written: string) => [...tokens(written.length)] } },
  } as unknown as Parameters<typeof cut>[0];
  expect(cut(subject, 'sixteen letters.')).toEqual(windowsOf(tokens(16), 8, 4));
  expect(cut(subject, 'sixteen letters.', { window: 2 })).toEqual(windowsOf(tokens(16), 2, 1));
});

test('a reference that cannot take its place is not said to be there', async () => {
  const path = join(newFolder(), 'sharp.reference');
  mkdirSync(path);
  const reference = await takeReference(table(2), 'sharp', windowsOf(text, 64, 32), 3);
  await expect(writeReference(path, reference)).rejects.toMatchObject({ syscall: 'rename' });
});

test('choices: the likeliest answer is the model’s; lines that are none are named', async () => {
  const questions = readQuestions(
    '{"question":"a","choices":["b","c"],"answer":0}\n\n{"question":"b","choices":["a","c"],"answer":0}\n{"question":"c","choices":["b","a"],"answer":1}\n',
  );
  const encode = (written: string) => [...written.replaceAll(' ', '')].map((letter) => letter.charCodeAt(0) - 97);
  const done: number[] = [];
  const found = await askChoices(table(3), encode, questions, (count) => done.push(count));
  expect(done).toEqual([1, 2, 3]);
  // After a comes b, after b comes c, after c comes a.
  expect(found).toMatchObject({ accuracy: { value: 2 / 3 }, normalised: { value: 2 / 3 }, questions: 3 });
  expect(() => readQuestions('{"question":"a","choices":["b","c"],"answer":2}')).toThrow(/line 1: answer points past/);
  expect(() => readQuestions('{"question":"a","choices":["b","c"],"answer":1}\nnonsense')).toThrow(/line 2: not JSON/);
  expect(() => readQuestions('\n')).toThrow(/no question/);
});

test('a needle stands once, at its depth, in a text of the length that was asked for; the same seed hides the same', () => {
  const count = (written: string) => written.split(' ').length;
  for (const depth of [0, 0.5, 1]) {
    const { text: hidden, answer, question } = needleIn(600, depth, 7, count);
    expect(hidden.split(answer)).toHaveLength(2);
    expect(question).not.toContain(answer);
    expect(hidden.indexOf(answer) / hidden.length).toBeCloseTo(depth, 1);
    expect(count(hidden)).toBeGreaterThanOrEqual(600);
    expect(count(hidden)).toBeLessThan(800);
    expect(needleIn(600, depth, 7, count)).toEqual({ text: hidden, answer, question });
  }
  expect(needleIn(600, 0.5, 8, count).answer).not.toBe(needleIn(600, 0.5, 7, count).answer);
});

test('intervals: Wilson for shares, blocks for means', () => {
  expect(shareOf(8, 10)).toEqual({ value: 0.8, low: expect.closeTo(0.4902, 3), high: expect.closeTo(0.9433, 3) });
  expect(shareOf(0, 20).low).toBe(0);
  const { value, low, high } = meanOf(Array.from({ length: 640 }, (_, at) => Math.floor(at / 64) % 2));
  expect(value).toBe(0.5);
  // Ten blocks of nought and one: the spread of ten values, not of 640.
  expect((high - low) / 2).toBeCloseTo(1.96 * Math.sqrt(0.25 / 9), 2);
});
