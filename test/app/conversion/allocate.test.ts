import { expect, test } from 'vitest';
import { type AllocationRequest, allocate, groupOf } from '../../../app/conversion/allocate.ts';
import { type Planned, plannedBytes, sizeOf } from '../../../app/conversion/plan.ts';
import type { WeightSource } from '../../../native/addon/index.d.ts';

const planned = (name: string, rows = 64): Planned => ({
  name,
  shape: [rows, 64],
  bits: 3,
  tensor: { name, type: 'F32', shape: [rows, 64] },
});
/** An error that falls to a quarter with each bit, the same in all matrices; searched ranges lose half. */
const source = {
  affine: async (_: string, { bits, method }: { bits: number; method: string }) => ({
    error: 4 ** -bits * (method === 'rtn' ? 2 : 1),
    energy: 1,
  }),
} as unknown as WeightSource;
const plan = [
  planned('model.embed_tokens.weight'),
  planned('model.layers.0.mlp.up_proj.weight'),
  planned('model.layers.1.mlp.up_proj.weight'),
  planned('mtp.layers.0.mlp.up_proj.weight'),
];
const request = (more: Partial<AllocationRequest>): AllocationRequest => ({
  source,
  plan,
  group: 32,
  target: Number.POSITIVE_INFINITY,
  divergence: null,
  importance: new Map(),
  sensitivities: new Map([
    ['model.embed_tokens.weight', 1],
    ['model.layers.0', 0.5],
    ['model.layers.1', 0.01],
    ['mtp.layers.0', 0],
  ]),
  signal: new AbortController().signal,
  progress() {},
  ...more,
});
const bitsOf = (found: readonly Planned[]) => found.map(({ bits }) => bits);

test('what a matrix takes is its codes, and a scale and a bias a group, as wide as its numbers were', () => {
  const wide = planned('a');
  const half: Planned = { ...wide, tensor: { ...wide.tensor, type: 'BF16' } };
  expect(plannedBytes(wide, 32)).toBe((64 * 64 * 3) / 8 + 128 * 8);
  expect(plannedBytes(half, 32)).toBe((64 * 64 * 3) / 8 + 128 * 4);
  expect(plannedBytes({ ...half, bits: null }, 32)).toBe(64 * 64 * 2);
});

test('a group is a layer of its stack, or a matrix that belongs to none', () => {
  expect(plan.map(({ name }) => groupOf(name))).toEqual([
    'model.embed_tokens.weight',
    'model.layers.0',
    'model.layers.1',
    'mtp.layers.0',
  ]);
  expect(groupOf('layers.12.attention.wq.weight')).toBe('layers.12');
});

test('bits go to the layers that matter, within the size; what a text does not reach keeps its own', async () => {
  const target = sizeOf(plan, 32);
  const found = await allocate(request({ target }));
  expect(sizeOf(found, 32)).toBeLessThanOrEqual(target);
  expect(bitsOf(found)).toEqual([4, 3, 2, 3]);
  expect(plan.every(({ bits }) => bits === 3)).toBe(true);
});

test('the least that a model can become is reached exactly; below it the size that it could have is said', async () => {
  const least = sizeOf(
    plan.map((one, at) => ({ ...one, bits: at < 3 ? 2 : 3 })),
    32,
  );
  expect(bitsOf(await allocate(request({ target: least })))).toEqual([2, 2, 2, 3]);
  const large = plan.map((one) => ({ ...one, shape: [640_000, 64], tensor: { ...one.tensor, shape: [640_000, 64] } }));
  await expect(allocate(request({ plan: large, target: 1.5e6 }))).rejects.toThrow(
    '[--target-size] got 0.002 GB; the least that this model can become is 0.088 GB',
  );
});

test('a divergence is reached with as few bits as it takes', async () => {
  const loss = (found: readonly Planned[]) =>
    [1, 0.5, 0.01].reduce((sum, sensitivity, i) => sum + (sensitivity / 2) * 4 ** (3 - (found[i]?.bits ?? 0)), 0);
  for (const divergence of [1, 0.1, 0.01]) {
    const found = await allocate(request({ divergence }));
    expect(loss(found)).toBeLessThanOrEqual(divergence);
    expect(loss(found)).toBeGreaterThan(divergence / 16);
    expect(found[0]?.bits).toBeGreaterThan(found[2]?.bits ?? 9);
  }
});

test('a large matrix is judged by a sample of rows from all of it', async () => {
  const asked: Int32Array[] = [];
  const counting = {
    affine: async (_: string, { rows }: { rows: Int32Array }) => {
      asked.push(rows);
      return { error: 0.1, energy: 1 };
    },
  } as unknown as WeightSource;
  await allocate(request({ source: counting, plan: [planned('model.embed_tokens.weight', 100_000)] }));
  for (const rows of asked) {
    expect(rows.length).toBeLessThan(10_000);
    expect(rows.at(-1)).toBeGreaterThan(90_000);
  }
  expect(asked.length).toBeGreaterThan(0);
});
