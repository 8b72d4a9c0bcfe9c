// Correct kernels: the same bits whatever order lanes run in, right numbers, and clean in check mode.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { needsStandin, type Run, standin } from '../standin.ts';

needsStandin();

const source = (name: string) => readFileSync(join(import.meta.dirname, '../kernels', `${name}.metal`), 'utf8');
afterEach(() => standin.options({}));

function noise(count: number, seed: number): Float32Array {
  let state = seed >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
const words = (...numbers: number[]) => Uint32Array.from(numbers);

function succeed(run: Run): void {
  expect(standin.run(run)).toEqual({ stage: '', error: '' });
}

/** Runs `make()` in the three lane orders and in check mode; all outputs must have the same bits. Returns one. */
function everyOrder(make: () => { run: Run; out: Float32Array }): Float32Array {
  const outputs = (['forward', 'reverse', 'random'] as const).map((order) => {
    standin.options({ order, seed: 42 });
    const made = make();
    succeed(made.run);
    return made.out;
  });
  standin.options({ check: true });
  const checked = make();
  succeed(checked.run);
  const last = checked.out;
  for (const out of outputs) expect(Buffer.from(out.buffer).equals(Buffer.from(last.buffer))).toBe(true);
  return last;
}

describe('kernels on the stand-in', () => {
  test('a norm reduced through simd_sum and threadgroup memory', () => {
    const rows = 3;
    const n = 100;
    const x = noise(rows * n, 1);
    const out = everyOrder(() => {
      const y = new Float32Array(rows * n);
      const parameters = words(n, new Uint32Array(Float32Array.of(1e-5).buffer)[0] as number);
      const run: Run = {
        source: source('rms_norm'),
        kernel: 'rms_norm_f32',
        grid: [rows * 64],
        threads: [64],
        buffers: [x, new Float32Array(n).fill(1), y, parameters],
      };
      return { run, out: y };
    });
    for (let r = 0; r < rows; r++) {
      const row = x.subarray(r * n, (r + 1) * n);
      const scale = 1 / Math.sqrt(row.reduce((s, v) => s + v * v, 0) / n + 1e-5);
      row.forEach((v, i) => {
        expect(out[r * n + i]).toBeCloseTo(v * scale, 5);
      });
    }
  });

  test('the gated delta rule with its state in registers', () => {
    const [tokens, heads, dim] = [3, 1, 64];
    const [q, k, v] = [noise(tokens * dim, 2), noise(tokens * dim, 3), noise(tokens * dim, 4)];
    const decay = Float32Array.of(-0.1, -0.2, -0.3);
    const beta = Float32Array.of(0.5, 0.25, 1);
    const out = everyOrder(() => {
      const state = new Float32Array(dim * dim);
      const o = new Float32Array(tokens * dim);
      const run: Run = {
        source: source('gdn'),
        kernel: 'gdn_step_64_64',
        grid: [(dim / 8) * 256, heads],
        threads: [256],
        buffers: [q, k, v, decay, beta, state, o, words(tokens, heads)],
      };
      return { run, out: o };
    });
    const state = new Float64Array(dim * dim);
    for (let t = 0; t < tokens; t++)
      for (let c = 0; c < dim; c++) {
        const column = state.subarray(c * dim, (c + 1) * dim);
        const at = t * dim;
        column.forEach((s, i) => {
          column[i] = s * Math.exp(decay[t] as number);
        });
        const seen = column.reduce((s, value, i) => s + value * (k[at + i] as number), 0);
        const change = ((v[at + c] as number) - seen) * (beta[t] as number);
        column.forEach((s, i) => {
          column[i] = s + change * (k[at + i] as number);
        });
        const read = column.reduce((s, value, i) => s + value * (q[at + i] as number), 0);
        expect(Math.abs((out[at + c] as number) - read)).toBeLessThan(1e-4 * Math.max(1, Math.abs(read)));
      }
  });

  test('simdgroup matrices, ragged edges', () => {
    const [m, n, k] = [37, 21, 19];
    const half = (values: Float32Array) => new Uint16Array(new Float16Array(values).buffer);
    const [a, b] = [half(noise(m * k, 5)), half(noise(k * n, 6))];
    const out = everyOrder(() => {
      const c = new Uint16Array(m * n);
      const run: Run = {
        source: source('mm'),
        grid: [Math.ceil(n / 32) * 128, Math.ceil(m / 32)],
        threads: [128],
        buffers: [a, b, c, words(m, n, k)],
      };
      return {
        run,
        get out() {
          return Float32Array.from(new Float16Array(c.buffer));
        },
      };
    });
    const [fa, fb] = [new Float16Array(a.buffer), new Float16Array(b.buffer)];
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let x = 0; x < k; x++) sum += (fa[i * k + x] as number) * (fb[x * n + j] as number);
        expect(Math.abs((out[i * n + j] as number) - sum)).toBeLessThan(5e-3);
      }
  });

  test('atomics count exactly, in any order', () => {
    const counts = everyOrder(() => {
      const bins = new Uint32Array(4);
      const run: Run = {
        source: source('histogram'),
        grid: [100],
        threads: [64],
        buffers: [words(...Array.from({ length: 100 }, (_, i) => i % 3)), bins],
      };
      return {
        run,
        get out() {
          return Float32Array.from(bins);
        },
      };
    });
    expect([...counts]).toEqual([34, 33, 33, 2]);
  });

  test('a function constant chooses the branch and the optional argument', () => {
    for (const biased of [0, 1]) {
      const y = new Uint16Array(4);
      const scales = new Uint16Array(new Float16Array(4).fill(1).buffer);
      const weights = new Uint32Array(16).fill(0x99999999); // every code 9: weight 1
      const x = new Uint16Array(new Float16Array(32).fill(0.5).buffer);
      const bias = biased ? new Uint16Array(new Float16Array(4).fill(2).buffer) : undefined;
      succeed({
        source: source('qmv'),
        grid: [64],
        threads: [64],
        buffers: [weights, scales, x, y, words(4, 32), bias],
        constants: { 0: biased, 1: 2 },
      });
      expect([...new Float16Array(y.buffer)]).toEqual([16, 16, 16, 16].map((v) => v + 2 * biased));
    }
  });

  test('the cache key covers the flags: check mode and plain mode are different objects', () => {
    const text = `${source('histogram')}\n// ${process.pid}`;
    const run: Run = { source: text, grid: [4], threads: [4], buffers: [words(0, 0, 0, 0), new Uint32Array(4)] };
    const before = standin.counters().compiled;
    succeed(run);
    standin.options({ check: true });
    succeed(run);
    expect(standin.counters().compiled).toBe(before + 2);
    succeed(run);
    expect(standin.counters().compiled).toBe(before + 2);
  });
});
