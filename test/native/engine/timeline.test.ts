// A timeline can be left and returned to: snapshots, rewinding and cancelling are exact to the last bit, for every family.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Model, NumericPath, Session, TokenEvent } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../../support/addon.ts';
import { families, fingerprint, someTokens } from '../../support/models/models.ts';

const paths: NumericPath[] = ['exact', 'fast'];

async function generated(model: Model, path: NumericPath, prompt: Int32Array, count: number) {
  const session = model.createSession({ path, contextLength: 1024 });
  const events: TokenEvent[] = [];
  await session.generate(prompt, { maxTokens: count, logprobs: 1, onTokens: (tokens) => events.push(...tokens) });
  return { session, events: events.map(({ id, logprob }) => ({ id, logprob })) };
}

describe.each(families)('%s', (_name, folder) => {
  test.each(paths)('rewinding leaves no trace of what came after (%s)', async (path) => {
    const model = await addon.load(folder);
    const prompt = someTokens(70);
    const { session } = await generated(model, path, prompt, 30);
    await session.rewind(83);
    const rewound = await fingerprint(session);

    const { session: straight } = await generated(model, path, prompt, 14);
    expect(await fingerprint(straight)).toEqual(rewound);
    model.close();
  });

  test.each(paths)('a snapshot that is continued equals a straight run (%s)', async (path) => {
    const model = await addon.load(folder);
    const prompt = someTokens(40);
    const whole = await generated(model, path, prompt, 24);

    const session = model.createSession({ path, contextLength: 1024 });
    await session.generate(prompt, { maxTokens: 9 });
    const length = await session.snapshot();
    const held = session.tokens();
    await session.generate(Int32Array.from([...held, 7, 8, 9]), { maxTokens: 20, continues: 11 });
    expect(await session.rewind(length)).toEqual({ replayed: 0 });
    expect(session.tokens()).toEqual(held);

    const events: TokenEvent[] = [];
    const prefix = Int32Array.from([...prompt, ...whole.events.slice(0, 9).map(({ id }) => id)]);
    const onTokens = (tokens: TokenEvent[]) => events.push(...tokens);
    await session.generate(prefix, { maxTokens: 15, logprobs: 1, continues: 9, onTokens });
    expect(events.map(({ id, logprob }) => ({ id, logprob }))).toEqual(whole.events.slice(9));
    model.close();
  });

  test('an answer is gone on with from what is held', async () => {
    const model = await addon.load(folder);
    const prompt = someTokens(50);
    const { session, events } = await generated(model, 'exact', prompt, 6);
    const longer = Int32Array.from([...prompt, ...events.map(({ id }) => id), 11, 12]);
    const { timings, reuse } = await session.generate(longer, { maxTokens: 1, continues: 8 });
    expect(timings.cachedTokens).toBe(55);
    expect(reuse).toEqual({ tokens: 55, requested: 58, known: 55, differs: false, reason: 'nothing' });
    model.close();
  });

  test('regenerating reads again what stands behind the last message', async () => {
    const model = await addon.load(folder);
    const prompt = Int32Array.from([...someTokens(44), 2, ...someTokens(5, 9)]);
    const session = model.createSession({ path: 'exact', contextLength: 1024 });
    const ask = async () => {
      const events: TokenEvent[] = [];
      const onTokens = (tokens: TokenEvent[]) => events.push(...tokens);
      const { timings } = await session.generate(prompt, { maxTokens: 20, stopTokens: [2], logprobs: 1, onTokens });
      return { cached: timings.cachedTokens, numbers: events.map(({ id, logprob }) => ({ id, logprob })) };
    };
    const first = await ask();
    expect(await ask()).toEqual({ cached: 45, numbers: first.numbers });
    model.close();
  });

  test('what a cancelled prefill has read stays, and nothing more', { timeout: 60_000 }, async () => {
    const model = await addon.load(folder);
    const prompt = someTokens(3000);
    const session = model.createSession({ path: 'exact', contextLength: 4096 });
    const signal = new addon.AbortFlag();
    const { finish, tokens } = await session.generate(prompt, {
      maxTokens: 4,
      signal,
      onPrefill: (done) => {
        if (done >= 512) signal.set();
      },
    });
    expect(finish).toBe('cancelled');
    expect(tokens).toEqual([]);
    const held = session.tokens().length;
    expect(session.tokens()).toEqual(prompt.subarray(0, held));

    const after = await session.generate(prompt, { maxTokens: 6, path: 'exact' });
    expect(after.timings.cachedTokens).toBe(Math.min(held, 2999));
    const cold = model.createSession({ path: 'exact', contextLength: 4096 });
    expect(after.tokens).toEqual((await cold.generate(prompt, { maxTokens: 6 })).tokens);
    model.close();
  });

  test('a chat that outgrows its memory keeps every token of it', async () => {
    const model = await addon.load(folder);
    const first = someTokens(90);
    const chat = async (session: Session) => {
      const { tokens } = await session.generate(first, { maxTokens: 8 });
      const longer = Int32Array.from([...first, ...tokens, ...someTokens(1200, 3)]);
      await session.generate(longer, { maxTokens: 1, continues: longer.length - first.length });
      return fingerprint(session);
    };
    // Room is made for a prompt and 1,024 tokens more; then all of it moves. Here it need not.
    const roomy = model.createSession({ path: 'exact', contextLength: 4096 });
    await roomy.generate(someTokens(1500, 7), { maxTokens: 1 });
    await roomy.rewind(0);
    const grown = await chat(model.createSession({ path: 'exact', contextLength: 4096 }));
    expect(grown).toEqual(await chat(roomy));
    model.close();
  });

  test('an edited prompt reuses only what is the same', async () => {
    const model = await addon.load(folder);
    const prompt = someTokens(60);
    const { session } = await generated(model, 'exact', prompt, 8);
    const edited = Int32Array.from([...prompt.subarray(0, 30), ...someTokens(30, 9)]);
    const { tokens } = await session.generate(edited, { maxTokens: 8 });
    const straight = await generated(model, 'exact', edited, 8);
    expect(tokens).toEqual(straight.events.map(({ id }) => id));
    model.close();
  });
});

test('a prompt that reaches the sparse regime is read as if nothing were held', async () => {
  const model = await addon.load(join(golden, 'minicpm_sala/gap'));
  const prompt = someTokens(200);
  const { session } = await generated(model, 'exact', prompt.subarray(0, 120), 4);
  const { tokens, timings } = await session.generate(prompt, { maxTokens: 8 });
  // Selection covers 96 tokens, and there is no state to go back to before what was read densely beyond them.
  expect(timings.cachedTokens).toBe(0);
  const cold = await generated(model, 'exact', prompt, 8);
  expect(tokens).toEqual(cold.events.map(({ id }) => id));
  model.close();
});

test('rewinding in the sparse regime leaves nothing of the keys that stand for many', async () => {
  const model = await addon.load(join(golden, 'minicpm_sala/gap'));
  const prompt = someTokens(230);
  const others = someTokens(40, 9);
  const { session } = await generated(model, 'exact', prompt, 40);
  await session.rewind(243);
  const { session: straight } = await generated(model, 'exact', prompt, 14);
  // Far enough that each of those keys is used again, and made again where it was cut.
  const after = async (one: typeof session) => {
    const events: TokenEvent[] = [];
    const text = Int32Array.from([...one.tokens(), ...others]);
    const onTokens = (tokens: TokenEvent[]) => events.push(...tokens);
    await one.generate(text, { maxTokens: 8, logprobs: 3, continues: others.length + 14, onTokens });
    return events.map(({ id, logprob }) => ({ id, logprob }));
  };
  expect(await after(session)).toEqual(await after(straight));
  model.close();
});

test.each([
  [159, 157],
  [160, 0],
])('an answer of %i tokens with its question goes on from %i', async (length, held) => {
  const model = await addon.load(join(golden, 'minicpm_sala/gap'));
  const { session } = await generated(model, 'exact', someTokens(150), 8);
  expect(session.tokens()).toHaveLength(157);
  const whole = Int32Array.from([...session.tokens(), ...someTokens(length - 157, 9)]);
  // From 160 tokens on attention chooses blocks: what was read densely is something else then.
  const { timings } = await session.generate(whole, { maxTokens: 1, continues: length - 150 });
  expect(timings.cachedTokens).toBe(held);
  model.close();
});

describe.each(families)('%s: chats', (name, folder) => {
  const END = 2; // ends a message
  const message = (length: number, seed: number) => [...someTokens(length - 1, seed), END];

  test('a long prompt that is stopped in a later turn keeps what it has read', { timeout: 60_000 }, async () => {
    const model = await addon.load(folder);
    const session = model.createSession({ path: 'exact', contextLength: 4096 });
    const first = Int32Array.from([...message(30, 1), ...message(20, 2), 5]);
    await session.generate(first, { maxTokens: 3, stopTokens: [END] });
    const prompt = Int32Array.from([...first, ...someTokens(3900, 4)]);
    const signal = new addon.AbortFlag();
    const stopped = await session.generate(prompt, {
      maxTokens: 4,
      stopTokens: [END],
      signal,
      onPrefill: (done) => {
        if (done >= 1024) signal.set();
      },
    });
    expect(stopped.finish).toBe('cancelled');
    const held = session.tokens().length;
    expect(held).toBeGreaterThanOrEqual(1024);
    const { timings, tokens } = await session.generate(prompt, { maxTokens: 4, stopTokens: [END] });
    expect(timings.cachedTokens).toBe(held);
    const cold = model.createSession({ path: 'exact', contextLength: 4096 });
    expect(tokens).toEqual((await cold.generate(prompt, { maxTokens: 4, stopTokens: [END] })).tokens);
    model.close();
  });

  test('the system prompt is read once, however long the chat before an edit of its first message', async () => {
    const model = await addon.load(folder);
    const session = model.createSession({ path: 'exact', contextLength: 1024 });
    const system = message(40, 1);
    const chat = [...system];
    // Sparse attention is another way of reading, which begins in SALA's longer prompts.
    for (let turn = 0; turn < (name === 'minicpm_sala' ? 3 : 14); turn++) {
      chat.push(...message(20, turn + 2));
      await session.generate(Int32Array.from([...chat, 5]), { maxTokens: 2, stopTokens: [END] });
    }
    const edited = Int32Array.from([...system, ...message(20, 99), 5]);
    const { timings } = await session.generate(edited, { maxTokens: 1, stopTokens: [END] });
    expect(timings.cachedTokens).toBeGreaterThanOrEqual(system.length);
    model.close();
  });

  test('what one path has read is nothing to the other', async () => {
    const model = await addon.load(folder);
    const prompt = Int32Array.from([...message(55, 1), ...someTokens(5, 2)]);
    const session = model.createSession({ contextLength: 1024 });
    const cached = async (path: NumericPath) =>
      (await session.generate(prompt, { maxTokens: 8, stopTokens: [END], path })).timings.cachedTokens;
    expect(await cached('fast')).toBe(0);
    expect(await cached('exact')).toBe(0);
    expect(await cached('exact')).toBe(55);
    expect(await cached('fast')).toBe(0);
    model.close();
  });
});
