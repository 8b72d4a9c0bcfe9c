// Several answers of one model at once on Metal: each is what it would have been alone, whatever is tuned, also when a step was
// sent ahead of it.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AbortFlag, GenerateOptions, Model, NumericPath, Session } from '../../../native/addon/index.d.ts';
import { golden } from '../../support/addon.ts';
import { fewFamilies, someTokens } from '../../support/models/models.ts';
import { severalAnswers } from '../../support/several-answers.ts';
import { loadOnMetal, metalAddon, needsStandin, standin } from '../standin.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 }); // kernels may have to be compiled by clang first

const usual = join(golden, 'qwen3_5/dense_gqa_mixed');
// The fast path differs only where the tuner chose so, which is asked for below.
severalAnswers(metalAddon, (folder) => loadOnMetal(folder), { long: 130, usual, among: fewFamilies, paths: ['exact'] });

beforeEach(() => vi.unstubAllEnvs());
afterEach(() => {
  standin.options({});
  standin.faults({});
});

const sessionOn = (model: Model) => model.createSession({ contextLength: 2048, path: 'exact', kvType: 'f32' });
const promptOf = (index: number) => someTokens(12 + index, index + 1);
async function ask(session: Session, prompt: Int32Array, options: Partial<GenerateOptions> = {}) {
  const scores: unknown[] = [];
  const { tokens } = await session.generate(prompt, {
    maxTokens: 10,
    logprobs: 2,
    path: 'exact',
    cachePrompt: false,
    onTokens: (events) => scores.push(...events.map(({ id, logprob, top }) => ({ id, logprob, top }))),
    ...options,
  });
  return { tokens: [...tokens], scores };
}
const statesOf = async (session: Session) => (await session.states()).map(({ data }) => data);

/** `count` answers one by one and all at once, with the states they leave. */
async function aloneAndTogether(folder: string, count: number, path: NumericPath) {
  const model = await loadOnMetal(folder);
  const answer = async (index: number) => {
    const session = model.createSession({ contextLength: 2048, path, kvType: 'f32' });
    const written = await ask(session, promptOf(index), { path });
    const states = await statesOf(session);
    session.close();
    return { ...written, states };
  };
  const alone = [];
  for (let index = 0; index < count; index++) alone.push(await answer(index));
  const together = await Promise.all(Array.from({ length: count }, (_, index) => answer(index)));
  model.close();
  return { alone, together };
}

describe('the same bits', () => {
  test.each<[string, string, NumericPath]>([
    ['matvec_rows=8,matvec_simdgroups=8', 'qwen3_5_moe/top3', 'exact'],
    ['matvec_rows=8,attention_shared=1', 'gguf_models/llama/model-mixed.gguf', 'exact'],
    ['attention_groups=16', 'qwen3/qk_norm_tied', 'exact'],
    ['matmul_half=1', 'qwen3_5/dense_gqa_mixed', 'fast'],
    ['matmul_half=1', 'qwen3_5_moe/top3', 'fast'],
  ])('nine answers, %s: %s (%s)', async (tuning, name, path) => {
    vi.stubEnv('LONGHAND_METAL_TUNING', tuning);
    const { alone, together } = await aloneAndTogether(join(golden, name), 9, path);
    expect(together).toEqual(alone);
  });
});

describe('on the stand-in', () => {
  needsStandin();

  // A part of 64 tokens is fewer than each of these kernels asks for, the whole pass is more.
  test.each<[string, string, number, string]>([
    ['delta_chunk_from=150', 'qwen3_5/dense_gqa_mixed', 180, 'chunk_scan_4'],
    ['', 'llama/gqa_tied', 1200, 'attention_tile'],
  ])('a prompt in parts takes the kernels of the whole, %s: %s', async (tuning, name, length, kernel) => {
    vi.stubEnv('LONGHAND_METAL_TUNING', tuning);
    const model = await loadOnMetal(join(golden, name));
    const expected = await ask(sessionOn(model), someTokens(length, 5));
    const flag: AbortFlag = new metalAddon.AbortFlag();
    const { promise: writes, resolve } = Promise.withResolvers<void>();
    const stream = ask(sessionOn(model), someTokens(20), {
      maxTokens: 1900,
      signal: flag,
      onTokens: () => resolve(),
    });
    await writes;
    const read: number[] = [];
    standin.reset();
    const beside = await ask(sessionOn(model), someTokens(length, 5), { onPrefill: (done) => read.push(done) });
    expect(standin.counters().kernels[kernel]).toBeGreaterThan(0);
    expect(read[1]).toBe(64);
    expect(beside).toEqual(expected);
    flag.set();
    await stream;
    model.close();
  });

  test.each(['qwen3_5_moe/top3', 'minicpm_sala/mixed'])(
    '%s: no race, no access out of bounds, and the same whatever order lanes run in',
    async (name) => {
      const outcomes = [];
      for (const mode of [{ check: true }, { order: 'reverse' }, { order: 'random', seed: 9 }] as const) {
        standin.options(mode);
        outcomes.push(await aloneAndTogether(join(golden, name), 2, 'exact'));
      }
      for (const { alone, together } of outcomes)
        expect({ alone, together }).toEqual({ alone: outcomes[0]?.alone, together: outcomes[0]?.alone });
    },
  );

  const cost = async (work: () => Promise<unknown>) => {
    standin.reset();
    await work();
    const { commandBuffers, mostInFlight } = standin.counters();
    return { commandBuffers, mostInFlight };
  };

  test('one answer runs ahead until another joins, and again when it is alone', async () => {
    const model = await loadOnMetal(usual);
    const [one, other] = [sessionOn(model), sessionOn(model)];
    const together = async () => {
      const { promise: writes, resolve } = Promise.withResolvers<void>();
      const long = ask(one, promptOf(0), { maxTokens: 80, onTokens: () => resolve() });
      await writes;
      await ask(other, promptOf(1), { maxTokens: 30 });
      return long;
    };
    await together();
    // A pass for each prompt and 79 steps, of which 29 are of both answers. Steps that are taken back come on top.
    const { commandBuffers, mostInFlight } = await cost(together);
    expect(commandBuffers).toBeGreaterThanOrEqual(2 + 79);
    expect(commandBuffers).toBeLessThan(2 + 79 + 10);
    expect(mostInFlight).toBe(2);
    // While two write, nothing does.
    const both = await cost(() =>
      Promise.all([one, other].map((session, i) => ask(session, promptOf(i + 2), { maxTokens: 30 }))),
    );
    expect(both.commandBuffers).toBeLessThan(2 + 29 + 8);
    model.close();
  });

  // Whatever comes between two of its steps takes back the one that runs.
  const interruptions: [string, (model: Model, other: Session) => Promise<unknown>][] = [
    ['an answer', (_, other) => ask(other, promptOf(4), { maxTokens: 3 })],
    ['a prompt', (_, other) => ask(other, someTokens(150, 8), { maxTokens: 1 })],
    ['scores', (_, other) => other.logits(someTokens(30, 3))],
    ['going back', (_, other) => other.generate(promptOf(5), { maxTokens: 3 }).then(() => other.rewind(4))],
    ['states and a reset', (_, other) => other.states().then(() => other.reset())],
    ['short memory', async (model) => model.relieveMemory({ critical: true })],
  ];
  test.each(interruptions)('%s while an answer is written changes nothing of it', async (_title, interrupt) => {
    const model = await loadOnMetal(usual);
    const options = { maxTokens: 30, temperature: 0.8, seed: 4 };
    const session = sessionOn(model);
    const expected = await ask(session, promptOf(0), options);
    const states = await statesOf(session);
    for (const spoiled of [false, true]) {
      if (spoiled) standin.faults({ spoilKernel: 'sample_pick', spoilArgument: 3 }); // every guess is wrong
      const [long, other] = [sessionOn(model), sessionOn(model)];
      const interrupted: Promise<unknown>[] = [];
      const scores: unknown[] = [];
      const { tokens } = await long.generate(promptOf(0), {
        path: 'exact',
        logprobs: 2,
        cachePrompt: false,
        ...options,
        onTokens: (events) => {
          scores.push(...events.map(({ id, logprob, top }) => ({ id, logprob, top })));
          if (scores.length % 5 === 0) interrupted.push(interrupt(model, other));
        },
      });
      expect({ tokens: [...tokens], scores }).toEqual(expected);
      expect(interrupted.length).toBeGreaterThan(3);
      await Promise.all(interrupted);
      expect(await statesOf(long)).toEqual(states);
    }
    model.close();
  });
});

describe('a fault while four write', () => {
  needsStandin();

  const four = async (sessions: Session[], harm = () => {}) => {
    let seen = 0;
    return Promise.all(
      sessions.map((session, index) =>
        ask(session, promptOf(index), {
          maxTokens: 24,
          onTokens: () => {
            if (++seen === 24) harm();
          },
        }).then(
          ({ tokens }) => tokens,
          ({ code }: { code: string }) => code,
        ),
      ),
    );
  };

  test.each<[string, (model: Model) => void, string]>([
    ['a command buffer', () => standin.faults({ commandBuffer: 2 }), 'device'],
    [
      'its memory',
      (model) => {
        model.relieveMemory();
        standin.faults({ memoryLimit: 1 });
      },
      'memory',
    ],
    ['a kernel', () => standin.faults({ pipelineThreads: 32 }), 'device'],
  ])('%s is refused: they fail in words, and are right afterwards', async (_title, harm, code) => {
    const model = await loadOnMetal(usual);
    const sessions = [0, 1, 2, 3].map(() => sessionOn(model));
    const before = await four(sessions);
    const during = await four(sessions, () => harm(model));
    expect(during).toContain(code);
    standin.faults({});
    expect(await four(sessions)).toEqual(before);
    model.close();
  });

  test('the model is closed: all of them end', async () => {
    const model = await loadOnMetal(usual);
    const sessions = [0, 1, 2, 3].map(() => sessionOn(model));
    const ends = await four(sessions, () => model.close());
    expect(ends).toHaveLength(4);
  });
});
