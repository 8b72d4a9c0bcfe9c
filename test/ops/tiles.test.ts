// Prompts on sets with tiles of bf16 (AMX). `scalar-tiles` is the definition, which runs everywhere; the tiles give its bits, and it
// is near the exact path. Products: linear.test.ts.
import { describe, expect, test } from 'vitest';
import { type Arguments, type Device, devices, fast, reference, runMany, tileModel } from './devices.ts';
import { normal, relativeDifference } from './numbers.ts';
import { expectSameBits, madeOnce } from './support.ts';
import { thresholds } from './thresholds.ts';
import { blockMatrix, floatMatrix } from './weights.ts';

const tiled = devices.find(({ instructions }) => instructions === 'amx');

const attention = (device: Device, args: Arguments) => runMany(device, 'attention', args).floats('o');

const prompt = (
  rows: number,
  heads: number,
  kvHeads: number,
  dim: number,
  cache = 'f16',
): Arguments & { rows: number } => ({
  rows,
  heads,
  kvHeads,
  dim,
  cache,
  rotaryDim: dim,
  scale: dim ** -0.5,
  p: normal('p', rows * dim * (heads + 2 * kvHeads)),
  invFreq: Float32Array.from({ length: dim / 2 }, (_, j) => 10000 ** ((-2 * j) / dim)),
});

describe('causal attention', () => {
  const prompts: [string, () => Arguments & { rows: number }][] = [
    ['few rows', () => prompt(17, 2, 2, 64)],
    ['query heads in groups of three', () => prompt(100, 6, 2, 64)],
    ['heads that fill no tile', () => prompt(70, 2, 1, 40)],
    ['keys of fp32', () => prompt(66, 4, 2, 32, 'f32')],
    ['keys of 8 bits', () => prompt(66, 4, 2, 64, 'q8_0')],
    ['more keys than are rounded at once', () => prompt(1100, 2, 1, 32)],
  ];
  for (const [title, args] of prompts) {
    const inputs = madeOnce(args);
    const model = madeOnce(() => attention(fast(tileModel), inputs()));

    test(`${title}: near the exact path, and not the same`, () => {
      const difference = relativeDifference(model(), attention(reference, inputs()));
      expect(difference).toBeLessThan(thresholds.bf16Attention);
      expect(difference).toBeGreaterThan(0);
    });

    test(`${title}: the tiles of the processor give its bits`, ({ skip }) => {
      if (tiled === undefined) return skip('needs a CPU with AMX');
      expectSameBits(attention(fast(tiled), inputs()), model());
    });
  }

  test('a row has the same bits however its prompt is cut, down to 17 tokens', () => {
    const args = prompt(120, 4, 2, 32);
    const whole = attention(fast(tileModel), args);
    for (const cut of [
      [60, 60],
      [17, 103],
      [90, 30],
    ])
      expectSameBits(attention(fast(tileModel), { ...args, chunks: Int32Array.from(cut) }), whole);
  });

  test('sixteen tokens and fewer are read as answers are written', () => {
    const args = prompt(16, 4, 2, 32);
    expectSameBits(attention(fast(tileModel), args), attention(fast(reference), args));
  });
});

describe('mixture of experts', () => {
  const [experts, hidden, inner, topk] = [6, 64, 96, 4];
  const stacked = (out: number, columns: number) => {
    const all = blockMatrix('q4_0', experts * out, columns / 32);
    return { ...all, shape: [experts, out, columns] };
  };
  const mixture = (rows: number): Arguments => ({
    rows,
    expertCount: experts,
    topk,
    x: normal('x', rows * hidden),
    addTo: normal('residual', rows * hidden),
    routerWeight: [floatMatrix('f32', 'router', experts, hidden)],
    gateUp: [stacked(inner, hidden), stacked(inner, hidden)],
    down: [stacked(hidden, inner)],
  });
  const mixed = (device: Device, rows: number) => runMany(device, 'mixture', mixture(rows)).floats('y');

  test('near the exact path, and not the same', () => {
    const difference = relativeDifference(mixed(fast(tileModel), 40), mixed(reference, 40));
    expect(difference).toBeLessThan(2 * thresholds.bf16Activations); // two products, one after the other
    expect(difference).toBeGreaterThan(0);
  });

  test('the tiles of the processor agree', ({ skip }) => {
    if (tiled === undefined) return skip('needs a CPU with AMX');
    // The SiLU in between is the vectors' own.
    expect(relativeDifference(mixed(fast(tiled), 40), mixed(fast(tileModel), 40))).toBeLessThan(thresholds.rounded);
  });

  test('five tokens are few, although they ask twenty times for an expert', () => {
    expectSameBits(mixed(fast(tileModel), 5), mixed(fast(reference), 5));
  });
});
