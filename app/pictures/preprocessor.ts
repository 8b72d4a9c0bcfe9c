import { z } from 'zod';
import type { PictureDetail } from '../protocol/chat/pictures.ts';
import { LonghandError } from '../protocol/errors.ts';

//  What a checkpoint asks of a picture: preprocessor_config.json, and the size that transformers' `smart_resize` gives.

export type Preprocessor = {
  /** Sides of a patch in pixels, and of the square of patches that becomes one token. */
  readonly patch: number;
  readonly merge: number;
  /** A still picture is seen as so many equal frames. */
  readonly frames: number;
  readonly minPixels: number;
  readonly maxPixels: number;
  /** A channel a number, of values from 0 to 1. */
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
};

export type Size = { readonly width: number; readonly height: number };

const side = z.number().int().min(1).max(256);
const pixels = z
  .number()
  .int()
  .min(1)
  .max(2 ** 28);
const channels = z.array(z.number()).length(3);
const Config = z.object({
  patch_size: side.default(16),
  merge_size: side.default(2),
  temporal_patch_size: side.default(2),
  size: z.object({ shortest_edge: pixels.optional(), longest_edge: pixels.optional() }).nullish(),
  min_pixels: pixels.nullish(),
  max_pixels: pixels.nullish(),
  image_mean: channels.default([0.5, 0.5, 0.5]),
  image_std: channels.default([0.5, 0.5, 0.5]),
});

/** Those of the published checkpoints of Qwen3.5, for files that do not say. */
const MIN_PIXELS = 65_536;
const MAX_PIXELS = 16_777_216;

/** @throws LonghandError `model-broken` */
export function preprocessorOf(config: unknown): Preprocessor {
  const parsed = Config.safeParse(config ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new LonghandError(
      'model-broken',
      `[preprocessor_config.json] ${issue?.path.join('.') || 'top level'}: ${issue?.message ?? ''}`,
    );
  }
  const { data } = parsed;
  const [minPixels, maxPixels] = [
    data.size?.shortest_edge ?? data.min_pixels ?? MIN_PIXELS,
    data.size?.longest_edge ?? data.max_pixels ?? MAX_PIXELS,
  ];
  if (minPixels > maxPixels || data.image_std.some((value) => value <= 0)) {
    throw new LonghandError(
      'model-broken',
      `[preprocessor_config.json] between ${minPixels} and ${maxPixels} pixels, deviations ${data.image_std}: expected a range and positive numbers`,
    );
  }
  return {
    patch: data.patch_size,
    merge: data.merge_size,
    frames: data.temporal_patch_size,
    minPixels,
    maxPixels,
    mean: data.image_mean,
    deviation: data.image_std,
  };
}

/** Tokens a picture may take at the most. */
const TOKENS: Readonly<Record<PictureDetail, number>> = { fast: 256, normal: 1024, fine: 4096 };

/** The same, looking only so closely. */
export function withDetail(preprocessor: Preprocessor, detail: PictureDetail): Preprocessor {
  const maxPixels = Math.min(preprocessor.maxPixels, TOKENS[detail] * (preprocessor.patch * preprocessor.merge) ** 2);
  return { ...preprocessor, maxPixels, minPixels: Math.min(preprocessor.minPixels, maxPixels) };
}

/** One side may be so many times the other. */
export const MAX_RATIO = 200;

/** transformers' `smart_resize`: both sides become multiples of a token's, as near as the allowed area lets them.
 *  @throws LonghandError as `demandShape` */
export function sizeFor(preprocessor: Preprocessor, { width, height }: Size): Size {
  demandShape({ width, height });
  const unit = preprocessor.patch * preprocessor.merge;
  const { minPixels: least, maxPixels: most } = preprocessor;
  // A side of less than half a token has none at first, and so grows by area.
  const [tall, wide] = [toEven(height / unit) * unit, toEven(width / unit) * unit];
  if (tall * wide > most) {
    const shrink = Math.sqrt((height * width) / most);
    const scaled = (length: number) => Math.max(unit, Math.floor(length / shrink / unit) * unit);
    return { width: scaled(width), height: scaled(height) };
  }
  if (tall * wide < least) {
    const grow = Math.sqrt(least / (height * width));
    const scaled = (length: number) => Math.ceil((length * grow) / unit) * unit;
    return { width: scaled(width), height: scaled(height) };
  }
  return { width: wide, height: tall };
}

/** @throws LonghandError as `sizeFor` */
export function tokensFor(preprocessor: Preprocessor, size: Size): number {
  const { width, height } = sizeFor(preprocessor, size);
  return (width * height) / (preprocessor.patch * preprocessor.merge) ** 2;
}

/** Halves to the even neighbour, as Python rounds. */
function toEven(value: number): number {
  const floor = Math.floor(value);
  const over = value - floor;
  return over > 0.5 || (over === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** @throws LonghandError `unreadable` for a strip that no model reads */
export function demandShape({ width, height }: Size): void {
  const ratio = Math.max(width, height) / Math.min(width, height);
  if (!(ratio <= MAX_RATIO)) {
    throw new LonghandError(
      'unreadable',
      `[pictures] ${width} × ${height} pixels: one side may be at most ${MAX_RATIO} times the other`,
    );
  }
}
