// How long the GPU worked, and at what: timestamps of command buffers and, in a profile, of every kernel.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { golden } from '../support/addon.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library } from './drivers.ts';

needsVulkan();

interface Measured {
  able: boolean;
  plain: { ms: number; wall: number; tokens: number[] };
  profiled: { ms: number; tokens: number[] };
  kernels: { name: string; count: number; ms: number }[];
}

const model = join(golden, 'qwen3_5', 'dense_tied');
const measure = `async (addon) => {
  const model = await addon.load(${JSON.stringify(model)}, { device: 'vulkan' });
  const write = async () => {
    const session = model.createSession({ contextLength: 256 });
    const before = performance.now();
    const { tokens, timings } = await session.generate(Int32Array.from({ length: 20 }, (_, i) => i + 1), {
      maxTokens: 8, temperature: 0, path: 'exact', cachePrompt: false,
    });
    const wall = performance.now() - before;
    session.close();
    return { ms: timings.deviceMs, wall, tokens: Array.from(tokens) };
  };
  await write();
  const plain = await write();
  const able = await model.profile();
  const profiled = await write();
  return { able, plain, profiled, kernels: await model.kernelTimes() };
}`;

test('a profile times every kernel, and changes nothing that is computed', { timeout: 120_000 }, () => {
  const { able, plain, profiled, kernels } = inProcess<Measured>(measure, {});
  expect(able).toBe(true);
  expect(plain.ms).toBeGreaterThan(0);
  expect(plain.ms).toBeLessThan(plain.wall);
  expect(profiled.tokens).toEqual(plain.tokens);
  const times = new Map(kernels.map((each) => [each.name, each]));
  // 20 tokens are read in a pass or more, and each of the first seven that are written in one of its own.
  expect(times.get('gated_delta_step')?.count).toBeGreaterThanOrEqual(7);
  expect(times.get('embed')?.count).toBeGreaterThanOrEqual(8);
  for (const { name, ms } of kernels) expect(ms, name).toBeGreaterThan(0);
  const sum = kernels.reduce((total, { ms }) => total + ms, 0);
  expect(sum).toBeLessThanOrEqual(profiled.ms);
  expect(sum).toBeGreaterThan(0.5 * profiled.ms);
});

test('a queue without timestamps says so, and works', { timeout: 120_000 }, () => {
  const faulty = { LONGHAND_VULKAN_LOADER: library('faulty'), FAULTY_TICKS: '0' };
  const { able, plain, profiled, kernels } = inProcess<Measured>(measure, faulty);
  expect(able).toBe(false);
  expect([plain.ms, profiled.ms]).toEqual([undefined, undefined]);
  expect(kernels).toEqual([]);
  expect(profiled.tokens).toEqual(plain.tokens);
});
