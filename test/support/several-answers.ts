// Several answers of one model at once: each is what it would have been alone, and none waits for another's end. The same
// tests for every back end that takes turns.
import { afterAll, describe, expect, test } from 'vitest';
import type { AbortFlag, Model, NumericPath, Session } from '../../native/addon/index.d.ts';
import { families, someTokens, starter } from './models/models.ts';
import { END } from './models/prompt-trees.ts';

const message = (length: number, seed: number) => [...someTokens(length - 1, seed), END];
// The first two begin alike; the third is read in several passes.
const promptsOf = (long: number) =>
  [
    [...message(30, 1), 5],
    [...message(30, 1), ...message(40, 2), 5],
    [...message(long, 3), ...message(20, 4), 5],
    [7],
  ].map((prompt) => Int32Array.from(prompt));
type Addon = typeof import('../../native/addon/index.d.ts');
type Load = (folder: string) => Promise<Model>;
type Options = Partial<Parameters<Session['generate']>[1]>;

const open = (model: Model) => model.createSession({ contextLength: 2048 });

async function answer(
  model: Model,
  prompt: Int32Array,
  options: Options = {},
  written = () => {},
  session = open(model),
) {
  const scores: unknown[] = [];
  const begunMs = performance.now();
  const { tokens, finish, timings } = await session.generate(prompt, {
    maxTokens: 24,
    stopTokens: [END],
    logprobs: 3,
    onTokens: (events) => {
      scores.push(...events.map(({ id, logprob, top }) => ({ id, logprob, top })));
      written();
    },
    ...options,
  });
  session.close();
  const endMs = begunMs + timings.firstTokenMs + timings.decodeMs;
  return { tokens: [...tokens], finish, scores, cached: timings.cachedTokens, endMs };
}
const written = ({ tokens, finish, scores }: Awaited<ReturnType<typeof answer>>) => ({ tokens, finish, scores });

interface Sizes {
  /** Tokens of the longest message; a device in software reads them slowly. */
  long: number;
  /** The model of tests that need only one. */
  usual: string;
  /** Those that four answers are written with. */
  among: typeof families;
  /** Those in which the device computes differently. */
  paths: readonly NumericPath[];
  /** More answers than the device multiplies as it multiplies one, and tokens of each, so many that all come to be written together. */
  many: readonly [answers: number, tokens: number];
  /** Tokens of a stream that outlasts the reading of a prompt in 20 passes, which begins a little later. */
  outlasting: number;
}

export function severalAnswers(addon: Addon, loadModel: Load, sizes: Partial<Sizes> = {}): void {
  const {
    long,
    usual,
    among,
    paths,
    many: [many, length],
    outlasting,
  } = {
    long: 600,
    usual: starter,
    among: families,
    paths: ['exact', 'fast'] as const,
    many: [11, 15] as const,
    outlasting: 40,
    ...sizes,
  };
  const prompts = promptsOf(long);
  // A device in software compiles its kernels anew for every model that is loaded.
  let loaded: { folder: string; model: Model } | null = null;
  afterAll(() => loaded?.model.close());
  /** With an empty prompt cache; `anew`, one that has not yet measured how fast it reads. */
  async function load(folder: string, anew = false): Promise<Model> {
    if (anew || loaded?.folder !== folder) {
      loaded?.model.close();
      loaded = { folder, model: await loadModel(folder) };
      loaded.model.setPromptCache(2 ** 26);
    }
    await loaded.model.clearPromptCache();
    return loaded.model;
  }
  async function alone(folder: string, options: (index: number) => Options) {
    const answers: ReturnType<typeof written>[] = [];
    for (const [index, prompt] of prompts.entries())
      answers.push(written(await answer(await load(folder), prompt, options(index))));
    return answers;
  }

  const known = families.some(([, folder]) => folder === usual);
  describe.each([...among, ...(known ? [] : [['one model', usual] as const])])('%s', (_name, folder) => {
    test.each(paths)('four answers together are the four alone, bit for bit, cold and cached (%s)', async (path) => {
      // One of them is sampled: its numbers are its own.
      const options = (index: number): Options => ({ path, ...(index === 1 ? { temperature: 1, seed: 11 } : {}) });
      const expected = await alone(folder, options);
      const model = await load(folder);
      const together = () => Promise.all(prompts.map((prompt, index) => answer(model, prompt, options(index))));
      expect((await together()).map(written)).toEqual(expected);
      const again = await together();
      expect(again.map(written)).toEqual(expected);
      expect(again[2]?.cached).toBe(long + 20);
    });

    test('beside a stream a prompt is read in short parts, and known afterwards as if it had been read at once', async () => {
      const model = await load(folder, true);
      const prompt = Int32Array.from([...message(long, 3), ...message(long - 50, 5), 5]);
      const expected = written(await answer(model, prompt));
      await model.clearPromptCache();
      const flag: AbortFlag = new addon.AbortFlag();
      const { promise: writes, resolve } = Promise.withResolvers<void>();
      const options = { maxTokens: 1900, stopTokens: [], signal: flag, onTokens: () => resolve() };
      const stream = answer(model, someTokens(50), options);
      await writes;
      const read: number[] = [];
      const beside = answer(model, prompt, { onPrefill: (done) => read.push(done) });
      expect(written(await beside)).toEqual(expected);
      flag.set();
      await stream;
      // The first part is read before its speed is known.
      expect(read.slice(0, 2)).toEqual([0, 64]);
      const again = await answer(model, prompt);
      expect(written(again)).toEqual(expected);
      expect(again.cached).toBe(2 * long - 50);
    });
  });

  test('answers that are written at the same time go through the layers together', async () => {
    const model = await load(usual);
    const passes = async (work: () => Promise<unknown>) => {
      const before = addon.pulse().steps;
      await work();
      return addon.pulse().steps - before;
    };
    const asked = [1, 2, 3, 4].map(
      (seed) => () => answer(model, someTokens(20, seed), { maxTokens: 64, stopTokens: [] }),
    );
    const one = await passes(() => asked[0]?.() as Promise<unknown>);
    const four = await passes(() => Promise.all(asked.map((ask) => ask())));
    expect(four).toBeLessThan(2 * one);
  });

  test(`${many} answers at once, more than the device takes in one product, are the ${many} alone`, async () => {
    const mixed = families.map(([, path]) => path).filter((path) => /moe\/|gqa_mixed/.test(path));
    for (const folder of new Set([usual, ...mixed])) {
      const model = await load(folder);
      // In a round a part of one prompt is read, so the last answer begins when the first has as many tokens and more.
      const ask = (_: unknown, index: number) =>
        answer(model, someTokens(9 + index, index), { maxTokens: length, stopTokens: [], cachePrompt: false });
      const expected = [];
      for (let index = 0; index < many; index++) expected.push(written(await ask(0, index)));
      const together = await Promise.all(Array.from({ length: many }, ask));
      expect(together.map(written), folder).toEqual(expected);
    }
  });

  test('memory that runs short while several write changes no answer', async () => {
    // Long enough for many calls, also where a busy thread hears of several tokens at once.
    const maxTokens = 96;
    const expected = await alone(usual, () => ({ maxTokens }));
    const model = await load(usual);
    let calls = 0;
    const relieve = () => model.relieveMemory({ critical: ++calls % 2 === 0 });
    const answers = await Promise.all(
      prompts.map((prompt) => answer(model, prompt, { maxTokens, onPrefill: relieve }, relieve)),
    );
    expect(answers.map(written)).toEqual(expected);
    expect(calls).toBeGreaterThan(20);
  });

  test('a short answer ends while a long one that began first goes on', async () => {
    const model = await load(usual);
    // Nothing is opened between the two calls: on a small model the long one is written within milliseconds.
    const [one, other] = [open(model), open(model)];
    const flag: AbortFlag = new addon.AbortFlag();
    const options = { maxTokens: 1900, stopTokens: [], signal: flag };
    const long = answer(model, someTokens(20), options, undefined, one);
    await answer(model, someTokens(30), { maxTokens: 5 }, undefined, other);
    flag.set();
    expect((await long).finish).toBe('cancelled');
  });

  // A prompt of 20 messages is read in 20 passes, and an answer that is being written gets a token after each.
  test.each([
    { tokens: 12, first: 'stream' },
    { tokens: outlasting, first: 'prompt' },
  ])('while a prompt is read in 20 passes a stream goes on: $tokens tokens', async ({ tokens, first }) => {
    const model = await load(usual);
    const long = Int32Array.from(Array.from({ length: 20 }, (_, index) => message(10, index)).flat());
    // Nothing is opened between the two calls: the stream gets no start.
    const [one, other] = [open(model), open(model)];
    const asked = [
      answer(model, someTokens(20), { maxTokens: tokens, stopTokens: [] }, undefined, one),
      answer(model, long, { maxTokens: 1, stopTokens: [END] }, undefined, other),
    ];
    // By the engine's clock: a busy page may hear of both ends at once.
    const [stream, prompt] = (await Promise.all(asked)).map(({ endMs }) => endMs) as [number, number];
    expect(stream < prompt ? 'stream' : 'prompt').toBe(first);
  });

  test('prompts that are read while nothing is written are read in whole passes', async () => {
    const model = await load(usual);
    const read = async (seed: number) => {
      const parts: number[] = [];
      const onPrefill = (done: number) => parts.push(done);
      await answer(model, someTokens(100, seed), { maxTokens: 1, cachePrompt: false, onPrefill });
      return parts.find((done) => done > 0);
    };
    // All but the last token, after which the state is kept.
    for (const first of await Promise.all([read(1), read(2)])) expect(first).toBeGreaterThanOrEqual(99);
  });

  test('a part leaves nothing over that would be read another way than the whole', async () => {
    // The first part is of 64 tokens where more than 15 follow.
    for (const over of [1, 9, 15]) {
      const prompt = someTokens(64 + over);
      const model = await load(usual, true);
      const expected = written(await answer(model, prompt));
      await model.clearPromptCache();
      const flag: AbortFlag = new addon.AbortFlag();
      const { promise: writes, resolve } = Promise.withResolvers<void>();
      const stream = answer(model, someTokens(50), {
        maxTokens: 1900,
        stopTokens: [],
        signal: flag,
        onTokens: () => resolve(),
      });
      await writes;
      expect(written(await answer(model, prompt)), `${over} tokens over`).toEqual(expected);
      flag.set();
      await stream;
    }
  });

  test('calls on one session keep their order, whoever takes turns with them', async () => {
    const model = await load(usual);
    const session = model.createSession({ contextLength: 2048 });
    const other = answer(model, someTokens(30), { maxTokens: 50 });
    const first = session.generate(someTokens(20), { maxTokens: 20 });
    const rewound = session.rewind(10);
    const second = session.generate(someTokens(40), { maxTokens: 3 });
    await Promise.all([other, first, rewound, second]);
    expect((await first).tokens).toHaveLength(20);
    expect(session.tokens()).toHaveLength(42);
  });

  test('one that is stopped, refused or closed leaves the others as they are', async () => {
    const expected = await alone(usual, () => ({}));
    const model = await load(usual);
    const flag: AbortFlag = new addon.AbortFlag();
    const stopped = answer(model, someTokens(50), { maxTokens: 1500, signal: flag, onTokens: () => flag.set() });
    const refused = answer(model, Int32Array.from([1, 8192])).catch((error: { code: string }) => error.code);
    const session = model.createSession({ contextLength: 2048 });
    const closed = session
      .generate(someTokens(60), { maxTokens: 1500, onTokens: () => session.close() })
      .catch((error: { code: string }) => error.code);
    const others = await Promise.all(prompts.map((prompt) => answer(model, prompt)));
    expect(others.map(written)).toEqual(expected);
    expect((await stopped).finish).toBe('cancelled');
    expect(await refused).toBe('argument');
    expect(await closed).toMatchObject({ finish: 'cancelled' });
  });
}
