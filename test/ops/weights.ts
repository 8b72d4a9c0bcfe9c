// Matrices in every layout a file may hold.
import type { WeightInput } from './devices.ts';
import { goldenTensors } from './golden.ts';
import { bytes, normal } from './numbers.ts';

/** 16 high bits of fp32, truncated: any bf16 will do, as long as both sides see the same. */
export const toBf16 = (x: Float32Array) =>
  Uint16Array.from(new Uint32Array(x.buffer, x.byteOffset, x.length), (bits) => bits >>> 16);
/** f16 of zero and values whose magnitude is between 2^-14 and 2^15, truncated. */
export const toF16 = (x: Float32Array) =>
  Uint16Array.from(new Uint32Array(x.buffer, x.byteOffset, x.length), (bits) => {
    const exponent = ((bits >>> 23) & 255) - 112;
    return ((bits >>> 16) & 0x8000) | (exponent <= 0 ? 0 : (exponent << 10) | ((bits >>> 13) & 0x3ff));
  });

export type FloatType = 'f32' | 'f16' | 'bf16';

export function floatMatrix(type: FloatType, name: string, out: number, columns: number): WeightInput {
  const values = normal(name, out * columns, columns ** -0.5);
  const data = type === 'f32' ? values : type === 'bf16' ? toBf16(values) : toF16(values);
  return { type, shape: [out, columns], data: bytes(data) };
}
export const f32 = (values: Float32Array, ...shape: number[]): WeightInput => ({
  type: 'f32',
  shape,
  data: bytes(values),
});

const blocks = goldenTensors('quant/gguf_blocks/expected.safetensors');
export const blockColumns = 512;
/** The type's name in this project and in the golden file. */
export const blockTypes = {
  q4_0: 'Q4_0',
  q4_1: 'Q4_1',
  q5_0: 'Q5_0',
  q5_1: 'Q5_1',
  q8_0: 'Q8_0',
  q2_k: 'Q2_K',
  q3_k: 'Q3_K',
  q4_k: 'Q4_K',
  q5_k: 'Q5_K',
  q6_k: 'Q6_K',
  iq4_nl: 'IQ4_NL',
  iq4_xs: 'IQ4_XS',
} as const;
export type BlockType = keyof typeof blockTypes;

/** `out` rows drawn from the golden rows of a block type, repeated along the columns. */
export function blockMatrix(type: BlockType, out: number, repeats = 1): WeightInput {
  const golden = blocks(`${blockTypes[type]}.quantised.bytes`);
  const [rows, width] = golden.shape as [number, number];
  const data = new Uint8Array(out * width * repeats);
  for (let i = 0; i < out * repeats; i++) {
    const from = ((i * 7 + (i >> 2)) % rows) * width;
    data.set(golden.bytes.subarray(from, from + width), i * width);
  }
  return { type, shape: [out, blockColumns * repeats], data };
}

/** MLX integers: random codes, scales of both signs. */
export function affineMatrix(
  bits: number,
  group: number,
  scaleType: FloatType,
  out: number,
  columns: number,
): WeightInput {
  const code = normal(`codes ${bits}`, (out * columns * bits) / 8, 100);
  const groups = (out * columns) / group;
  const stored = (values: Float32Array) =>
    bytes(scaleType === 'f32' ? values : scaleType === 'bf16' ? toBf16(values) : toF16(values));
  return {
    type: 'affine',
    shape: [out, columns],
    data: Uint8Array.from(code, (x) => Math.round(Math.abs(x)) & 255),
    bits,
    group,
    scaleType,
    scales: stored(normal('scales', groups, 0.1 / 2 ** bits)),
    biases: stored(normal('biases', groups, 0.05)),
  };
}

/** The element types of four and eight bits with a scale for every few of them, and what they hold, worked out here. */
export const floatModes = ['gguf_mxfp4', 'mxfp4', 'mxfp8', 'nvfp4'] as const;
export type FloatMode = (typeof floatModes)[number];

const e2m1 = (code: number) => (code < 8 ? 1 : -1) * ([0, 0.5, 1, 1.5, 2, 3, 4, 6][code & 7] as number);
const e4m3 = (code: number) => {
  const [exponent, fraction] = [(code >> 3) & 15, code & 7];
  const magnitude = exponent > 0 ? 2 ** (exponent - 7) * (1 + fraction / 8) : 2 ** -6 * (fraction / 8);
  return code & 128 ? -magnitude : magnitude;
};

/** Random codes; a scale per group that differs from its neighbours', and for nvfp4 one of the whole matrix. */
export function floatModeMatrix(
  type: FloatMode,
  out: number,
  columns: number,
): { weight: WeightInput; values: Float32Array } {
  const group = type === 'nvfp4' ? 16 : 32;
  const bits = type === 'mxfp8' ? 8 : 4;
  const random = normal(`${type} codes`, out * columns, 100).map((x) => Math.round(Math.abs(x)));
  // 127 and 255 of E4M3 are no numbers.
  const codes = Uint8Array.from(random, (x) => (bits === 4 ? x & 15 : (x & 127) === 127 ? 1 : x & 255));
  const groups = Uint8Array.from(
    { length: codes.length / group },
    (_, i) => (type === 'nvfp4' ? 48 : 118) + ((i * 7) % 11),
  );
  const globalScale = type === 'nvfp4' ? 0.375 : 1;
  const scaleOf = (at: number) => (type === 'nvfp4' ? e4m3(at) * globalScale : 2 ** (at - 127));
  const values = Float32Array.from(codes, (code, i) => {
    return (bits === 4 ? e2m1(code) : e4m3(code)) * scaleOf(groups[Math.floor(i / group)] as number);
  });
  const shape = [out, columns];
  if (type === 'gguf_mxfp4') {
    const data = new Uint8Array(groups.length * 17);
    for (const [at, scale] of groups.entries()) {
      data[at * 17] = scale;
      // The first half of a block lies in the low bits, the second half in the high ones.
      for (let i = 0; i < 16; i++)
        data[at * 17 + 1 + i] = (codes[at * 32 + i] as number) | ((codes[at * 32 + 16 + i] as number) << 4);
    }
    return { weight: { type, shape, data }, values };
  }
  const data =
    bits === 8
      ? codes
      : Uint8Array.from(
          { length: codes.length / 2 },
          (_, i) => (codes[2 * i] as number) | ((codes[2 * i + 1] as number) << 4),
        );
  return { weight: { type, shape, data, bits, group, scaleType: 'u8', scales: groups, globalScale }, values };
}
