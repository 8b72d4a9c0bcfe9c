import { z } from 'zod';

/** Resolution for the model: at most 256, 1,024 or 4,096 tokens per picture. */
export const PictureDetail = z.enum(['fast', 'normal', 'fine']);
export type PictureDetail = z.infer<typeof PictureDetail>;

/** Maximum tokens per picture. */
export const PICTURE_TOKENS: Readonly<Record<PictureDetail, number>> = { fast: 256, normal: 1024, fine: 4096 };

export type PictureSize = { readonly width: number; readonly height: number };
/** The side of a token in pixels, and the limits on the pixels of a picture. */
export type PictureBounds = { readonly unit: number; readonly minPixels: number; readonly maxPixels: number };

/** Those of the published checkpoints of Qwen3.5. */
export const USUAL_BOUNDS: PictureBounds = { unit: 32, minPixels: 65_536, maxPixels: 16_777_216 };

/** The same with the limit of a detail setting. */
export function boundsFor<Bounds extends PictureBounds>(bounds: Bounds, detail: PictureDetail): Bounds {
  const maxPixels = Math.min(bounds.maxPixels, PICTURE_TOKENS[detail] * bounds.unit ** 2);
  return { ...bounds, maxPixels, minPixels: Math.min(bounds.minPixels, maxPixels) };
}

/** transformers' `smart_resize`: rounds both sides to multiples of a token's, within the allowed area. */
export function seenSize({ unit, minPixels, maxPixels }: PictureBounds, { width, height }: PictureSize): PictureSize {
  // A side of less than half a token rounds to zero, and is then enlarged to the minimum area.
  const [tall, wide] = [toEven(height / unit) * unit, toEven(width / unit) * unit];
  if (tall * wide > maxPixels) {
    const shrink = Math.sqrt((height * width) / maxPixels);
    const scaled = (length: number) => Math.max(unit, Math.floor(length / shrink / unit) * unit);
    return { width: scaled(width), height: scaled(height) };
  }
  if (tall * wide < minPixels) {
    const grow = Math.sqrt(minPixels / (height * width));
    const scaled = (length: number) => Math.ceil((length * grow) / unit) * unit;
    return { width: scaled(width), height: scaled(height) };
  }
  return { width: wide, height: tall };
}

export function seenTokens(bounds: PictureBounds, size: PictureSize): number {
  const { width, height } = seenSize(bounds, size);
  return (width * height) / bounds.unit ** 2;
}

/** Rounds half to even, like Python. */
function toEven(value: number): number {
  const floor = Math.floor(value);
  const over = value - floor;
  return over > 0.5 || (over === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
