// Tensors larger than one binding of the device (128 MB on many): whatever grows with the context is worked through in
// parts, and gives the same numbers.
import { beforeAll, describe, expect, test } from 'vitest';
import { relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library } from './drivers.ts';

needsVulkan();

const rows = 600;
const range = 16_384;
// Passes of 20 tokens: their activations fit, the caches (600 x 128 bytes of keys) and all scores at once do not.
const chunks = `Int32Array.from({ length: ${rows / 20} }, () => 20)`;
const heads = 'heads: 6, kvHeads: 2, dim: 16, scale: 0.25';
const latent = `{
  rows: ${rows}, chunks: ${chunks}, ${heads}, ropeDim: 4, rotaryDim: 4, latentWidth: 20, latentK: 12, latentVFirst: 12,
  latentV: 8, retained: Int32Array.of(1, 5, 9, 13, 0, 7, 8, 15),
  rest: Int32Array.of(0, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14),
  invFreq: Float32Array.from({ length: 8 }, (_, j) => 10000 ** (-j / 8)),
  p: random(${rows * (6 * 16 + 2 * 4 + 20)}), upK: random(2 * 12 * 12), upV: random(2 * 16 * 8), cache: 'CACHE' }`;
const sparse = `{
  rows: ${rows}, chunks: ${chunks}, ${heads}, block: 16, kernel: 8, stride: 4, initBlocks: 1, window: 32, topk: 4,
  p: random(${rows * (6 + 2 * 2) * 16}), cache: 'CACHE' }`;
const dense = `{
  rows: ${rows}, chunks: ${chunks}, ${heads}, rotaryDim: 0, p: random(${rows * (6 + 2 * 2) * 16}), cache: 'CACHE' }`;

const cases: [title: string, op: string, args: string][] = [
  ...['f32', 'q8'].flatMap((cache): [string, string, string][] => [
    [`dense attention, ${cache}`, 'attention', dense.replace('CACHE', cache)],
    [`latent attention, ${cache}`, 'latent', latent.replace('CACHE', cache)],
    [`sparse attention, ${cache}`, 'sparse', sparse.replace('CACHE', cache)],
  ]),
  [
    'every score of a pass',
    'linear',
    `{ rows: 300, x: random(2400), weight: [{ type: 'f32', shape: [100, 8], data: new Uint8Array(random(800).buffer) }] }`,
  ],
];

/** All cases on Vulkan in a process of its own: the numbers of every result. */
function numbers(env: Record<string, string>): Record<string, number[]>[] {
  const body = `async (addon) => {
    let seed = 1;
    const random = (n) => Float32Array.from({ length: n }, () => (seed = (seed * 48271) % 2147483647) / 1073741823 - 1);
    const device = { backEnd: 'vulkan', instructions: '', threads: 1, path: 'exact' };
    const list = (result) => Array.from(ArrayBuffer.isView(result) ? result : [result]);
    return [${cases.map(([, op, args]) => `['${op}', ${args}]`).join(',')}].map(([op, args]) => {
      const result = addon.testing.runOp(device, op, args);
      const named = ArrayBuffer.isView(result) ? { result } : result;
      return Object.fromEntries(Object.entries(named).map(([name, values]) => [name, list(values)]));
    });
  }`;
  return inProcess(body, env);
}

describe(`bindings of ${range / 1024} KB`, { timeout: 120_000 }, () => {
  let whole: Record<string, number[]>[] = [];
  let parts: Record<string, number[]>[] = [];
  beforeAll(() => {
    if (process.platform === 'darwin') return;
    whole = numbers({});
    parts = numbers({ LONGHAND_VULKAN_LOADER: library('faulty'), FAULTY_RANGE: String(range) });
  }, 240_000);

  test.each(cases.map(([title], i) => [title, i] as const))('%s', (_title, i) => {
    const expected = whole[i] ?? {};
    expect(Object.keys(expected)).not.toEqual([]);
    expect(Object.keys(parts[i] ?? {})).toEqual(Object.keys(expected));
    for (const [name, values] of Object.entries(expected))
      expect(relativeDifference(parts[i]?.[name] ?? [], values), name).toBeLessThan(thresholds.transcendental);
  });
});
