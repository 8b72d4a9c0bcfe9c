// Every layout to fp32 against the references of test/golden/quant and, where there is none, against the formula.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { golden } from '../../support/addon.ts';
import {
  asFloats,
  formats,
  type GgmlType,
  gguf,
  llama,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

const quant = (set: string) => ({
  facts: JSON.parse(readFileSync(join(golden, 'quant', set, 'expected.json'), 'utf8')),
  tensors: readSafetensors(readFileSync(join(golden, 'quant', set, 'expected.safetensors'))),
});
const stored = (tensors: Record<string, StoredTensor>, name: string): StoredTensor => {
  const tensor = tensors[name];
  if (tensor === undefined) throw new Error(`the golden set has no ${name}`);
  return tensor;
};
const largest = (a: Float32Array, b: Float32Array) =>
  a.reduce((max, x, i) => Math.max(max, Math.abs(x - (b[i] ?? NaN))), 0);

/** Puts bytes into a GGUF file and reads them back as numbers. */
function throughGguf(type: GgmlType, shape: number[], bytes: Uint8Array): Float32Array {
  const folder = temporaryFolder({ 'm.gguf': gguf(llama, [{ name: 'w', type, shape, bytes }]) });
  return formats.dequantise(join(folder, 'm.gguf'), 'w');
}
function throughMlx(quantization: object, tensors: Record<string, StoredTensor>): Float32Array {
  const config = JSON.stringify({ quantization });
  const folder = temporaryFolder({ 'config.json': config, 'model.safetensors': safetensors(tensors) });
  return formats.dequantise(folder, 'l.weight');
}

describe('GGUF blocks', () => {
  const { facts, tensors } = quant('gguf_blocks');
  for (const type of Object.keys(facts.formats) as GgmlType[]) {
    for (const set of ['quantised', 'random_bits']) {
      if (tensors[`${type}.${set}.bytes`] === undefined) {
        expect(set, 'only the plain types have no random bits').toBe('random_bits');
        expect(['F16', 'BF16']).toContain(type);
        continue;
      }
      test(`${type}, ${set}: bit-equal`, () => {
        const expected = stored(tensors, `${type}.${set}.dequantised`);
        const result = throughGguf(type, expected.shape, stored(tensors, `${type}.${set}.bytes`).bytes);
        expect(result).toEqual(asFloats(expected.bytes));
      });
    }
  }

  test('MXFP4: 2^(e - 127) times the E2M1 code, low nibbles first', () => {
    const values = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
    const block = (e: number) => [e, ...Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4))];
    const code = (q: number) => (q < 8 ? 1 : -1) * (values[q & 7] ?? NaN);
    const expected = [0, 1, 120, 127, 130, 254].flatMap((e) =>
      Array.from({ length: 32 }, (_, i) => Math.fround(2 ** (e - 127) * code(i < 16 ? i : 31 - i))),
    );
    const bytes = Uint8Array.from([0, 1, 120, 127, 130, 254].flatMap(block));
    expect([...throughGguf('MXFP4', [6, 32], bytes)]).toEqual(expected);
  });
});

describe('MLX affine', () => {
  const { facts, tensors } = quant('mlx_affine');
  for (const { name, bits, group_size, scale_dtype } of facts.cases) {
    test(`${bits} bits, groups of ${group_size}, ${scale_dtype} scales`, () => {
      const part = (suffix: string) => stored(tensors, `${name}.${suffix}`);
      const dtype = scale_dtype === 'bfloat16' ? 'BF16' : 'F32';
      const result = throughMlx(
        { bits, group_size },
        {
          'l.weight': { ...part('weight'), dtype: 'U32' },
          'l.scales': { ...part('scales'), dtype },
          'l.biases': { ...part('biases'), dtype },
        },
      );
      expect(largest(result, asFloats(part('dequantised').bytes))).toBeLessThanOrEqual(
        facts.tolerance.dequantised_max_abs,
      );
    });
  }

  test('f16 scales', () => {
    const half = (bits: number): Uint8Array => new Uint8Array(Uint16Array.of(bits).buffer);
    const result = throughMlx(
      { bits: 4, group_size: 32 },
      {
        'l.weight': {
          dtype: 'U32',
          shape: [1, 4],
          bytes: new Uint8Array(Uint32Array.of(0x76543210, 0xfedcba98, 0, 0).buffer),
        },
        'l.scales': { dtype: 'F16', shape: [1, 1], bytes: half(0x3800) },
        'l.biases': { dtype: 'F16', shape: [1, 1], bytes: half(0xc000) },
      },
    );
    expect([...result]).toEqual(Array.from({ length: 32 }, (_, i) => 0.5 * (i < 16 ? i : 0) - 2));
  });
});

describe('MLX float modes', () => {
  const fp4 = (q: number) => (q < 8 ? 1 : -1) * ([0, 0.5, 1, 1.5, 2, 3, 4, 6][q & 7] ?? NaN);
  const e4m3 = (b: number) => {
    const magnitude = (b >> 3) & 15 ? 2 ** (((b >> 3) & 15) - 7) * (1 + (b & 7) / 8) : 2 ** -6 * ((b & 7) / 8);
    return b & 128 ? -magnitude : magnitude;
  };
  const codes = Uint8Array.from({ length: 16 }, (_, i) => (i * 37 + 11) & 255);
  const nibble = (i: number) => ((codes[i >> 1] ?? 0) >> (4 * (i & 1))) & 15;

  test('mxfp4', () => {
    const result = throughMlx(
      { mode: 'mxfp4' },
      {
        'l.weight': { dtype: 'U32', shape: [1, 4], bytes: codes },
        'l.scales': { dtype: 'U8', shape: [1, 1], bytes: Uint8Array.of(125) },
      },
    );
    expect([...result]).toEqual(Array.from({ length: 32 }, (_, i) => fp4(nibble(i)) / 4));
  });

  test('mxfp8', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => ((i & 127) === 127 ? 0 : i));
    const result = throughMlx(
      { mode: 'mxfp8' },
      {
        'l.weight': { dtype: 'U32', shape: [1, 64], bytes },
        'l.scales': { dtype: 'U8', shape: [1, 8], bytes: new Uint8Array(8).fill(128) },
      },
    );
    expect([...result]).toEqual([...bytes].map((b) => 2 * e4m3(b)));
  });

  test('nvfp4, with and without a scale for the whole tensor', () => {
    const tensors: Record<string, StoredTensor> = {
      'l.weight': { dtype: 'U32', shape: [1, 4], bytes: codes },
      'l.scales': { dtype: 'U8', shape: [1, 2], bytes: Uint8Array.of(0x38, 0x41) },
    };
    const expected = Array.from({ length: 32 }, (_, i) => fp4(nibble(i)) * (i < 16 ? 1 : 2.25));
    expect([...throughMlx({ mode: 'nvfp4' }, tensors)]).toEqual(expected);
    const global: StoredTensor = { dtype: 'F32', shape: [1], bytes: new Uint8Array(Float32Array.of(448 * 3).buffer) };
    expect([...throughMlx({ mode: 'nvfp4' }, { ...tensors, 'l.global_scale': global })]).toEqual(
      expected.map((x) => x / 2),
    );
  });
});

describe('FP8 elements', () => {
  test('all 256 codes of E4M3 and E5M2', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const one: StoredTensor = { dtype: 'F32', shape: [1], bytes: new Uint8Array(Float32Array.of(1).buffer) };
    const values = (dtype: string) => {
      const file = safetensors({ w: { dtype, shape: [256], bytes }, w_scale: one });
      const folder = temporaryFolder({ 'config.json': '{}', 'model.safetensors': file });
      return formats.dequantise(folder, 'w');
    };
    const small = (b: number, exponentBits: number, bias: number) => {
      const fractionBits = 7 - exponentBits;
      const exponent = (b & 127) >> fractionBits;
      const fraction = (b & ((1 << fractionBits) - 1)) / (1 << fractionBits);
      const magnitude = exponent > 0 ? 2 ** (exponent - bias) * (1 + fraction) : 2 ** (1 - bias) * fraction;
      return b & 128 ? -magnitude : magnitude;
    };
    expect([...values('F8_E4M3')]).toEqual([...bytes].map((b) => ((b & 127) === 127 ? NaN : small(b, 4, 7))));
    const e5m2 = (b: number) =>
      (b & 127) < 124 ? small(b, 5, 15) : (b & 3) === 0 ? (b & 128 ? -Infinity : Infinity) : NaN;
    expect([...values('F8_E5M2')]).toEqual([...bytes].map(e5m2));
  });
});
