// How large a picture says it is decides whether it is read, before anything is unpacked.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { readImage } from '../../../../../app/documents/parse/formats/image.ts';
import { newFolder } from '../../../../support/core/core.ts';

const [WIDTH, HEIGHT] = [12_000, 10_001];
const small = (alpha = false) =>
  sharp({
    create: { width: 40, height: 30, channels: alpha ? 4 : 3, background: { r: 9, g: 80, b: 200, alpha: 0.5 } },
  });

/** Of a real picture, with another size in its header. */
const pictures: Record<string, () => Promise<Buffer>> = {
  async png() {
    const bytes = await small().png().toBuffer();
    bytes.writeUInt32BE(WIDTH, 16);
    bytes.writeUInt32BE(HEIGHT, 20);
    return bytes;
  },
  async jpeg() {
    const bytes = await small()
      .withExif({ IFD0: { Make: 'Acme' } })
      .jpeg()
      .toBuffer();
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
    bytes.writeUInt16BE(HEIGHT, frame + 5);
    bytes.writeUInt16BE(WIDTH, frame + 7);
    return bytes;
  },
  async 'jpeg, progressive'() {
    const bytes = await small().jpeg({ progressive: true }).toBuffer();
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc2]));
    bytes.writeUInt16BE(HEIGHT, frame + 5);
    bytes.writeUInt16BE(WIDTH, frame + 7);
    return bytes;
  },
  async 'webp, lossy'() {
    const bytes = await small().webp().toBuffer();
    bytes.writeUInt16LE(WIDTH, 26);
    bytes.writeUInt16LE(HEIGHT, 28);
    return bytes;
  },
  async 'webp, lossless'() {
    const bytes = await small().webp({ lossless: true }).toBuffer();
    bytes.writeUInt32LE((WIDTH - 1) | ((HEIGHT - 1) << 14), 21);
    return bytes;
  },
  async 'webp, extended'() {
    const bytes = await small(true).webp({ quality: 50 }).toBuffer();
    bytes.writeUIntLE(WIDTH - 1, 24, 3);
    bytes.writeUIntLE(HEIGHT - 1, 27, 3);
    return bytes;
  },
  async bmp() {
    const bytes = Buffer.alloc(54 + 3 * 4);
    bytes.write('BM', 0, 'latin1');
    bytes.writeUInt32LE(40, 14);
    bytes.writeInt32LE(WIDTH, 18);
    bytes.writeInt32LE(-HEIGHT, 22); // from the top row down
    return bytes;
  },
  ppm: async () => Buffer.from(`P6 # by hand\n${WIDTH} # columns\n${HEIGHT}\n255\n...`),
};

test.each(Object.keys(pictures))('%s: a size of more than 120 megapixels is refused and named', async (name) => {
  const path = join(newFolder(), 'picture');
  const bytes = (await pictures[name]?.()) as Buffer;
  writeFileSync(path, bytes);
  const source = { path, fileName: 'plan.picture', bytes: bytes.length, password: null, ocr: true };
  await expect(readImage(source, null as never, null as never)).rejects.toMatchObject({
    code: 'too-large',
    message: `[documents] the picture plan.picture has ${WIDTH} × ${HEIGHT} pixels, too many to be read`,
  });
});

test('a file of more than 128 MiB is refused unread', async () => {
  const source = { path: '/nowhere', fileName: 'a.png', bytes: 2 ** 27 + 1, password: null, ocr: true };
  await expect(readImage(source, null as never, null as never)).rejects.toMatchObject({
    code: 'too-large',
    message: expect.stringContaining('134217729 bytes'),
  });
  // One byte less would be read.
  await expect(readImage({ ...source, bytes: 2 ** 27 }, null as never, null as never)).rejects.toThrow('ENOENT');
});
