import { z } from 'zod';
import {
  boundsFor,
  type PictureBounds,
  type PictureDetail,
  type PictureSize,
  seenSize,
  seenTokens,
  USUAL_BOUNDS,
} from '../protocol/chat/pictures.ts';
import { LonghandError } from '../protocol/errors.ts';

//  Picture preprocessing of a checkpoint: preprocessor_config.json, and the size given by transformers' `smart_resize`.

export type Preprocessor = {
  /** Sides of a patch in pixels, and of the square of patches that becomes one token. */
  readonly patch: number;
  readonly merge: number;
  /** Frames per temporal patch; a still picture is repeated. */
  readonly frames: number;
  readonly minPixels: number;
  readonly maxPixels: number;
  /** One number per channel, for values from 0 to 1. */
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
};

export type Size = PictureSize;

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
    data.size?.shortest_edge ?? data.min_pixels ?? USUAL_BOUNDS.minPixels,
    data.size?.longest_edge ?? data.max_pixels ?? USUAL_BOUNDS.maxPixels,
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

const boundsOf = ({ patch, merge, minPixels, maxPixels }: Preprocessor): PictureBounds => ({
  unit: patch * merge,
  minPixels,
  maxPixels,
});

/** The same with the pixel limit of a detail setting. */
export function withDetail(preprocessor: Preprocessor, detail: PictureDetail): Preprocessor {
  const { minPixels, maxPixels } = boundsFor(boundsOf(preprocessor), detail);
  return { ...preprocessor, minPixels, maxPixels };
}

/** Maximum aspect ratio. */
export const MAX_RATIO = 200;

/** @throws LonghandError as `demandShape` */
export function sizeFor(preprocessor: Preprocessor, size: Size): Size {
  demandShape(size);
  return seenSize(boundsOf(preprocessor), size);
}

/** @throws LonghandError as `sizeFor` */
export function tokensFor(preprocessor: Preprocessor, size: Size): number {
  demandShape(size);
  return seenTokens(boundsOf(preprocessor), size);
}

/** @throws LonghandError `unreadable` for extreme aspect ratios */
export function demandShape({ width, height }: Size): void {
  const ratio = Math.max(width, height) / Math.min(width, height);
  if (!(ratio <= MAX_RATIO)) {
    throw new LonghandError(
      'unreadable',
      `[pictures] ${width} × ${height} pixels: one side may be at most ${MAX_RATIO} times the other`,
    );
  }
}
