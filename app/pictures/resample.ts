//  Bicubic resampling bit for bit as Pillow does it (libImaging/Resample.c), which the processors of the checkpoints use: a
//  kernel of a = -0.5 that widens when the picture shrinks, weights in 22 bits of fixed point, rows first, each pass rounded
//  to bytes.

export type RgbPicture = { readonly width: number; readonly height: number; readonly data: Uint8Array };

const PRECISION = 22;
const HALF = 1 << (PRECISION - 1);
const SUPPORT = 2;

/** Where each output pixel takes its input from, and with which weights. */
type Taps = {
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly weights: Int32Array;
  readonly width: number;
};

export function resample(from: RgbPicture, width: number, height: number): RgbPicture {
  const wide = width === from.width ? from : columnsOf(from, tapsFor(from.width, width), width);
  return height === wide.height ? wide : rowsOf(wide, tapsFor(wide.height, height), height);
}

function columnsOf({ width: from, height, data }: RgbPicture, taps: Taps, width: number): RgbPicture {
  const out = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const row = y * from * 3;
    for (let x = 0; x < width; x++) sum(data, row + at(taps.first, x) * 3, 3, taps, x, out, (y * width + x) * 3);
  }
  return { width, height, data: out };
}

function rowsOf({ width, data }: RgbPicture, taps: Taps, height: number): RgbPicture {
  const out = new Uint8Array(width * height * 3);
  const stride = width * 3;
  for (let y = 0; y < height; y++) {
    const top = at(taps.first, y) * stride;
    for (let x = 0; x < width; x++) sum(data, top + x * 3, stride, taps, y, out, y * stride + x * 3);
  }
  return { width, height, data: out };
}

/** One pixel; its taps are `stride` bytes apart, beginning at `start`. */
function sum(data: Uint8Array, start: number, stride: number, taps: Taps, of: number, out: Uint8Array, to: number) {
  let [red, green, blue] = [HALF, HALF, HALF];
  const { weights, width } = taps;
  const count = at(taps.count, of);
  for (let tap = 0, pixel = start; tap < count; tap++, pixel += stride) {
    const weight = at(weights, of * width + tap);
    red += at(data, pixel) * weight;
    green += at(data, pixel + 1) * weight;
    blue += at(data, pixel + 2) * weight;
  }
  out[to] = clipped(red >> PRECISION);
  out[to + 1] = clipped(green >> PRECISION);
  out[to + 2] = clipped(blue >> PRECISION);
}

const at = (values: { readonly [index: number]: number }, index: number): number => values[index] as number;
const clipped = (value: number): number => Math.min(255, Math.max(0, value));

function tapsFor(from: number, to: number): Taps {
  const scale = from / to;
  const stretch = Math.max(1, scale);
  const support = SUPPORT * stretch;
  const width = Math.ceil(support) * 2 + 1;
  const taps: Taps = {
    first: new Int32Array(to),
    count: new Int32Array(to),
    weights: new Int32Array(to * width),
    width,
  };
  const kernel = new Float64Array(width);
  for (let out = 0; out < to; out++) {
    const center = (out + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(from, Math.trunc(center + support + 0.5)) - first;
    let total = 0;
    for (let tap = 0; tap < count; tap++) {
      const weight = cubic((tap + first - center + 0.5) / stretch);
      kernel[tap] = weight;
      total += weight;
    }
    taps.first[out] = first;
    taps.count[out] = count;
    for (let tap = 0; tap < count; tap++) {
      const weight = (at(kernel, tap) / (total === 0 ? 1 : total)) * 2 ** PRECISION;
      taps.weights[out * width + tap] = Math.trunc(weight + (weight < 0 ? -0.5 : 0.5));
    }
  }
  return taps;
}

/** Keys' kernel with a = -0.5. */
function cubic(signed: number): number {
  const x = Math.abs(signed);
  const a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}
