import sharp, { type Metadata, type Sharp } from 'sharp';
import { LonghandError } from '../protocol/errors.ts';
import { demandShape } from './preprocessor.ts';
import type { RgbPicture } from './resample.ts';

//  Decodes untrusted pictures to upright 8-bit RGB on white: rotated according to EXIF, converted to sRGB, first frame of
//  several. By libvips through sharp: prebuilt for every system, streaming, with limits on what it decodes.

/** Formats that are decoded. SVG and PDF are programs that draw, not pictures: refused. */
const FORMATS: ReadonlySet<string> = new Set(['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif']);
export const MAX_BYTES = 64 * 1024 * 1024;
/** Checked in the file header before anything is decoded. */
export const MAX_PIXELS = 200_000_000;
/** The most pixels a Qwen3.5 checkpoint uses: larger pictures are downscaled while decoding, and then are not bit for
 *  bit equal to Pillow's. */
const EXACT_PIXELS = 2 ** 24;

sharp.cache(false);
// One core is enough for one picture; the engine needs the others.
sharp.concurrency(1);

export type Measured = { readonly width: number; readonly height: number; readonly format: string };

/** Upright size and format, from the file header.
 *  @throws LonghandError `unreadable`, `too-large` */
export async function measure(bytes: Uint8Array): Promise<Measured> {
  const { format, width, height, autoOrient } = await headOf(bytes);
  return { format, width: autoOrient?.width ?? width, height: autoOrient?.height ?? height };
}

/** @throws LonghandError `unreadable`, `too-large` */
export async function decode(bytes: Uint8Array): Promise<RgbPicture> {
  const head = await headOf(bytes);
  if (head.space === 'cmyk') return decodeInks(bytes);
  let picture = open(bytes).autoOrient();
  const area = head.width * head.height;
  if (area > EXACT_PIXELS) {
    const { width, height } = head.autoOrient ?? head;
    const scale = Math.sqrt(EXACT_PIXELS / area);
    picture = picture.resize(Math.floor(width * scale) || 1, Math.floor(height * scale) || 1, { fit: 'fill' });
  }
  return rawOf(picture.flatten({ background: 'white' }).toColourspace('srgb').removeAlpha());
}

/** A preview as WebP, at most `edge` pixels a side.
 *  @throws LonghandError `unreadable`, `too-large` */
export async function preview(bytes: Uint8Array, edge: number): Promise<Uint8Array> {
  await headOf(bytes);
  const picture = open(bytes)
    .autoOrient()
    .resize(edge, edge, { fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .webp({ quality: 82 });
  return said(async () => new Uint8Array(await picture.toBuffer()));
}

/** A copy as JPEG, which every program reads, at most `edge` pixels a side and without any metadata.
 *  @throws LonghandError `unreadable`, `too-large` */
export async function copy(bytes: Uint8Array, edge: number): Promise<Uint8Array> {
  await headOf(bytes);
  const picture = open(bytes)
    .autoOrient()
    .resize(edge, edge, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .toColourspace('srgb')
    .jpeg({ quality: 90 });
  return said(async () => new Uint8Array(await picture.toBuffer()));
}

/** CMYK converted like Pillow does, ignoring the colour profile: paper colours do not matter to a model. */
async function decodeInks(bytes: Uint8Array): Promise<RgbPicture> {
  const { data, info } = await said(() =>
    open(bytes)
      .autoOrient()
      .toColourspace('cmyk')
      .pipelineColourspace('cmyk')
      .raw()
      .toBuffer({ resolveWithObject: true }),
  );
  const pixels = info.width * info.height;
  const light = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const rest = 255 - (data[pixel * info.channels + 3] ?? 0);
    for (let ink = 0; ink < 3; ink++) {
      light[pixel * 3 + ink] = Math.max(0, rest - scaled(data[pixel * info.channels + ink] ?? 0, rest));
    }
  }
  return { width: info.width, height: info.height, data: light };
}

/** a * b / 255, rounded as Pillow does. */
function scaled(a: number, b: number): number {
  const product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

const open = (bytes: Uint8Array): Sharp =>
  sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'truncated', pages: 1 });

type Head = Metadata & { readonly format: string; readonly width: number; readonly height: number };

async function headOf(bytes: Uint8Array): Promise<Head> {
  if (bytes.length > MAX_BYTES) {
    throw new LonghandError('too-large', `[pictures] ${bytes.length} bytes, at most ${MAX_BYTES} are allowed`);
  }
  const head = await said(() => sharp(bytes, { limitInputPixels: false, pages: 1 }).metadata());
  const { format, width, height } = head;
  if (format === undefined || !FORMATS.has(format) || !(width > 0) || !(height > 0)) {
    throw new LonghandError(
      'unreadable',
      `[pictures] ${format ?? 'an unknown format'}, expected one of ${[...FORMATS].join(', ')}`,
    );
  }
  if (width * height > MAX_PIXELS) {
    throw new LonghandError('too-large', `[pictures] ${width} × ${height} pixels, at most ${MAX_PIXELS} are allowed`);
  }
  demandShape({ width, height });
  return { ...head, format, width, height };
}

async function rawOf(picture: Sharp): Promise<RgbPicture> {
  const { data, info } = await said(() => picture.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true }));
  if (info.channels === 3) return { width: info.width, height: info.height, data };
  const grey = new Uint8Array(info.width * info.height * 3);
  for (let pixel = 0; pixel < info.width * info.height; pixel++)
    grey.fill(data[pixel * info.channels] ?? 0, pixel * 3, pixel * 3 + 3);
  return { width: info.width, height: info.height, data: grey };
}

async function said<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LonghandError) throw error;
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new LonghandError('unreadable', `[pictures] ${first}`, { cause: error });
  }
}
