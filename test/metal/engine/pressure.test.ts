// The system runs short of memory: what can be made again is given back, and no answer changes.
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { GenerateOptions, Session } from '../../../native/addon/index.d.ts';
import { readCase } from '../../support/models/golden.ts';
import { picture, folder as seeing } from '../../support/models/golden-vision.ts';
import { loadOnMetal, needsStandin, standin } from '../standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 }); // kernels may have to be compiled by clang first

const { folder, prompts } = readCase('qwen3_5/dense_tied');
const prompt = (prompts.find(({ ids }) => ids.length >= 14)?.ids ?? new Int32Array()).slice(0, 14);

const patience = { timeout: 60_000 };
afterEach(() => standin.faults({}));

async function onMetal<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const model = await loadOnMetal(folder);
  await vi.waitFor(() => expect(standin.counters().heapBytes).toBe(0), patience); // models before are gone
  const session = model.createSession({ path: 'exact' });
  try {
    return await work(session);
  } finally {
    session.close();
    model.close();
  }
}
/** The tokens of the next turn: the conversation so far, and three words more. */
async function turn(session: Session, options: Partial<GenerateOptions> = {}): Promise<number[]> {
  const ids = session.tokens().length === 0 ? prompt : Int32Array.of(...session.tokens(), ...prompt.slice(0, 3));
  const { tokens } = await session.generate(ids, { maxTokens: 5, path: 'exact', continues: ids.length, ...options });
  return tokens;
}

/** Three turns, undisturbed: what every other test must come to. */
let undisturbed: number[][] = [];
beforeAll(async () => {
  undisturbed = await onMetal(async (session) => [await turn(session), await turn(session), await turn(session)]);
});

describe.each(['warning', 'critical'] as const)('a %s', (level) => {
  test('between turns: activations and snapshots are given back, the next turn is as it would have been', async () => {
    await onMetal(async (session) => {
      const turns = [await turn(session), await turn(session)];
      const kept = session.snapshots();
      const { heapBytes, allocated } = standin.counters();
      expect(heapBytes).toBeGreaterThan(0);
      expect(kept).toHaveLength(4); // the beginning, before the end of each prompt, the end
      standin.pressure(level);
      await expect.poll(() => standin.counters().heapBytes, patience).toBe(0);
      expect(standin.counters().allocated).toBeLessThan(allocated - heapBytes);
      expect(session.snapshots()).toEqual(level === 'critical' ? [0, kept[3]] : [0, kept[2], kept[3]]);
      turns.push(await turn(session));
      expect(turns).toEqual(undisturbed);
    });
  });

  test('inside a turn: the same tokens', async () => {
    await onMetal(async (session) => {
      const raise = () => standin.pressure(level);
      const turns = [await turn(session, { onPrefill: raise }), await turn(session, { onTokens: raise })];
      expect([...turns, await turn(session)]).toEqual(undisturbed);
    });
  });

  test('going back to a place whose snapshot was given back reads the tokens again, to the bit', async () => {
    await onMetal(async (session) => {
      const back = prompt.length - 1;
      await turn(session);
      await session.rewind(back);
      const before = await session.states();
      await turn(session);
      standin.pressure(level);
      await session.rewind(back);
      const after = await session.states();
      expect(after.map(({ data }) => data)).toEqual(before.map(({ data }) => data));
    });
  });
});

test('pressure after the model is closed finds nobody', async () => {
  await onMetal((session) => turn(session));
  await expect.poll(() => standin.counters().heapBytes, patience).toBe(0);
  standin.pressure('critical');
});

test('weights beyond what the GPU works with at once are refused in words', async () => {
  standin.faults({ memoryLimit: standin.counters().allocated + 20_000 });
  await expect(loadOnMetal(folder)).rejects.toMatchObject({
    code: 'memory',
    message: expect.stringMatching(/the GPU cannot give \d+ bytes: \d+ of \d+ are in use/),
  });
});

test('the tower that sees is given back, and comes again when it is wanted', async () => {
  const model = await loadOnMetal(seeing);
  const { pixels, grid } = picture('b_160x224');
  const look = () => model.see(pixels, Int32Array.from(grid));
  const first = await look();
  const { allocated } = standin.counters();
  standin.pressure('warning');
  // 32 x 1,536 floats embed the patches: they are memory of its own.
  await expect.poll(() => standin.counters().allocated, patience).toBeLessThan(allocated - 32 * 1536 * 4);
  expect((await look()).data).toEqual(first.data);
  model.close();
});
