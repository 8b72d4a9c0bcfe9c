// The next token is encoded while this one runs and fed what the device itself chose. Whatever the device guesses and
// however generation ends, the answer and the state are those of the CPU's choice, one step at a time.
import { afterEach, describe, expect, test } from 'vitest';
import type { GenerateOptions, Model, Session } from '../../../native/addon/index.d.ts';
import { readCase } from '../../support/models/golden.ts';
import { starter } from '../../support/models/models.ts';
import { loadOnMetal, metalAddon, needsStandin, standin } from '../standin.ts';

needsStandin();
afterEach(() => {
  standin.options({});
  standin.faults({});
});

const families = ['qwen3_5/dense_tied', 'lfm2/auto_adjust', 'minicpm_sala/mixed', 'qwen3/qk_norm_tied'];
const promptOf = (name: string) => readCase(name).prompts[0]?.ids.slice(0, 6) ?? new Int32Array();

const settings: [name: string, options: Partial<GenerateOptions>][] = [
  ['greedy', {}],
  ['temperature', { temperature: 1.2, seed: 5 }],
  ['top-k', { temperature: 1, topK: 7, seed: 6 }],
  ['top-p and min-p', { temperature: 0.9, topP: 0.8, minP: 0.05, seed: 7 }],
  ['penalties', { temperature: 0.8, repetitionPenalty: 1.3, presencePenalty: 0.4, frequencyPenalty: 0.3, seed: 8 }],
  ['a penalty window', { frequencyPenalty: 20, penaltyWindow: 1 }],
  ['forbidden tokens', { forbidden: [1, 5, 9, 3] }],
  ['biases, some on tokens that are forbidden', { forbidden: [9], bias: { tokens: [9, 2, 5], values: [50, 4, -3] } }],
  [
    'texts that lead',
    {
      exemplars: [
        { tokens: [4, 8, 2, 8, 3, 7, 6, 1], weight: 3 },
        { tokens: [8, 8, 5], weight: 1.5 },
      ],
    },
  ],
  ['DRY', { dry: { multiplier: 2, base: 1.75, allowedLength: 1, window: -1, breakers: [] } }],
];

/** One token a call: nothing runs ahead. */
async function stepByStep(session: Session, prompt: Int32Array, options: GenerateOptions): Promise<number[]> {
  const tokens: number[] = [];
  for (let i = 0; i < options.maxTokens; i++) {
    const step = { ...options, maxTokens: 1, continues: tokens.length };
    tokens.push(...(await session.generate(Int32Array.of(...prompt, ...tokens), step)).tokens);
  }
  return tokens;
}

const sessionOn = (model: Model) => model.createSession({ path: 'exact', kvType: 'f32' });

async function statesOf(session: Session): Promise<Buffer[]> {
  return (await session.states()).map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
}

describe.each(families)('%s', (name) => {
  test.each(settings)('%s: the tokens and the states of single steps', { timeout: 240_000 }, async (_title, given) => {
    const model = await loadOnMetal(readCase(name).folder);
    const options = { maxTokens: 12, path: 'exact', ...given } as const;
    const [ahead, single] = [sessionOn(model), sessionOn(model)];
    const { tokens } = await ahead.generate(promptOf(name), options);
    expect(tokens).toEqual(await stepByStep(single, promptOf(name), options));
    expect([...ahead.tokens()]).toEqual([...single.tokens()]);
    expect(await statesOf(ahead)).toEqual(await statesOf(single));
    model.close();
  });
});

test('a context that is full ends the answer, though steps run ahead', async () => {
  standin.options({ check: true });
  const model = await loadOnMetal(readCase('qwen3/qk_norm_tied').folder);
  const session = model.createSession({ path: 'exact', kvType: 'f32', contextLength: 128 });
  const prompt = Int32Array.from({ length: 124 }, (_, i) => (i * 7 + 3) % 50);
  const { tokens, finish } = await session.generate(prompt, { maxTokens: 40, path: 'exact' });
  expect([finish, tokens.length]).toEqual(['context', 5]);
  expect(session.tokens()).toHaveLength(128);
  model.close();
});

test.each(families)('%s: when every guess is wrong, the tokens and the states are the same', async (name) => {
  const model = await loadOnMetal(readCase(name).folder);
  const options = { maxTokens: 8, path: 'exact', temperature: 0.9, seed: 4 } as const;
  const [right, wrong] = [sessionOn(model), sessionOn(model)];
  const { tokens } = await right.generate(promptOf(name), options);
  standin.faults({ spoilKernel: 'sample_pick', spoilArgument: 3 });
  expect((await wrong.generate(promptOf(name), options)).tokens).toEqual(tokens);
  expect(await statesOf(wrong)).toEqual(await statesOf(right));
  model.close();
});

describe('an end of generation takes back what ran ahead', () => {
  const name = 'qwen3_5/dense_tied';
  const options = { maxTokens: 8, path: 'exact', temperature: 1, seed: 3 } as const;

  async function straight(model: Model, length: number): Promise<{ tokens: number[]; states: Buffer[] }> {
    const session = sessionOn(model);
    const tokens = await stepByStep(session, promptOf(name), { ...options, maxTokens: length });
    return { tokens, states: await statesOf(session) };
  }

  test.each([1, 2, 3, 6])('a stop token after %i', async (length) => {
    const model = await loadOnMetal(readCase(name).folder);
    const expected = await straight(model, length);
    const stop = expected.tokens.at(-1) as number;
    if (expected.tokens.indexOf(stop) !== length - 1) throw new Error('the stop token comes earlier: another seed');
    const session = sessionOn(model);
    const result = await session.generate(promptOf(name), { ...options, stopTokens: [stop] });
    expect(result).toMatchObject({ finish: 'stop', tokens: expected.tokens });
    expect(await statesOf(session)).toEqual(expected.states);
    model.close();
  });

  test('cancelling at the third token', async () => {
    const model = await loadOnMetal(readCase(name).folder);
    const session = sessionOn(model);
    const signal = new metalAddon.AbortFlag();
    let seen = 0;
    const { finish, tokens } = await session.generate(promptOf(name), {
      ...options,
      maxTokens: 100_000,
      signal,
      onTokens: (events) => {
        seen += events.length;
        if (seen >= 3) signal.set();
      },
    });
    expect(finish).toBe('cancelled');
    // Every token that was told is read, and the one that ran ahead is not.
    const expected = await straight(model, tokens.length + 1);
    expect(tokens).toEqual(expected.tokens.slice(0, -1));
    expect([...session.tokens()]).toEqual([...promptOf(name), ...tokens]);
    expect(await statesOf(session)).toEqual(expected.states);
    model.close();
  });

  test.each([3, 4, 5])('a fault of command buffer %i: the turn fails, the next one is right', async (at) => {
    const model = await loadOnMetal(readCase(name).folder);
    const session = sessionOn(model);
    standin.faults({ commandBuffer: at });
    await expect(session.generate(promptOf(name), options)).rejects.toMatchObject({ code: 'device' });
    standin.faults({});
    const { tokens } = await session.generate(promptOf(name), options);
    const expected = await straight(model, options.maxTokens);
    expect(tokens).toEqual(expected.tokens);
    expect(await statesOf(session)).toEqual(expected.states);
    model.close();
  });
});

describe('what a token costs', { timeout: 120_000 }, () => {
  /** What tokens 5 to 14 cost. */
  async function tenMore(
    given: Partial<GenerateOptions>,
  ): Promise<{ commandBuffers: number; waits: number; most: number }> {
    const name = 'qwen3_5/dense_tied';
    const model = await loadOnMetal(readCase(name).folder);
    const cost = async (maxTokens: number) => {
      standin.reset();
      await sessionOn(model).generate(promptOf(name), { maxTokens, path: 'exact', seed: 11, ...given });
      return standin.counters();
    };
    const [short, long] = [await cost(4), await cost(14)];
    model.close();
    return {
      commandBuffers: long.commandBuffers - short.commandBuffers,
      waits: long.waits - short.waits,
      most: long.mostInFlight,
    };
  }

  test.each([[{}], [{ temperature: 0.9, topP: 0.9 }], [{ temperature: 0.7, topK: 20, frequencyPenalty: 0.2 }]])(
    'one command buffer and one wait a token, two under way: %o',
    async (given) => {
      expect(await tenMore(given)).toEqual({ commandBuffers: 10, waits: 10, most: 2 });
    },
  );

  test.each([
    [{ temperature: 0.7, topP: 0.25 }],
    [{ temperature: 0.7, minP: 0.6 }],
    [{ temperature: 2, topK: 3 }],
    [{ temperature: 0.8, topK: 40, topP: 0.6, minP: 0.2, seed: 3 }],
  ])('of few candidates too the device guesses what the CPU takes: %o', async (given) => {
    expect(await tenMore(given)).toEqual({ commandBuffers: 10, waits: 10, most: 2 });
  });

  test('a wrong guess costs a step and nothing else', async () => {
    standin.faults({ spoilKernel: 'sample_pick', spoilArgument: 3 });
    expect(await tenMore({})).toMatchObject({ commandBuffers: 20, most: 2 });
  });

  test('after sixteen guesses of which most were wrong nothing runs ahead any more', async () => {
    standin.faults({ spoilKernel: 'sample_pick', spoilArgument: 3 });
    const model = await loadOnMetal(readCase('qwen3/qk_norm_tied').folder);
    standin.reset();
    await sessionOn(model).generate(promptOf('qwen3/qk_norm_tied'), { maxTokens: 40, path: 'exact' });
    expect(standin.counters().commandBuffers).toBe(1 + 39 + 16);
    model.close();
  });

  test("the GPU's own time is told, and is part of the time in all", async () => {
    const name = 'qwen3_5/dense_tied';
    const model = await loadOnMetal(readCase(name).folder);
    const started = performance.now();
    const { timings } = await sessionOn(model).generate(promptOf(name), { maxTokens: 4, path: 'exact' });
    expect(timings.deviceMs).toBeGreaterThan(0);
    expect(timings.deviceMs).toBeLessThanOrEqual(performance.now() - started);
    model.close();
  });

  test('where more tokens are likely than the device keeps, none is written behind them', {
    timeout: 240_000,
  }, async () => {
    const model = await loadOnMetal(starter);
    const prompt = Int32Array.of(5, 6, 7, 8);
    await sessionOn(model).logits(prompt); // all of the weights have come
    standin.options({ check: true });
    const options = { maxTokens: 3, path: 'exact', temperature: 1e4, seed: 4 } as const;
    const { tokens } = await sessionOn(model).generate(prompt, options);
    standin.options({});
    expect(tokens).toEqual(await stepByStep(sessionOn(model), prompt, options));
    model.close();
  });

  test('in check mode, whatever the order of lanes, the same tokens', { timeout: 240_000 }, async () => {
    const name = 'qwen3_5/dense_tied';
    const options = {
      maxTokens: 4,
      path: 'exact',
      temperature: 0.9,
      topP: 0.9,
      frequencyPenalty: 0.1,
      seed: 2,
    } as const;
    const answers: number[][] = [];
    for (const mode of [{ check: true }, { order: 'reverse' }, { order: 'random', seed: 9 }] as const) {
      standin.options(mode);
      const model = await loadOnMetal(readCase(name).folder);
      const session = sessionOn(model);
      answers.push((await session.generate(promptOf(name), options)).tokens);
      model.close();
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});
