import sharp from 'sharp';
import { expect, test } from 'vitest';
import { copy, decode, MAX_BYTES, measure, preview } from '../../../app/pictures/decode.ts';

//  What is made of a picture that somebody sends, and what is refused before anything of it is decoded.

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 40, b: 10 } } });

/** A JPEG whose header says another size. */
async function jpegOf(width: number, height: number): Promise<Buffer> {
  const bytes = await plain(16, 16).jpeg().toBuffer();
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

const all = {
  measure,
  decode,
  preview: (bytes: Uint8Array) => preview(bytes, 64),
  copy: (bytes: Uint8Array) => copy(bytes, 64),
};

test.each(Object.entries(all))(
  '%s refuses what is too large, what is no picture, and what draws',
  async (_name, use) => {
    await expect(use(await jpegOf(20_000, 10_001))).rejects.toMatchObject({
      code: 'too-large',
      message: '[pictures] 20000 × 10001 pixels, at most 200000000 are allowed',
    });
    await expect(use(new Uint8Array(MAX_BYTES + 1))).rejects.toMatchObject({
      code: 'too-large',
      message: '[pictures] 67108865 bytes, at most 67108864 are allowed',
    });
    await expect(use(Buffer.from('no picture'))).rejects.toMatchObject({ code: 'unreadable' });
    const drawing = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    );
    await expect(use(drawing)).rejects.toMatchObject({
      code: 'unreadable',
      message: '[pictures] svg, expected one of jpeg, png, webp, gif, tiff, heif',
    });
  },
);

test('as many pixels as may be are measured', async () => {
  expect(await measure(await jpegOf(20_000, 10_000))).toEqual({ width: 20_000, height: 10_000, format: 'jpeg' });
});

test('a preview and a copy fit into their edge, stand upright, and are not enlarged', async () => {
  const turned = await plain(300, 100).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const shapes = async (bytes: Uint8Array) => {
    const { width, height, format, exif } = await sharp(bytes).metadata();
    return [width, height, format, exif === undefined];
  };
  expect(await measure(turned)).toEqual({ width: 100, height: 300, format: 'jpeg' });
  expect(await shapes(await preview(turned, 60))).toEqual([20, 60, 'webp', true]);
  expect(await shapes(await copy(turned, 60))).toEqual([20, 60, 'jpeg', true]);
  expect(await shapes(await preview(turned, 5000))).toEqual([100, 300, 'webp', true]);
  expect(await shapes(await copy(turned, 5000))).toEqual([100, 300, 'jpeg', true]);
});

test('what is transparent is white, and grey is read as three colours', async () => {
  const clear = await sharp({
    create: { width: 2, height: 1, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  expect(await decode(clear)).toMatchObject({ width: 2, height: 1, data: Buffer.alloc(6, 255) });
  const grey = await sharp(Buffer.from([0, 90, 255]), { raw: { width: 3, height: 1, channels: 1 } })
    .png()
    .toBuffer();
  expect([...(await decode(grey)).data]).toEqual([0, 0, 0, 90, 90, 90, 255, 255, 255]);
});
