// The system runs short of memory while a model is loaded on the CPU or with Vulkan: what can be computed again is given back, and no
// answer changes. (Metal: test/metal/engine/pressure.test.ts.)
import { describe, expect, test } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import { picture, folder as seeing } from '../../support/models/golden-vision.ts';
import { families, someTokens, starter } from '../../support/models/models.ts';

const devices = (await addon.devices()).filter(({ available, backEnd }) => available && backEnd !== 'metal');
/** The worker has done what was asked before. */
const done = (model: Model) => model.clearPromptCache();

describe.each(devices.map(({ id }) => id))('%s', (device) => {
  test.each(families)('%s: the same answer, however often and in whatever place it happens', async (_, folder) => {
    const model = await addon.load(folder, { device, threads: 2 });
    model.setPromptCache(64 * 2 ** 20);
    const prompt = Int32Array.from(someTokens(300, 7));
    const answer = async (relieve: () => void) => {
      const session = model.createSession({ contextLength: 1024 });
      const options = { maxTokens: 8, temperature: 0, onPrefill: relieve, onTokens: relieve };
      const first = await session.generate(prompt, options);
      relieve();
      const second = await session.generate(Int32Array.of(...session.tokens(), ...someTokens(20, 8)), options);
      session.close();
      return [first.tokens, second.tokens];
    };
    const calm = await answer(() => {});
    await done(model);
    expect(await answer(() => model.relieveMemory())).toEqual(calm);
    await done(model);
    expect(await answer(() => model.relieveMemory({ critical: true }))).toEqual(calm);
    model.close();
  });

  test('half of the prompt cache goes, or all of it; the vision tower goes and comes back', async () => {
    const model = await addon.load(seeing, { device, threads: 2 });
    model.setPromptCache(64 * 2 ** 20);
    for (let chat = 0; chat < 4; chat++) {
      const session = model.createSession({ contextLength: 1024 });
      await session.generate(Int32Array.from(someTokens(300, chat)), { maxTokens: 2, temperature: 0 });
      session.close();
    }
    const bytes = async () => {
      await model.flushPromptCache();
      return model.promptCache().bytes;
    };
    const full = await bytes();
    const look = async () => {
      const { pixels, grid } = picture('b_160x224');
      return (await model.see(pixels, Int32Array.from(grid))).data;
    };
    const before = await look();
    model.relieveMemory();
    expect(await look()).toEqual(before);
    const half = await bytes();
    expect(half).toBeLessThanOrEqual(full / 2);
    expect(half).toBeGreaterThan(0);
    model.relieveMemory({ critical: true });
    expect(await look()).toEqual(before);
    expect(await bytes()).toBe(0);
    model.close();
  });
});

test('scratch memory goes back to the system, and the next pass takes it again', async () => {
  const model = await addon.load(starter, { device: 'cpu', threads: 2 });
  const session = model.createSession({ contextLength: 4096 });
  await session.generate(Int32Array.from(someTokens(2000, 1)), { maxTokens: 2, temperature: 0 });
  const before = process.memoryUsage().rss;
  model.relieveMemory();
  await done(model);
  const freed = before - process.memoryUsage().rss;
  expect(model.scratchBytes()).toBeGreaterThan(8e6);
  expect(freed).toBeGreaterThan(0.6 * model.scratchBytes());
  model.close();
});
