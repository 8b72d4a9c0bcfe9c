import { randomFillSync } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, expect, test, vi } from 'vitest';
import { createPictureDecoder, type PictureSource } from '../../../app/pictures/picture-decoder.ts';
import { preprocessorOf, withDetail } from '../../../app/pictures/preprocessor.ts';
import { golden } from '../../support/addon.ts';
import { newFolder } from '../../support/core/core.ts';
import { soaking } from '../../support/soak.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Hostile pictures: a message each, in bounded time and memory, and the next one is decoded.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('pictures');
const decoder = createPictureDecoder({ worker: join(import.meta.dirname, '../../../app/pictures/picture-process.ts') });
afterAll(() => decoder.close());

/** Memory limit for hostile pictures; a valid one of 48 million pixels gets more. */
const HOSTILE_MB = 300;
const LIMIT_MB = 400;
/** Growth between two checks of the process. */
const LATE_MB = 60;
const preprocessor = preprocessorOf({});
const photo = readFileSync(join(golden, 'pictures', 'jpeg_420.jpg'));
const png = readFileSync(join(golden, 'pictures', 'rgb.png'));

const chunk = (kind: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};
function pngOf(width: number, height: number, pixels: Buffer, ...more: Buffer[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([magic, chunk('IHDR', head), ...more, chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}
const zeros = (bytes: number) => deflateSync(Buffer.alloc(bytes), { level: 9 });
const patched = (from: Buffer, at: number, ...bytes: number[]) => {
  const to = Buffer.from(from);
  to.set(bytes, at);
  return to;
};
const svg = (body: string) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${body}</svg>`);

const HOSTILE: Record<string, Buffer | (() => Promise<Buffer>)> = {
  nothing: Buffer.alloc(0),
  'one byte': Buffer.from([0xff]),
  zeros: Buffer.alloc(4096),
  noise: randomFillSync(Buffer.alloc(65_536)),
  'text under the name of a picture': Buffer.from('Dear Sir or Madam,\n'),
  'half a JPEG': photo.subarray(0, photo.length / 2),
  'the head of a JPEG': photo.subarray(0, 200),
  'half a PNG': png.subarray(0, png.length / 2),
  'a PNG without pixels': pngOf(40, 40, zeros(0)),
  'a PNG with fewer rows than it says': pngOf(400, 400, zeros(1201 * 10)),
  '50,000 x 50,000 in 2 KB': pngOf(50_000, 50_000, zeros(1_500_000)),
  '2^31 - 1 wide': pngOf(2 ** 31 - 1, 1, zeros(100)),
  'no width': pngOf(0, 10, zeros(100)),
  'a strip of 60,000 x 1': pngOf(60_000, 1, zeros(180_001)),
  'a JPEG that says 65,500 x 65,500': patched(
    photo,
    photo.indexOf(Buffer.from([0xff, 0xc0])) + 5,
    0xff,
    0xdc,
    0xff,
    0xdc,
  ),
  'a GIF that says 65,535 x 65,535': Buffer.concat([
    Buffer.from('GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff', 'latin1'),
    Buffer.from([0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 2, 0x4c, 1, 0, 0x3b]),
  ]),
  'SVG that draws': svg('<rect width="9" height="9"/>'),
  'SVG that fetches': svg('<image href="http://127.0.0.1:9/pixel.png" width="9" height="9"/>'),
  'SVG that reads a file': Buffer.from(
    '<!DOCTYPE s [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&e;</text></svg>',
  ),
  'SVG of a billion laughs': Buffer.from(
    `<!DOCTYPE s [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, i) => `<!ENTITY ${'bcdefghij'[i]} "${`&${'abcdefghi'[i]};`.repeat(10)}">`).join('')}]><svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text></svg>`,
  ),
  'SVG, compressed': gzipSync(svg('<rect width="9" height="9"/>')),
  'SVG behind a blank line': Buffer.concat([Buffer.from('\n\n<?xml version="1.0"?>\n'), svg('<script>1</script>')]),
  PDF: Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n'),
  PostScript: Buffer.from('%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) (r) file\nshowpage\n'),
  'a program for ImageMagick': Buffer.from('push graphic-context\nimage over 0,0 0,0 "|id"\npop graphic-context\n'),
  'an archive': Buffer.from('PK\x03\x04 and so on', 'latin1'),
  PPM: Buffer.from('P6 2 2 255 aaaaaaaaaaaa'),
  'a PPM of a terabyte': Buffer.from('P6 1000000 1000000 255 aaaaaaaaaaaa'),
  'a TIFF that points into itself': Buffer.from('II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00', 'latin1'),
  'an animation of 100,000 x 100,000 in WebP': Buffer.from(
    'RIFF\x1e\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x9f\x86\x01\x9f\x86\x01ANIM\x00\x00\x00\x00',
    'latin1',
  ),
};

const sourceOf = async (made: Buffer | (() => Promise<Buffer>)): Promise<PictureSource> => ({
  bytes: typeof made === 'function' ? await made() : made,
});

test('each is refused in a sentence, within its memory, and without a stall', async () => {
  await decoder.pixels({ bytes: png }, withDetail(preprocessor, 'fast'));
  for (const [what, made] of Object.entries(HOSTILE)) {
    await tally.refused(what, async () => {
      const source = await sourceOf(made);
      const seen = observe();
      for (const look of [
        () => decoder.pixels(source, withDetail(preprocessor, 'fine')),
        () => decoder.preview(source, 512),
      ]) {
        const error = await look().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(error).toMatchObject({ code: expect.stringMatching(/^(unreadable|too-large)$/) });
      }
      const { grown, reader, stall } = seen();
      expect(reader / 2 ** 20, 'MB of the process that decodes').toBeLessThan(HOSTILE_MB);
      expect(grown / 2 ** 20, 'MB of the process that asked').toBeLessThan(100);
      expect(stall, 'ms').toBeLessThan(100);
    });
  }
  tally.settle();
});

test('what is large and honest is read within the same memory', async () => {
  const plain = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#389' } });
  const large: Record<string, () => Promise<Buffer>> = {
    'a PNG of 180 million pixels in 600 KB': () => plain(18_000, 10_000).png({ compressionLevel: 9 }).toBuffer(),
    'a JPEG of 48 million pixels': () => plain(8000, 6000).jpeg().toBuffer(),
    'a picture with a comment of 3 MB': async () =>
      pngOf(64, 64, zeros(64 * 193), chunk('tEXt', Buffer.concat([Buffer.from('a\0'), Buffer.alloc(3 << 20, 0x61)]))),
    'a picture with a web page behind it': async () =>
      Buffer.concat([png, Buffer.from('<script>fetch("http://127.0.0.1:9")</script>')]),
  };
  for (const [what, make] of Object.entries(large)) {
    await tally.refused(what, async () => {
      const source = { bytes: await make() };
      const seen = observe();
      const { width, height } = await decoder.pixels(source, withDetail(preprocessor, 'normal'));
      expect(width * height).toBeLessThanOrEqual(1024 * 32 * 32);
      expect(seen().reader / 2 ** 20).toBeLessThan(LIMIT_MB + LATE_MB);
    });
  }
  tally.settle();
});

test('files that are none, and changed bytes', async () => {
  const folder = newFolder();
  const at = (name: string) => join(folder, name);
  mkdirSync(at('folder.png'));
  symlinkSync('/dev/zero', at('zero.png'));
  symlinkSync(at('nowhere'), at('dangling.png'));
  writeFileSync(at('empty.png'), '');
  for (const name of ['folder.png', 'zero.png', 'dangling.png', 'empty.png', 'missing.png']) {
    await tally.refused(name, async () => {
      await expect(decoder.measure({ path: at(name) })).rejects.toMatchObject({
        code: expect.stringMatching(/^(unreadable|not-found)$/),
      });
    });
  }
  const rounds = soaking ? 3000 : 60;
  for (const from of ['cmyk.jpg', 'animated.gif', 'alpha.webp', 'lzw.tiff', 'photo.avif', 'sixteen_bits.png']) {
    const bytes = readFileSync(join(golden, 'pictures', from));
    for (let round = 0; round < rounds / 6; round++) {
      const broken = Buffer.from(bytes);
      for (let i = 0; i <= round % 8; i++) broken[Math.floor(Math.random() * broken.length)] = Math.random() * 256;
      await tally.refused(`${from}, changed: ${broken.toString('base64').slice(0, 40)}`, async () => {
        const error = await decoder.pixels({ bytes: broken }, withDetail(preprocessor, 'fast')).then(
          () => null,
          (thrown: unknown) => thrown,
        );
        if (error !== null) expect(error).toMatchObject({ code: expect.stringMatching(/^(unreadable|too-large)$/) });
      });
    }
  }
  // The next one is decoded normally.
  expect(await decoder.measure({ bytes: png })).toMatchObject({ width: 300, height: 200 });
  tally.settle();
});
