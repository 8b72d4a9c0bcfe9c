// The memory plan beside what is allocated: it is told from headers alone, and the engine allocates by it.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forecast, ModelDescription } from '../../../app/protocol/index.ts';
import type { Model } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../../support/addon.ts';
import { families, someTokens, starter } from '../../support/models/models.ts';
import { realModel } from '../../support/models/real-models.mjs';

const models: [name: string, path: () => string | Promise<string>][] = [
  ...families.map(([name, path]): [string, () => string] => [name, () => path]),
  ['the built-in model', () => starter],
  ['qwen3_5 of 4 bits (MLX)', () => join(golden, 'mlx_models/qwen3_5_4bit')],
  ['SmolLM2 Q4_1 (GGUF)', () => realModel('smollm2')],
];
const PROMPT = 600;

/** Reads a prompt in passes of 512, as the app does, and says one token. */
async function readPrompt(model: Model, path: 'exact' | 'fast', contextLength: number) {
  const session = model.createSession({ path, contextLength });
  await session.generate(someTokens(Math.min(PROMPT, contextLength - 1)), { maxTokens: 1, temperature: 0 });
  return session;
}

test.each(models)('a pass of %s takes what the plan says', { timeout: 240_000 }, async (_, place) => {
  const path = await place();
  const { memory } = await addon.inspect(path);
  const model = await addon.load(path, { device: 'cpu', threads: 2 });
  expect(model.description.memory, 'told from headers').toEqual(memory);
  const contextLength = Math.min(PROMPT + 1, model.contextLength);
  for (const way of ['exact', 'fast'] as const) await readPrompt(model, way, contextLength);
  const { activations } = model.memoryPlan({ contextLength });
  expect(model.scratchBytes()).toBeLessThanOrEqual(activations);
  expect(model.scratchBytes()).toBeGreaterThan(0.99 * activations);
  model.close();
});

test("the app's forecast adds up the same plan", async () => {
  const model = await addon.load(await realModel('smollm2'), { device: 'cpu' });
  const description = ModelDescription.parse(model.description);
  for (const contextLength of [256, 1000, 8192]) {
    for (const kvType of ['f16', 'q8'] as const) {
      const told = forecast(description, { limitBytes: 1e12, bandwidth: null }, { contextLength, kvType });
      const plan = model.memoryPlan({ contextLength, kvType });
      expect(told.weights).toBe(plan.weights);
      expect(told.context).toBeCloseTo(plan.context);
      expect(told.state).toBe(plan.states + plan.snapshots);
      expect(told.activations).toBe(plan.activations + plan.scratch);
      expect(told.total - told.headroom).toBeCloseTo(plan.total);
    }
  }
  model.close();
});

test('what a session holds is the plan of its context, states and snapshots', async () => {
  const model = await addon.load(starter, { device: 'cpu' });
  for (const kvType of ['f32', 'f16', 'q8', 'q4'] as const) {
    const { context, states } = model.memoryPlan({ contextLength: 1000, kvType });
    expect(model.createSession({ contextLength: 1000, kvType }).memoryBytes).toBe(context + states);
    expect(context).toBeCloseTo(1000 * (model.description.memory?.contextPerToken[kvType] ?? 0));
  }
  const one = model.memoryPlan({ contextLength: 1000 });
  const three = model.memoryPlan({ contextLength: 1000, sessions: 3, cacheBytes: 1e6 });
  expect(three.context + three.states + three.snapshots).toBe(3 * (one.context + one.states + one.snapshots));
  expect([three.cache, three.activations, three.weights]).toEqual([1e6, one.activations, one.weights]);
  const parts = Object.entries(three).filter(([name]) => name !== 'total');
  expect(three.total).toBe(parts.reduce((sum, [, bytes]) => sum + bytes, 0));
  expect(() => model.memoryPlan({ sessions: 0 })).toThrow('sessions');
  model.close();
});

test('a short context takes little: activations of its tokens, and a snapshot for each place there is', async () => {
  for (const [path, states] of [
    [starter, true],
    [join(golden, 'llama/gqa_tied'), false],
    [join(golden, 'qwen3_5/dense_tied'), true],
  ] as const) {
    const model = await addon.load(path, { device: 'cpu', threads: 2 });
    const plan = (contextLength?: number) => model.memoryPlan(contextLength === undefined ? {} : { contextLength });
    expect(plan()).toEqual(plan(model.contextLength));
    expect(plan(0)).toEqual(plan());
    await readPrompt(model, 'exact', 41);
    const took = model.scratchBytes();
    expect(plan(41).activations).toBeGreaterThanOrEqual(took);
    expect(plan(41).activations).toBeLessThan(1.3 * took);
    // Of the first message and of three kinds of places, eight each at most.
    const snapshots = [1, 2, 17, 18, 19, 500].map((tokens) => plan(tokens).snapshots / (plan(tokens).states || 1));
    expect(snapshots).toEqual(states ? [1, 2, 17, 18, 18, 18] : [0, 0, 0, 0, 0, 0]);
    model.close();
  }
});

test('keys and values out of a latent cache stand unpacked beside a pass', async () => {
  const { memory, layers } = await addon.inspect(join(golden, 'mha2mla/high_r2_joint_rank4'));
  expect(memory?.scratchPerToken).toBeGreaterThan(0);
  expect(memory?.scratchPerToken).toBe((memory?.contextPerToken.f32 ?? 0) / layers.length);
});
