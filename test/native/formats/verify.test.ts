import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  f32,
  formats,
  type GgmlType,
  type GgufTensor,
  gguf,
  llama,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

/** Bytes of a block and where its half-precision numbers stand. */
const blocks: Partial<Record<GgmlType, { elements: number; bytes: number; halves: number[] }>> = {
  Q4_0: { elements: 32, bytes: 18, halves: [0] },
  Q4_1: { elements: 32, bytes: 20, halves: [0, 2] },
  Q5_0: { elements: 32, bytes: 22, halves: [0] },
  Q5_1: { elements: 32, bytes: 24, halves: [0, 2] },
  Q8_0: { elements: 32, bytes: 34, halves: [0] },
  Q2_K: { elements: 256, bytes: 84, halves: [80, 82] },
  Q3_K: { elements: 256, bytes: 110, halves: [108] },
  Q4_K: { elements: 256, bytes: 144, halves: [0, 2] },
  Q5_K: { elements: 256, bytes: 176, halves: [0, 2] },
  Q6_K: { elements: 256, bytes: 210, halves: [208] },
  IQ4_NL: { elements: 32, bytes: 18, halves: [0] },
  IQ4_XS: { elements: 256, bytes: 136, halves: [0] },
};
const fileOf = (...tensors: GgufTensor[]) => join(temporaryFolder({ 'm.gguf': gguf(llama, tensors) }), 'm.gguf');

describe('GGUF block scales', () => {
  for (const [type, { elements, bytes, halves }] of Object.entries(blocks)) {
    test(type, () => {
      const three = () => new Uint8Array(3 * bytes).fill(0x11);
      const tensor = (data: Uint8Array): GgufTensor => ({
        name: 'w',
        type: type as GgmlType,
        shape: [3, elements],
        bytes: data,
      });
      expect(() => formats.verifyWeights(fileOf(tensor(three())))).not.toThrow();
      for (const at of halves) {
        for (const bits of [0x7c00, 0xfc00, 0x7e01]) {
          const data = three();
          new DataView(data.buffer).setUint16(2 * bytes + at, bits, true);
          expect(() => formats.verifyWeights(fileOf(tensor(data)))).toThrow(
            '[weights] tensor "w": the scale of block 2 is not finite; the file is damaged',
          );
          const other = formats.dequantise(fileOf(tensor(data)), 'w');
          expect(other.subarray(0, 2 * elements).every(Number.isFinite)).toBe(true);
          expect(other.subarray(2 * elements).every(Number.isFinite)).toBe(false);
        }
      }
    });
  }

  test('MXFP4: the exponent 255 is no number', () => {
    const data = new Uint8Array(34).fill(1);
    data[17] = 255;
    const tensor: GgufTensor = { name: 'w', type: 'MXFP4', shape: [2, 32], bytes: data };
    expect(() => formats.verifyWeights(fileOf(tensor))).toThrow(/the scale of block 1 is not finite/);
  });
});

describe('plain numbers', () => {
  const bits16 = (...values: number[]): Uint8Array => new Uint8Array(Uint16Array.from(values).buffer);
  const cases: [string, StoredTensor][] = [
    ['F32', { dtype: 'F32', shape: [2], bytes: f32(1, Number.NaN) }],
    ['F64', { dtype: 'F64', shape: [2], bytes: new Uint8Array(Float64Array.of(1, Infinity).buffer) }],
    ['F16', { dtype: 'F16', shape: [2], bytes: bits16(0x3c00, 0xfc00) }],
    ['BF16', { dtype: 'BF16', shape: [2], bytes: bits16(0x3f80, 0x7fc0) }],
  ];
  for (const [type, tensor] of cases) {
    test(`${type}: read only when every value is asked for`, () => {
      const folder = temporaryFolder({ 'config.json': '{}', 'model.safetensors': safetensors({ w: tensor }) });
      expect(() => formats.verifyWeights(folder)).not.toThrow();
      expect(() => formats.verifyWeights(folder, true)).toThrow('tensor "w": element 1 is not finite');
    });
  }

  test('the largest finite numbers and integers are sound', () => {
    const tensors: Record<string, StoredTensor> = {
      a: { dtype: 'F16', shape: [2], bytes: bits16(0x7bff, 0xfbff) },
      b: { dtype: 'BF16', shape: [2], bytes: bits16(0x7f7f, 0xff7f) },
      c: { dtype: 'I32', shape: [1], bytes: new Uint8Array(4).fill(255) },
    };
    const folder = temporaryFolder({ 'config.json': '{}', 'model.safetensors': safetensors(tensors) });
    expect(() => formats.verifyWeights(folder, true)).not.toThrow();
  });
});

describe('MLX float modes', () => {
  const layer = (mode: string, words: number, scales: number[], codes = 0) => {
    const file = safetensors({
      'l.weight': { dtype: 'U32', shape: [1, words], bytes: new Uint8Array(4 * words).fill(codes) },
      'l.scales': { dtype: 'U8', shape: [1, scales.length], bytes: Uint8Array.from(scales) },
    });
    return temporaryFolder({ 'config.json': JSON.stringify({ quantization: { mode } }), 'model.safetensors': file });
  };
  test('E8M0 and E4M3 scales that are no number', () => {
    expect(() => formats.verifyWeights(layer('mxfp4', 8, [127, 255]))).toThrow(/the scale of group 1 is not finite/);
    expect(() => formats.verifyWeights(layer('nvfp4', 4, [0x38, 0xff]))).toThrow(/the scale of group 1 is not finite/);
    expect(() => formats.verifyWeights(layer('nvfp4', 4, [0x38, 0xfe]))).not.toThrow();
  });
  test('E4M3 codes that are no number', () => {
    expect(() => formats.verifyWeights(layer('mxfp8', 8, [127], 0xff))).not.toThrow();
    expect(() => formats.verifyWeights(layer('mxfp8', 8, [127], 0xff), true)).toThrow(/element 0 is not a number/);
  });
});

test('affine groups: a scale or a bias that is no number is found by its group', () => {
  for (const [dtype, sound, broken] of [
    ['BF16', 0x3f80, 0x7f80],
    ['F16', 0x3c00, 0xfe00],
  ] as const) {
    const numbers = (...values: number[]): StoredTensor => ({
      dtype,
      shape: [2, 2],
      bytes: new Uint8Array(Uint16Array.from(values).buffer),
    });
    const all: number[] = [sound, sound, sound, sound];
    const folder = (scales: number[], biases: number[]) =>
      temporaryFolder({
        'config.json': '{"quantization":{"bits":4,"group_size":32}}',
        'model.safetensors': safetensors({
          'l.weight': { dtype: 'U32', shape: [2, 8], bytes: new Uint8Array(64).fill(255) },
          'l.scales': numbers(...scales),
          'l.biases': numbers(...biases),
        }),
      });
    expect(() => formats.verifyWeights(folder(all, all), true)).not.toThrow();
    for (let at = 0; at < 4; at++) {
      const wrong = all.with(at, broken);
      expect(() => formats.verifyWeights(folder(wrong, all))).toThrow(
        `[weights] tensor "l.weight": the scale of group ${at} is not finite; the file is damaged`,
      );
      expect(() => formats.verifyWeights(folder(all, wrong))).toThrow(`the bias of group ${at} is not finite`);
    }
  }
});

test('the number that all of a matrix is multiplied with, and the place of a code', () => {
  const file = (mode: string, global: number, codes: Uint8Array) =>
    temporaryFolder({
      'config.json': JSON.stringify({ quantization: { mode } }),
      'model.safetensors': safetensors({
        'l.weight': { dtype: 'U32', shape: [1, 8], bytes: codes },
        'l.scales':
          mode === 'nvfp4'
            ? { dtype: 'U8', shape: [1, 4], bytes: new Uint8Array(4).fill(0x38) }
            : { dtype: 'U8', shape: [1, 1], bytes: Uint8Array.of(127) },
        ...(mode === 'nvfp4' && { 'l.global_scale': { dtype: 'F32', shape: [1], bytes: f32(global) } }),
      }),
    });
  const codes = new Uint8Array(32).fill(0xff);
  expect(() => formats.verifyWeights(file('nvfp4', 448 * 6, codes), true)).not.toThrow();
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => formats.verifyWeights(file('nvfp4', wrong, codes))).toThrow('the global scale is not finite');
  for (const at of [0, 17, 31])
    for (const code of [0x7f, 0xff])
      expect(() => formats.verifyWeights(file('mxfp8', 1, new Uint8Array(32).fill(0x7e).with(at, code)), true)).toThrow(
        `element ${at} is not a number`,
      );
});

test('as many as are named are all that is said', () => {
  const bad = (i: number): GgufTensor => ({
    name: `w${i}`,
    type: 'Q8_0',
    shape: [32],
    bytes: new Uint8Array(34).fill(255),
  });
  expect(() => formats.verifyWeights(fileOf(...[0, 1, 2, 3, 4].map(bad)))).toThrow(
    /^\[weights\] tensor "w0": .*; tensor "w4": the scale of block 0 is not finite; the file is damaged$/,
  );
  expect(() => formats.verifyWeights(fileOf(...[0, 1, 2, 3, 4, 5].map(bad)))).toThrow(
    /"w4": the scale of block 0 is not finite; and 1 more tensors; the file is damaged$/,
  );
});

test('many damaged tensors are counted, five are named', () => {
  const bad = (i: number): GgufTensor => ({
    name: `w${i}`,
    type: 'Q8_0',
    shape: [32],
    bytes: new Uint8Array(34).fill(255),
  });
  expect(() => formats.verifyWeights(fileOf(...Array.from({ length: 8 }, (_, i) => bad(i))))).toThrow(
    /"w0": .*; tensor "w4": the scale of block 0 is not finite; and 3 more tensors; the file is damaged$/,
  );
});
