// Kernels of the fast path for devices with integer products and f16 arithmetic, forced on and off: Mesa's software driver
// has both, and would not choose them by itself.
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Device as Listed } from '../../native/addon/index.d.ts';
import { type Arguments, fast, reference, run, type WeightInput } from '../ops/devices.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { affineMatrix, type BlockType, blockColumns, blockMatrix, blockTypes, floatMatrix } from '../ops/weights.ts';
import { soaking } from '../support/soak.ts';
import { needsVulkan } from './device.ts';
import { inProcess, scratchFile } from './drivers.ts';

needsVulkan();

const timeout = soaking ? 3_600_000 : 240_000;
const on = { LONGHAND_VULKAN_VARIANTS: 'dot,half' };
const off = { LONGHAND_VULKAN_VARIANTS: '' };

interface Case {
  op: 'linear' | 'gateUp';
  path: 'exact' | 'fast';
  args: Arguments;
}

/** Ops on Vulkan in a process of its own; typed arrays travel as base64. */
function onVulkan(cases: readonly Case[], env: Record<string, string>): Float32Array[] {
  const file = scratchFile('cases.json');
  const packed = JSON.stringify(cases, (_key, value) =>
    ArrayBuffer.isView(value)
      ? {
          kind: value instanceof Float32Array ? 'Float32Array' : 'Uint8Array',
          base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'),
        }
      : value,
  );
  const body = `async (addon) => {
    const cases = JSON.parse(require('node:fs').readFileSync(process.env.CASES, 'utf8'), (_key, value) => {
      if (!value?.base64) return value;
      const bytes = new Uint8Array(Buffer.from(value.base64, 'base64'));
      return value.kind === 'Uint8Array' ? bytes : new globalThis[value.kind](bytes.buffer);
    });
    return cases.map(({ op, path, args }) =>
      Array.from(addon.testing.runOp({ backEnd: 'vulkan', instructions: '', threads: 1, path }, op, args)));
  }`;
  writeFileSync(file, packed);
  return inProcess<number[][]>(body, { ...env, CASES: file }).map((one) => Float32Array.from(one));
}

/** A software driver compiles each kernel for seconds: a few layouts of every kind, all of them in the soak. */
const blockLayouts = (Object.keys(blockTypes) as BlockType[]).filter(
  (type) => soaking || ['q4_0', 'q5_1', 'q8_0', 'q6_k', 'iq4_xs'].includes(type),
);
const matrices: [string, WeightInput][] = [
  ...blockLayouts.map((type): [string, WeightInput] => [type, blockMatrix(type, 50, 3)]),
  ...(soaking ? [2, 3, 4, 5, 6, 8] : [8]).map((bits): [string, WeightInput] => [
    `MLX ${bits} bits`,
    affineMatrix(bits, 64, 'bf16', 50, 3 * blockColumns),
  ]),
];
const columns = 3 * blockColumns;
const inputs = (rows: number, weight: WeightInput): Arguments => ({
  rows,
  x: normal('x', rows * columns),
  weight: [weight],
});

describe('integer products', { timeout }, () => {
  // 15 bits a value, on the CPU as here: what is left is the order of the sums.
  test.each([1, 8])('%i tokens: the numbers of the scalar model of the fast path', (rows) => {
    const some = soaking || rows === 1 ? matrices : matrices.slice(-1);
    const cases = some.map(([, weight]): Case => ({ op: 'linear', path: 'fast', args: inputs(rows, weight) }));
    onVulkan(cases, on).forEach((y, i) => {
      const [title, weight] = some[i] as [string, WeightInput];
      const expected = run(fast(reference), 'linear', inputs(rows, weight));
      expect(relativeDifference(y, expected), title).toBeLessThan(thresholds.integerSum);
    });
  });

  test('everything around the product', () => {
    const weight = blockMatrix('q4_k', 50, 3);
    const args = {
      ...inputs(3, weight),
      norm: normal('norm', columns),
      gate: normal('gate', 3 * columns),
      gateKind: 'silu',
      bias: normal('bias', 50),
      addTo: normal('residual', 150),
    };
    const [y] = onVulkan([{ op: 'linear', path: 'fast', args }], on);
    expect(relativeDifference(y as Float32Array, run(fast(reference), 'linear', args))).toBeLessThan(2e-5);
    const [swiglu] = onVulkan([{ op: 'gateUp', path: 'fast', args: inputs(2, weight) }], on);
    const wanted = run(fast(reference), 'gateUp', inputs(2, weight));
    expect(relativeDifference(swiglu as Float32Array, wanted)).toBeLessThan(thresholds.transcendental);
  });
});

// More columns than the kernel holds of eight rows at once, and fewer than it holds of one.
test.each(['exact', 'fast'] as const)(
  'eight rows at once are the eight one by one, bit for bit (%s)',
  { timeout },
  (path) => {
    const all = inputs(8, blockMatrix('q4_0', 50, 3));
    const weight = all.weight;
    const x = all.x as Float32Array;
    const norm = normal('norm', columns);
    for (const op of ['linear', 'gateUp'] as const) {
      const one = (row: number): Case => ({
        op,
        path,
        args: { rows: 1, x: x.slice(row * columns, (row + 1) * columns), weight, norm },
      });
      const [together, ...alone] = onVulkan(
        [{ op, path, args: { ...all, norm } }, ...Array.from({ length: 8 }, (_, row) => one(row))],
        on,
      );
      expect(Float32Array.from(alone.flatMap((row) => [...row])), op).toEqual(together);
    }
  },
);

describe('f16 arithmetic', { timeout }, () => {
  const large = {
    ...inputs(40, floatMatrix('bf16', 'w', 70, columns)),
    x: normal('large', 40 * columns, 1e6),
  };
  const cases: Case[] = [
    {
      op: 'linear',
      path: 'fast',
      args: inputs(70, floatMatrix('bf16', 'w', 70, columns)),
    },
    { op: 'linear', path: 'fast', args: inputs(9, blockMatrix('q6_k', 50, 3)) },
    {
      op: 'gateUp',
      path: 'fast',
      args: {
        ...inputs(33, blockMatrix('q4_0', 50, 3)),
        norm: normal('norm', columns),
      },
    },
    { op: 'linear', path: 'fast', args: large }, // activations beyond 65504
  ];
  test('near the exact path, and not the same', () => {
    const exact = cases.map(({ op, args }) => run(reference, op, args));
    onVulkan(cases, on).forEach((y, i) => {
      const difference = relativeDifference(y, exact[i] as Float32Array);
      expect(difference, `${i}`).toBeLessThan(1e-3);
      expect(difference, `${i}`).toBeGreaterThan(0);
    });
  });
});

test('on the exact path, and where they are off, nothing changes', { timeout }, () => {
  const weight = blockMatrix('q4_0', 50, 3);
  const all = (path: Case['path']) => [1, 70].map((rows): Case => ({ op: 'linear', path, args: inputs(rows, weight) }));
  const plain = onVulkan(all('exact'), off);
  expect(onVulkan(all('exact'), on)).toEqual(plain);
  expect(onVulkan(all('fast'), off)).toEqual(plain);
});

test('a device says what is used', () => {
  const details = (env: Record<string, string>) =>
    inProcess<Listed[]>('async (addon) => addon.devices()', env).find(({ id }) => id === 'vulkan:0')?.detail;
  expect(details(on)).toMatch(/, integer products, half precision$/);
  expect(details(off)).not.toMatch(/integer|half/);
});
