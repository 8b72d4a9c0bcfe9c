import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isHeic, SIPS, tiffOfHeic } from '../../../app/pictures/heic.ts';
import { createPictureDecoder } from '../../../app/pictures/picture-decoder.ts';
import { preprocessorOf } from '../../../app/pictures/preprocessor.ts';
import { newFolder } from '../../support/core/core.ts';

//  photo.heic: 64 × 48 points written by libheif and x265, to be turned by a quarter, as a phone writes it; red rises
//  along one side and green along the other. On a Mac its own decoder is asked, elsewhere a program that gives the same picture.

const photo = join(import.meta.dirname, 'photo.heic');
const worker = join(import.meta.dirname, '../../../app/pictures/picture-process.ts');

function decoderWith(sips: string) {
  const decoder = createPictureDecoder({ worker, sips });
  onTestFinished(() => decoder.close());
  return decoder;
}

function program(text: string): string {
  const path = join(newFolder(), 'sips');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** What Pillow makes of photo.heic, upright. */
async function upright(): Promise<string> {
  const [width, height] = [48, 64];
  const points = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) points.set([y * 4, (47 - x) * 5, y < 32 ? 128 : 20], (y * width + x) * 3);
  }
  const path = join(newFolder(), 'upright.tiff');
  writeFileSync(
    path,
    await sharp(points, { raw: { width, height, channels: 3 } })
      .tiff()
      .toBuffer(),
  );
  return path;
}

const sipsHere = async () => (existsSync(SIPS) ? SIPS : program(`[ "$3" = tiff ] && cp '${await upright()}' "$6"`));
/** Its own place for temporary files; tells what lies there. */
function temporary(): () => string[] {
  const folder = newFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => readdirSync(folder);
}

test('the photo of a phone is read with what the system decodes it with, upright, and leaves nothing behind', async () => {
  const sips = await sipsHere();
  const left = temporary();
  const decoder = decoderWith(sips);
  expect(await decoder.measure({ path: photo })).toEqual({ width: 48, height: 64, format: 'heif' });
  const shown = await sharp(await decoder.preview({ path: photo }, 64))
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect([shown.info.width, shown.info.height]).toEqual([48, 64]);
  const pixels = await decoder.pixels({ bytes: readFileSync(photo) }, preprocessorOf({}));
  const point = (x: number, y: number) => [
    ...pixels.data.subarray((y * pixels.width + x) * 3, (y * pixels.width + x) * 3 + 3),
  ];
  const [red = 0, green = 0] = point(pixels.width - 8, 8);
  const [later = 0, less = 0] = point(8, pixels.height - 8);
  expect(later).toBeGreaterThan(red + 100);
  expect(less).toBeGreaterThan(green + 100);
  expect(left()).toEqual([]);
});

test('where nothing decodes it, that is said when it is attached, not when it is looked at', async () => {
  const decoder = decoderWith('/nowhere/sips');
  const refused = { code: 'unreadable', details: { reason: 'heic' } };
  await expect(decoder.measure({ path: photo })).rejects.toMatchObject(refused);
  await expect(decoder.preview({ path: photo }, 64)).rejects.toMatchObject(refused);
});

test.each([
  ['fails', 'exit 1'],
  ['writes nothing', 'exit 0'],
  ['writes something else', 'echo no picture > "$6"'],
])('a converter that %s costs this picture alone', async (_, text) => {
  const sips = program(text);
  const left = temporary();
  const decoder = decoderWith(sips);
  await expect(decoder.preview({ path: photo }, 64)).rejects.toMatchObject({ code: 'unreadable' });
  const png = await sharp({ create: { width: 9, height: 5, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  expect(await decoder.measure({ bytes: png })).toMatchObject({ width: 9, height: 5 });
  expect(left()).toEqual([]);
});

test('an AVIF is none, nor is what ends within its first box', () => {
  const box = (...brands: string[]) =>
    Buffer.concat([Buffer.from([0, 0, 0, 8 + 4 * brands.length]), Buffer.from(`ftyp${brands.join('')}`)]);
  expect(isHeic(readFileSync(photo))).toBe(true);
  expect(isHeic(box('mif1', '\0\0\0\0', 'miaf', 'heic'))).toBe(true);
  expect(isHeic(box('mif1', '\0\0\0\0', 'heix', 'miaf'))).toBe(true);
  expect(isHeic(box('avif', '\0\0\0\0', 'mif1', 'miaf'))).toBe(false);
  expect(isHeic(Buffer.concat([box('mif1', '\0\0\0\0'), Buffer.from('heic')]))).toBe(false);
  expect(isHeic(Buffer.from('....ftyp'))).toBe(false);
  expect(isHeic(Buffer.alloc(0))).toBe(false);
});

test('of a panorama too the system makes a smaller one', async () => {
  // Its picture is what it was asked for.
  const sips = program('printf "%s" "$*" > "$8"');
  const made = (width: number, height: number) =>
    tiffOfHeic(readFileSync(photo), { width, height, format: 'heif' }, sips).then(String);
  expect(await made(16_382, 3628)).toContain(' -Z 4096 ');
  expect(await made(3628, 16_382)).toContain(' -Z 4096 ');
});
