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
