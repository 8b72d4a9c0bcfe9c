// What the kernels cost by LLVM's own account of their text: instructions a weight where decode is bound by them, and
// registers against what an M1 has for the threads they run with.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { repository } from '../support/addon.ts';
import { safetensors, temporaryFolder } from '../support/models/formats.ts';
import { full } from '../support/models/shapes.ts';
import { kernelsOf, type Listed, liveRegisters, loopInstructions, registersFor } from './listing.ts';
import { loadOnMetal, needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'longhand-listing-'));
beforeAll(() => {
  if (process.platform !== 'linux') return;
  const texts = [
    `-DMETAL=${join(repository, 'metal')}`,
    `-DPARAMS=${join(repository, 'native/ops/params.h')}`,
    `-DTEXTS=${folder}`,
  ];
  execFileSync('cmake', [...texts, '-P', join(repository, 'native/metal/embed.cmake')]);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  standin.options({});
  delete process.env.LONGHAND_METAL_PIPELINES;
});

const textOf = (file: string) => readFileSync(join(folder, `${file}.metal`), 'utf8');
function kernel(source: string, name: string, layout: string, constants: Record<number, number>): Listed {
  const { text, error } = standin.listing({ source, macros: layout ? { LAYOUT: layout } : {}, constants });
  if (error) throw new Error(error);
  const found = kernelsOf(text).get(name);
  if (!found) throw new Error(`[listing] no kernel ${name}`);
  return found;
}

/** A projection of one row of x, without a norm: four rows of W a simdgroup, groups of 64 with bf16 scales. What preparing
 *  x costs is in it. Never more than this; 4-bit affine at most 5, Q4_K at most 7. */
const MOST: readonly [layout: string, instructions: number][] = [
  ['Affine2', 5],
  ['Affine3', 5.6],
  ['Affine4', 5],
  ['Affine5', 6.2],
  ['Affine6', 5.8],
  ['Affine8', 4.4],
  ['Q4_0', 4.6],
  ['Q4_1', 4.9],
  ['Q5_0', 8],
  ['Q5_1', 8.3],
  ['Q8_0', 3.6],
  ['Q2K', 5.8],
  ['Q3K', 9.6],
  ['Q4K', 7],
  ['Q5K', 10.4],
  ['Q6K', 8.3],
];

test.for(MOST)('%s: at most %d instructions a weight', ([layout, most]) => {
  const constants = { 0: 1, 8: 64, 9: 2, 24: 4 };
  const instructions = loopInstructions(kernel(textOf('linear'), 'linear_vec', layout, constants)) / (4 * 8);
  console.info(`${layout}: ${instructions.toFixed(2)} instructions a weight`);
  expect(instructions).toBeGreaterThan(2);
  expect(instructions).toBeLessThanOrEqual(most);
});

/** The stand-in's matrices are loops over their elements. Here each of their operations is a call, as it is one instruction on
 *  a GPU. */
const opaque = (text: string) =>
  text.replace(
    /(using namespace metal;)/,
    `$1
#define simdgroup_load matrix_load
#define simdgroup_multiply_accumulate matrix_product
template <class M, class T> void matrix_load(thread M&, threadgroup const T*, uint, ulong2 = ulong2(0, 0), bool = false);
template <class D, class A> void matrix_product(thread D&, thread const A&, thread const A&, thread const D&);`,
  );

describe('a tile of a prompt', () => {
  /** Of one simdgroup, for each of its products of 8 x 8 matrices: what it loads for it, and all other instructions of a step
   *  of 32 columns, which are four passes through the inner loop. */
  function perProduct(file: string, name: string, layout: string, norm: 0 | 1) {
    const found = kernel(opaque(textOf(file)), name, layout, { 1: norm, 8: 64, 9: 2 });
    const calls = (operation: string) =>
      found.blocks.flatMap(({ instructions }) => instructions).filter((each) => each.operation.includes(operation))
        .length;
    const products = calls('matrix_product');
    return { loads: calls('matrix_load') / products, others: loopInstructions(found) / (4 * products) };
  }

  test.each([
    ['Affine4', 7.4, 3.8],
    ['Q4K', 9.9, 5.2],
    ['Q8_0', 7, 3.1],
  ])('%s: at most %d instructions beside a product, in halves %d', (layout, exact, half) => {
    const [floats, halves] = [
      perProduct('matmul', 'linear_mat', layout, 1),
      perProduct('matmul_half', 'linear_mat_half', layout, 0),
    ];
    console.info(
      `${layout}: ${floats.others.toFixed(2)} instructions beside a product, in halves ${halves.others.toFixed(2)}`,
    );
    expect([floats.loads, halves.loads]).toEqual([1, 0.75]);
    expect(floats.others).toBeLessThanOrEqual(exact);
    expect(halves.others).toBeLessThanOrEqual(half);
    expect(halves.others).toBeGreaterThan(1);
  });
});

describe('registers', () => {
  test('no kernel of Qwen3.5-0.8B needs more than an M1 has for its threads', async () => {
    const log = join(folder, 'pipelines.log');
    process.env.LONGHAND_METAL_PIPELINES = log;
    process.env.LONGHAND_METAL_CACHE = mkdtempSync(join(folder, 'cache-'));
    const shapes = temporaryFolder({ 'config.json': full.config, 'model.safetensors': safetensors(full.tensors()) });
    const model = await loadOnMetal(shapes);
    const session = model.createSession({ path: 'exact' });
    standin.options({ dry: true });
    for (const length of [1, 5, 512])
      await session.logits(
        Int32Array.from({ length }, (_, i) => (i + length) % full.vocabulary),
        { chunk: length },
      );
    session.close();
    model.close();
    interface Pipeline {
      kernel: string;
      file: string;
      layout: string;
      threads: number;
      constants: number[];
    }
    const pipelines = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Pipeline);
    expect(pipelines.length).toBeGreaterThan(12);
    const over: string[] = [];
    for (const { kernel: name, file, layout, threads, constants } of pipelines) {
      const registers = liveRegisters(kernel(textOf(file), name, layout, { ...constants }));
      const allowed = registersFor(threads);
      if (registers > allowed)
        over.push(`${name} ${layout}: ${registers} for ${threads} threads, ${allowed} are there`);
    }
    expect(over).toEqual([]);
  });

  test.each([64, 128, 256])('a tile of attention keeps the queries and sums of a head of %d in them', (dim) => {
    const tile = kernel(textOf('attention_tile'), 'attention_tile', 'CacheF16', { 10: dim, 11: 1, 21: 4 });
    const registers = liveRegisters(tile);
    console.info(`attention_tile, a head of ${dim}: ${registers} registers`);
    expect(registers).toBeGreaterThan(dim / 4);
    expect(registers).toBeLessThanOrEqual(registersFor(128));
  });

  test.each([
    [16, 1024],
    [32, 768],
    [64, 512],
  ])('the delta rule with %d keys a lane runs with up to %d threads', (keys, threads) => {
    const step = kernel(textOf('gated_delta'), `gated_delta_step_${keys}`, '', { 10: 4 * keys, 25: 1 });
    const registers = liveRegisters(step);
    expect(registers).toBeGreaterThan(keys);
    expect(registers).toBeLessThanOrEqual(registersFor(threads));
  });

  test('512 threads with 96 registers of state are too many, and q and k in private memory too', () => {
    const state = `#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  float s[96];
  for (uint i = 0; i < 96; i++) s[i] = x[i * 32 + t];
  for (uint n = 0; n < 100; n++)
    for (uint i = 0; i < 96; i++) s[i] = s[i] * s[(i + n) % 96] + 1;
  for (uint i = 0; i < 96; i++) x[i * 32 + t] = s[i];
}
`;
    expect(liveRegisters(kernel(state, 'k', '', {}))).toBeGreaterThan(registersFor(512));
    const copied = textOf('gated_delta')
      .replace('S.step(q, k, qq, kk,', 'S.step((thread const float*)qs, (thread const float*)ks, qq, kk,')
      .replace(
        'float qq = 0, kk = 0;\n#pragma clang loop unroll(disable)',
        'float qs[KPL], ks[KPL]; for (int j = 0; j < KPL; j++) { qs[j] = q[j]; ks[j] = k[j]; }\nfloat qq = 0, kk = 0;\n#pragma clang loop unroll(disable)',
      );
    expect(copied).toContain('thread const float*)qs');
    const step = kernel(copied, 'gated_delta_step_32', '', { 10: 128, 25: 1 });
    expect(liveRegisters(step)).toBeGreaterThan(registersFor(512));
  });
});
