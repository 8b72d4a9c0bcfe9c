// The prompt cache: what was read once is not read again, by no session of a model, and gives the same bits as if it had
// been.
import { describe, expect, test } from 'vitest';
import type { Model, NumericPath, Session } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import { newFolder } from '../../support/core/core.ts';
import { families, someTokens } from '../../support/models/models.ts';
import { END, statesOf, walk } from '../../support/models/prompt-trees.ts';
import { isWithin, playTurns } from '../../support/models/turn-script.ts';
import { limitMs, runs } from '../../support/soak.ts';

const MB = 2 ** 20;
const message = (length: number, seed: number) => [...someTokens(length - 1, seed), END];
const ask = (session: Session, chat: readonly number[], options: Partial<Parameters<Session['generate']>[1]> = {}) =>
  session.generate(Int32Array.from([...chat, 5]), { maxTokens: 4, stopTokens: [END], ...options });

async function withCache(folder: string, bytes = 256 * MB): Promise<Model> {
  const model = await addon.load(folder, { device: 'cpu', threads: 2 });
  model.setPromptCache(bytes);
  return model;
}

const paths: NumericPath[] = ['exact', 'fast'];

describe.each(families)('%s', (_name, folder) => {
  test.each(paths)(
    'random trees of prompts: cached = cold, bit for bit (%s)',
    { timeout: limitMs(120_000, 10) },
    async (path) => {
      const [warm, cold] = [await withCache(folder), await addon.load(folder, { device: 'cpu', threads: 2 })];
      const tree = { warm, cold, path, contextLength: 2048, longest: 60, seed: 7 };
      // Of the soak's four walks a family 2,400 in all.
      const operations = runs(60, 10);
      // Ample; then none, less than one state, and so little that something is always thrown out.
      const ample = await walk({ ...tree, budgets: [256 * MB] }, operations);
      const tight = await walk({ ...tree, seed: 8, budgets: [0, 2000, 60_000, 200_000] }, operations);
      expect(ample.cached / ample.prompted).toBeGreaterThan(0.5);
      expect(ample.cached / ample.prompted).toBeGreaterThan(tight.cached / tight.prompted);
      expect([...ample.reasons]).not.toContain('evicted');
      warm.close();
      cold.close();
    },
  );

  test('switching between chats reads nothing twice', async () => {
    const model = await withCache(folder);
    const session = model.createSession({ contextLength: 4096 });
    const system = message(40, 1);
    const one = [...system, ...message(700, 2)];
    const other = [...system, ...message(900, 3)];
    await ask(session, one);
    const second = await ask(session, other);
    expect(second.timings.cachedTokens).toBe(system.length);
    expect(second.reuse).toMatchObject({ known: system.length, differs: true, reason: 'nothing' });
    const back = await ask(session, [...one, ...message(20, 4)]);
    expect(back.timings.cachedTokens).toBe(one.length);
    // What only goes on differs nowhere from what is known.
    expect(back.reuse).toMatchObject({ known: one.length, differs: false, reason: 'nothing' });
    // Also by a session that has read nothing itself.
    const fresh = model.createSession({ contextLength: 4096 });
    expect((await ask(fresh, other)).timings.cachedTokens).toBe(other.length);
    model.close();
  });

  test('an edit, and an answer once more, cost what is new', async () => {
    const model = await withCache(folder);
    const session = model.createSession({ contextLength: 4096 });
    const chat: number[] = message(40, 1);
    for (let turn = 0; turn < 6; turn++) {
      chat.push(...message(300, turn + 2));
      await ask(session, chat);
    }
    expect((await ask(session, chat)).timings.cachedTokens).toBe(chat.length);
    const edited = [...chat.slice(0, 40 + 600), ...message(30, 50)];
    expect((await ask(session, edited)).timings.cachedTokens).toBe(640);
    expect((await ask(session, chat)).timings.cachedTokens).toBe(chat.length);
    model.close();
  });

  test('an answer that was read back is known to the next turn', async () => {
    const model = await withCache(folder);
    const session = model.createSession({ contextLength: 4096 });
    const chat = message(100, 1);
    const { tokens } = await ask(session, chat, { maxTokens: 40, forbidden: [END] });
    const next = [...chat, 5, ...tokens, END];
    const before = await ask(model.createSession({ contextLength: 4096 }), [...next, ...message(9, 2)]);
    expect(before.timings.cachedTokens).toBe(chat.length);
    expect(await session.read(Int32Array.from(next), { stopTokens: [END] })).toMatchObject({ length: next.length });
    const after = await ask(session, [...next, ...message(9, 3)]);
    expect(after.timings.cachedTokens).toBe(next.length);
    expect(after.reuse.reason).toBe('nothing');
    model.close();
  });
});

describe('what is said about it', () => {
  const folder = families[3]?.[1] as string; // Qwen3.5: states and keys

  test('an answer that was not read back, the other path, memory that was needed', async () => {
    const model = await withCache(folder);
    const session = model.createSession({ contextLength: 4096 });
    const chat = message(100, 1);
    expect((await ask(session, chat)).reuse).toMatchObject({ tokens: 0, known: 0, reason: 'cold' });
    const { tokens } = await ask(session, chat, { maxTokens: 600, forbidden: [END] });
    const next = [...chat, 5, ...tokens, END];
    expect((await ask(session, [...next, ...message(9, 2)])).reuse).toMatchObject({ tokens: 100, reason: 'unread' });
    expect((await ask(session, next, { path: 'exact' })).reuse).toMatchObject({ tokens: 0, reason: 'path' });
    model.setPromptCache(1000);
    await session.reset();
    expect((await ask(session, next)).reuse).toMatchObject({ tokens: 0, reason: 'evicted' });
    model.close();
  });

  test('the first token that differs', async () => {
    const model = await withCache(folder);
    const session = model.createSession({ contextLength: 4096 });
    const chat = [...message(40, 1), ...message(60, 2)];
    await ask(session, chat);
    const edited = [...chat];
    edited[70] = (chat[70] as number) + 1;
    expect((await ask(session, edited)).reuse).toMatchObject({
      tokens: 40,
      known: 70,
      differs: true,
      reason: 'boundary',
    });
    model.close();
  });
});

test('a budget is kept, and given back where it becomes smaller', async () => {
  const model = await withCache(families[3]?.[1] as string, 3 * MB);
  const session = model.createSession({ contextLength: 2048 });
  for (let chat = 0; chat < 40; chat++) {
    await ask(session, [...message(20, 1), ...message(300, 100 + chat)]);
    expect(model.promptCache().bytes).toBeLessThanOrEqual(3 * MB);
  }
  expect(model.promptCache().bytes).toBeGreaterThan(MB);
  // What every chat begins with is still there.
  expect((await ask(session, [...message(20, 1), ...message(9, 999)])).timings.cachedTokens).toBe(20);
  model.setPromptCache(MB);
  await session.reset();
  expect(model.promptCache().bytes).toBeLessThanOrEqual(MB);
  await model.clearPromptCache();
  expect(model.promptCache()).toMatchObject({ bytes: 0, budgetBytes: MB });
  expect(() => model.setPromptCache(-1)).toThrow('setPromptCache');
  model.close();
});

test('many old chats leave room for the two that are open', async () => {
  const folder = families[3]?.[1] as string;
  const chatOf = (seed: number) => [...message(20, 1000 + seed), ...message(300, 100 + seed)];
  const probe = await withCache(folder);
  await ask(probe.createSession({ contextLength: 2048 }), chatOf(0));
  const model = await withCache(folder, 3 * probe.promptCache().bytes);
  probe.close();
  const session = model.createSession({ contextLength: 2048 });
  for (let chat = 0; chat < 60; chat++) await ask(session, chatOf(chat));
  const chats = [chatOf(100), chatOf(101)];
  for (const chat of chats) await ask(session, chat);
  for (let turn = 0; turn < 4; turn++) {
    for (const chat of chats) {
      chat.push(...message(8, 2000 + turn));
      const { timings } = await ask(session, chat);
      expect(timings.cachedTokens, `turn ${turn}`).toBeGreaterThanOrEqual(320);
    }
  }
  model.close();
});

test('an answer is gone on with as it stands, and nobody else is given that', async () => {
  for (const [, folder] of families) {
    const model = await withCache(folder);
    const session = model.createSession({ contextLength: 2048 });
    const prompt = message(60, 1);
    const whole = await ask(model.createSession({ contextLength: 2048 }), prompt, { maxTokens: 30, stopTokens: [] });
    const first = await ask(session, prompt, { maxTokens: 10, stopTokens: [] });
    const begun = [...prompt, 5, ...first.tokens];
    const rest = await session.generate(Int32Array.from(begun), { maxTokens: 20, continues: first.tokens.length });
    expect([...first.tokens, ...rest.tokens]).toEqual(whole.tokens);
    const [again, cold] = [model.createSession({ contextLength: 2048 }), await addon.load(folder, { device: 'cpu' })];
    const fresh = cold.createSession({ contextLength: 2048 });
    const asked = Int32Array.from([...begun, END, ...message(20, 2)]);
    expect((await again.generate(asked, { maxTokens: 8, stopTokens: [END] })).tokens).toEqual(
      (await fresh.generate(asked, { maxTokens: 8, stopTokens: [END] })).tokens,
    );
    expect(await statesOf(again)).toEqual(await statesOf(fresh));
    model.close();
    cold.close();
  }
});

test.each(families.filter(([name]) => name !== 'minicpm_sala'))(
  '%s: of a session with restarts at most one chunk is read again on any turn, and every turn says why',
  { timeout: 120_000 },
  async (_name, folder) => {
    const disk = { folder: newFolder(), bytes: 256 * MB };
    const open = async () => {
      const model = await withCache(folder);
      await model.setPromptCacheDisk(disk);
      return model;
    };
    const script = { open, turns: 20, seed: 11, contextLength: 4096, long: 900, short: 120, answer: 40 };
    const turns = await playTurns(script);
    expect(turns.filter((turn) => !isWithin(turn))).toEqual([]);
    expect(turns.filter(({ kind }) => kind === 'restart')).toHaveLength(2);
    expect(turns.map(({ cached, again, fresh, prompt }) => cached + again + fresh >= prompt - 1)).not.toContain(false);
  },
);
