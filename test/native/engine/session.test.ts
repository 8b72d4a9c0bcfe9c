// What a session promises at its edges: limits, wrong input, cancelling, closing in the middle of work.
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import type { AbortFlag, GenerateResult, Session } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import { reader } from '../../support/documents/reader.ts';
import { safetensors, temporaryFolder } from '../../support/models/formats.ts';
import { someTokens, starter } from '../../support/models/models.ts';
import { realModel } from '../../support/models/real-models.mjs';
import { slow } from '../../support/models/shapes.ts';

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};
const runs = (session: Session, options: Partial<Parameters<Session['generate']>[1]> = {}): Promise<GenerateResult> =>
  session.generate(someTokens(20), { maxTokens: 16, ...options });

test('a context that is full ends the answer with its reason, and nothing is lost', async () => {
  const model = await addon.load(starter);
  const session = model.createSession({ contextLength: 32 });
  const { finish, tokens } = await runs(session, { maxTokens: 100 });
  expect(finish).toBe('context');
  expect(tokens).toHaveLength(13);
  expect(session.tokens()).toHaveLength(32);
  expect(await codeOf(session.generate(someTokens(33), { maxTokens: 1 }))).toBe('context');
  expect(session.tokens()).toHaveLength(32);
  model.close();
});

test('wrong input is refused with code `argument` and leaves the session as it was', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  await runs(session);
  const held = session.tokens();
  expect(await codeOf(session.generate(Int32Array.from([1, 8192]), { maxTokens: 1 }))).toBe('argument');
  expect(await codeOf(session.generate(Int32Array.from([-1]), { maxTokens: 1 }))).toBe('argument');
  expect(await codeOf(session.generate(new Int32Array(0), { maxTokens: 1 }))).toBe('argument');
  expect(await codeOf(session.rewind(held.length + 1))).toBe('argument');
  const notTokens = [1, 2, 3] as unknown as Int32Array;
  expect(() => session.generate(notTokens, { maxTokens: 1 })).toThrow('Int32Array');
  for (const wrong of [{ temperature: Number.NaN }, { topP: 2 }, { maxTokens: -1 }, { topK: 1.5 }, { seed: -1 }]) {
    expect(() => session.generate(someTokens(3), { maxTokens: 1, ...wrong })).toThrow(Object.keys(wrong)[0]);
  }
  expect(session.tokens()).toEqual(held);
  expect(() => model.createSession({ contextLength: 0 })).toThrow('contextLength');
  model.close();
});

test('sampling is a function of seed and position', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  // The exact path: on the fast one a prompt may be read in other arithmetic than an answer is written in.
  const options = { temperature: 1, topP: 0.95, seed: 42, maxTokens: 24, path: 'exact' as const };
  const first = await runs(session, options);
  await session.reset();
  expect((await runs(session, options)).tokens).toEqual(first.tokens);
  await session.reset();
  expect((await runs(session, { ...options, seed: 43 })).tokens).not.toEqual(first.tokens);

  // Stopped and continued: the same tokens as in one go.
  const prefix = Int32Array.from([...someTokens(20), ...first.tokens.slice(0, 10)]);
  const rest = await session.generate(prefix, { ...options, maxTokens: 14, continues: 10 });
  expect(rest.tokens).toEqual(first.tokens.slice(10));
  model.close();
});

test('a temperature next to nought is greedy, and one above it is not', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const { tokens } = await runs(session);
  for (const temperature of [1e-39, 1e-45, 1e-37]) {
    const cold = await runs(session, { temperature, seed: 1 });
    expect(cold.tokens).toEqual(tokens);
  }
  model.close();
});

test('when every token is forbidden the turn fails in words, and the session goes on', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const { tokens } = await runs(session);
  const all = Array.from({ length: 8192 }, (_, id) => id);
  for (const temperature of [0, 1])
    await expect(runs(session, { forbidden: all, temperature })).rejects.toMatchObject({
      code: 'argument',
      message: expect.stringContaining('no token can be chosen'),
    });
  expect((await runs(session)).tokens).toEqual(tokens);
  model.close();
});

test('stop tokens end the answer and are part of it', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const free = await runs(session);
  const stop = free.tokens[5] ?? -1;
  const { tokens, finish } = await runs(session, { stopTokens: [stop] });
  expect(finish).toBe('stop');
  expect(tokens).toEqual(free.tokens.slice(0, free.tokens.indexOf(stop) + 1));
  model.close();
});

test('forbidden tokens and repetition penalties change what is said', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const free = await runs(session);
  const forbidden = await runs(session, { forbidden: free.tokens });
  expect(forbidden.tokens.filter((token) => free.tokens.includes(token))).toEqual([]);
  const penalised = await runs(session, { repetitionPenalty: 1e6, maxTokens: 40 });
  expect(new Set(penalised.tokens).size).toBe(40);
  model.close();
});

test('a bias is added to the logits of its tokens: it makes them certain, or keeps them out', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const free = await runs(session);
  const [first = 0] = free.tokens;
  const certain = await runs(session, { bias: { tokens: [7, 11], values: [1e4, 2e4] }, maxTokens: 5 });
  expect(certain.tokens).toEqual([11, 11, 11, 11, 11]);
  const without = await runs(session, { bias: { tokens: [first], values: [-1e4] } });
  expect(without.tokens).not.toContain(first);
  expect((await runs(session, { bias: { tokens: [], values: [] } })).tokens).toEqual(free.tokens);
  // What is forbidden stays so, and a token that is not there changes nothing.
  const both = { forbidden: [first], bias: { tokens: [first, 1_000_000], values: [1e5, 1e5] } };
  expect((await runs(session, both)).tokens).not.toContain(first);
  model.close();
});

test.each([
  [{ tokens: [1, 2], values: [1] }, 'values is of another kind, expected as many numbers'],
  [{ tokens: [1], values: ['much'] }, 'values is of another kind, expected as many numbers'],
  [{ tokens: [1], values: [Number.NaN] }, 'values is of another kind, expected as many numbers'],
  [{ tokens: [1], values: [1e9] }, 'values is of another kind, expected as many numbers from -1000000 to 1000000'],
  [{ tokens: [-1], values: [1] }, 'tokens is of another kind, expected arrays of token ids'],
  [{ values: [1] }, 'values is of another kind'],
  ['much', 'the options are not an object'],
])('a bias of %j is refused in a sentence', async (bias, message) => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const refusal = expect.objectContaining({ code: 'argument', message: expect.stringContaining(message) });
  expect(() => runs(session, { bias: bias as never })).toThrow(refusal);
  model.close();
});

test('DRY forbids what would repeat a sequence, and breakers protect', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const pattern = [10, 11, 12, 13];
  const prompt = Int32Array.from([...pattern, 20, ...pattern, 20, ...pattern]);
  const dry = { multiplier: 1e6, base: 1.75, allowedLength: 2, window: -1, breakers: [] as number[] };
  const dominated = async (options: object) =>
    (await session.generate(prompt, { maxTokens: 1, logprobs: 1, ...options })).tokens[0];
  const allowed = await dominated({
    forbidden: Array.from({ length: 8192 }, (_, id) => id).filter((id) => id !== 20 && id !== 30),
  });
  const repeated = await dominated({
    dry,
    forbidden: Array.from({ length: 8192 }, (_, id) => id).filter((id) => id !== 20 && id !== 30),
  });
  expect([20, 30]).toContain(allowed);
  expect(repeated).toBe(30);
  const shielded = await dominated({
    dry: { ...dry, breakers: [13] },
    forbidden: Array.from({ length: 8192 }, (_, id) => id).filter((id) => id !== 20 && id !== 30),
  });
  expect(shielded).toBe(allowed);
  model.close();
});

/** Milliseconds that one processor works from the flag to the end: other work on the machine adds nothing to them. */
async function costOfCancelling(begin: (signal: AbortFlag) => Promise<unknown>, after = 60): Promise<number> {
  const signal = new addon.AbortFlag();
  let asked = process.cpuUsage();
  setTimeout(() => {
    asked = process.cpuUsage();
    signal.set();
  }, after);
  await begin(signal);
  const { user, system } = process.cpuUsage(asked);
  return (user + system) / 1000 / availableParallelism();
}

/** The middle one of some: a single fast one says nothing of the others. */
async function usual(measure: (at: number) => Promise<number>, count = 3): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) times.push(await measure(i));
  return times.toSorted((x, y) => x - y)[(count - 1) / 2] as number;
}

test('cancelling ends a prefill and a decode within 50 ms', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  for (const prompt of [someTokens(8000), someTokens(10)]) {
    const generate = async (signal: AbortFlag) =>
      expect((await session.generate(prompt, { maxTokens: 8000, signal })).finish).toBe('cancelled');
    expect(await usual(() => costOfCancelling(generate))).toBeLessThan(50);
  }
  model.close();
});

test('where one op of a prefill takes long, it is left in its midst', async () => {
  const model = await addon.load(starter, { cpu: 'scalar', threads: 1 });
  const session = model.createSession();
  const cost = (at: number) =>
    costOfCancelling((signal) => session.generate(someTokens(8000, at + 1), { maxTokens: 1, signal }), 60 + 37 * at);
  // Such an op takes 30 to 70 ms here.
  expect((await usual(cost, 5)) * availableParallelism()).toBeLessThan(14);
  model.close();
});

test('a slow step of an answer is left in its midst when Stop is pressed', async () => {
  const path = temporaryFolder({ 'config.json': slow.config, 'model.safetensors': safetensors(slow.tensors()) });
  const model = await addon.load(path, { device: 'cpu', cpu: 'scalar', threads: 1 });
  const session = model.createSession({ contextLength: 64 });
  const [prompt, signal] = [Int32Array.of(3, 4, 5), new addon.AbortFlag()];
  let seen = 0;
  const { finish, tokens } = await session.generate(prompt, {
    maxTokens: 60,
    signal,
    onTokens: (events) => {
      seen += events.length;
      if (seen >= 3) signal.set();
    },
  });
  expect(finish).toBe('cancelled');
  // The last token was told, and the step that was to read it did not come to its end: back to the last kept states.
  expect(session.tokens().length).toBeLessThan(prompt.length + tokens.length);
  model.close();
});

test('what reads long texts is cancelled within 50 ms: rewinding, tracing', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const rewind = async () => {
    // Without a snapshot before it, everything up to the place is read again.
    await session.generate(someTokens(3000), { maxTokens: 1 });
    return costOfCancelling(async (signal) => expect(await codeOf(session.rewind(2800, { signal }))).toBe('cancelled'));
  };
  const trace = () =>
    costOfCancelling(async (signal) =>
      expect(await codeOf(session.trace(someTokens(8000), { signal }))).toBe('cancelled'),
    );
  expect(await usual(rewind), 'rewind').toBeLessThan(50);
  expect(await usual(trace), 'trace').toBeLessThan(50);
  expect((await runs(session)).tokens).toHaveLength(16);
  model.close();
});

test('an encoder that reads many texts is cancelled within 50 ms: embedding, ranking', async () => {
  const path = await realModel('minilm');
  const [encoder, reranker] = [await addon.load(path), await addon.load(path, { adapter: reader })];
  const [texts, length] = [48, 250];
  const tokens = someTokens(texts * length);
  const [lengths, seconds] = [new Int32Array(texts).fill(length), new Int32Array(texts).fill(20)];
  const works = {
    embed: (signal: AbortFlag) => encoder.embed(tokens, lengths, { signal }),
    rank: (signal: AbortFlag) => reranker.rank(tokens, seconds, lengths, { signal }),
  };
  for (const [name, work] of Object.entries(works)) {
    const cancelled = async (signal: AbortFlag) => expect(await codeOf(work(signal)), name).toBe('cancelled');
    expect(await usual(() => costOfCancelling(cancelled)), name).toBeLessThan(50);
  }
  expect(await encoder.embed(someTokens(8))).toHaveLength(encoder.description.hiddenSize);
  encoder.close();
  reranker.close();
});

function longWork(session: Session): [work: Promise<GenerateResult>, started: Promise<void>] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [session.generate(someTokens(8000), { maxTokens: 100, onPrefill: () => resolve() }), promise];
}

test('closing in the middle of work settles every promise', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const [running, started] = longWork(session);
  await started;
  const waiting = session.generate(someTokens(10), { maxTokens: 1 });
  session.close();
  expect((await running).finish).toBe('cancelled');
  expect(await codeOf(waiting)).toBe('state');
  expect(() => session.tokens()).toThrow('closed');

  const other = model.createSession();
  const [cut, begun] = longWork(other);
  await begun;
  model.close();
  expect((await cut).finish).toBe('cancelled');
  expect(await codeOf(other.generate(someTokens(3), { maxTokens: 1 }))).toBe('state');
  expect(() => model.createSession()).toThrow('closed');
});

test('calls on one session run in order', async () => {
  const model = await addon.load(starter);
  const session = model.createSession();
  const order: string[] = [];
  await Promise.all([
    runs(session).then(() => order.push('first')),
    session.snapshot().then(() => order.push('second')),
    session.reset().then(() => order.push('third')),
  ]);
  expect(order).toEqual(['first', 'second', 'third']);
  expect(session.tokens()).toHaveLength(0);
  model.close();
});
