import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { patchesOf } from '../../../app/pictures/patches.ts';
import { createPictureDecoder } from '../../../app/pictures/picture-decoder.ts';
import {
  type Preprocessor,
  preprocessorOf,
  sizeFor,
  tokensFor,
  withDetail,
} from '../../../app/pictures/preprocessor.ts';
import type { RgbPicture } from '../../../app/pictures/resample.ts';
import { golden } from '../../support/addon.ts';
import { readCase, required } from '../../support/models/golden.ts';

//  Pictures as the model gets them, beside what Pillow and the processor of transformers make of the same files.

const decoder = createPictureDecoder({ worker: join(import.meta.dirname, '../../../app/pictures/picture-process.ts') });
afterAll(() => decoder.close());

const json = (...path: string[]) => JSON.parse(readFileSync(join(golden, ...path), 'utf8'));
const upTo = (minPixels: number, maxPixels: number): Preprocessor => ({ ...preprocessorOf({}), minPixels, maxPixels });
const path = (...names: string[]) => ({ path: join(golden, ...names) });

test('a strip of 200 to 1 is read, a longer one is refused with its sides', () => {
  expect(tokensFor(preprocessorOf({}), { width: 20, height: 4000 })).toBeGreaterThan(0);
  expect(() => tokensFor(preprocessorOf({}), { width: 20, height: 4001 })).toThrow('20 × 4001');
});

describe('the size of transformers', () => {
  const { cases } = json('qwen3_5_vision', 'smart_resize.json') as {
    cases: { height: number; width: number; min_pixels: number; max_pixels: number; result_hw: number[] | null }[];
  };
  test.each(cases)('$height × $width within $min_pixels and $max_pixels', (one) => {
    const size = () => sizeFor(upTo(one.min_pixels, one.max_pixels), one);
    if (one.result_hw === null) expect(size).toThrow(/at most 200 times the other/);
    else expect(size()).toEqual({ height: one.result_hw[0], width: one.result_hw[1] });
  });

  test('detail bounds the tokens, and never asks for more than the checkpoint allows', () => {
    const photo = { width: 4032, height: 3024 };
    const tokens = (detail: 'fast' | 'normal' | 'fine', of = preprocessorOf({})) =>
      tokensFor(withDetail(of, detail), photo);
    expect(tokens('fast')).toBeLessThanOrEqual(256);
    expect(tokens('fast')).toBeGreaterThan(200);
    expect(tokens('normal')).toBeLessThanOrEqual(1024);
    expect(tokens('normal')).toBeGreaterThan(900);
    expect(tokensFor(preprocessorOf({}), photo)).toBe(126 * 94); // neither shrunk nor grown; 94.5 rounds to even
    expect(tokens('fine')).toBeLessThanOrEqual(4096);
    expect(tokens('fine')).toBeGreaterThan(3900);
    expect(tokens('fine', upTo(1024, 100_000))).toBeLessThanOrEqual(97);
  });
});

describe('a checkpoint says what it wants', () => {
  test('in the words of either generation of files', () => {
    expect(preprocessorOf({ min_pixels: 3136, max_pixels: 12_845_056, patch_size: 14 })).toMatchObject({
      patch: 14,
      minPixels: 3136,
      maxPixels: 12_845_056,
    });
    expect(preprocessorOf({ size: { shortest_edge: 4096, longest_edge: 8192 } })).toMatchObject({
      minPixels: 4096,
      maxPixels: 8192,
    });
    expect(preprocessorOf(undefined)).toMatchObject({ patch: 16, merge: 2, frames: 2, minPixels: 65_536 });
  });

  test.each([
    [{ patch_size: 0 }, /patch_size/],
    [{ image_mean: [0.5] }, /image_mean/],
    [{ image_std: [1, 1, 0] }, /deviations/],
    [{ min_pixels: 9000, max_pixels: 8000 }, /between 9000 and 8000/],
    [{ size: { longest_edge: 1e12 } }, /size.longest_edge/],
  ])('and is refused where it cannot be meant: %o', (config, told) => {
    expect(() => preprocessorOf(config)).toThrow(told);
  });
});

describe('patches are those of the processor', () => {
  const reference = readCase('qwen3_5_vision/two_images');
  const facts = json('qwen3_5_vision', 'two_images', 'expected.json') as {
    images: Record<string, { grid_thw: number[] }>;
  };
  const folder = ['qwen3_5_vision', 'two_images'];
  const preprocessor = preprocessorOf(json(...folder, 'preprocessor_config.json'));

  test.each(readdirSync(join(golden, ...folder)).filter((name) => name.endsWith('.png')))('%s', async (file) => {
    const name = file.replace('.png', '');
    const { pixels, grid } = patchesOf(await decoder.pixels(path(...folder, file), preprocessor), preprocessor);
    const expected = required(reference, `pixels.${name}`);
    expect(grid).toEqual(facts.images[name]?.grid_thw);
    expect(pixels.length).toBe(expected.length);
    // Values lie 2 / 255 apart.
    const levels = pixels.map((value, at) => Math.abs(value - (expected[at] ?? Number.NaN)) * 127.5);
    expect(levels.reduce((worst, one) => Math.max(worst, one), 0)).toBeLessThan(1.01);
    // Where something shines through, libvips rounds the white behind it otherwise.
    if (!name.startsWith('d_')) expect(levels.filter((one) => one > 0.01).length / levels.length).toBeLessThan(0.01);
  });
});

describe('formats', () => {
  const facts = json('pictures', 'expected.json') as {
    minPixels: number;
    maxPixels: number;
    cases: Record<string, { size: [number, number]; resized: [number, number] }>;
  };
  const preprocessor = upTo(facts.minPixels, facts.maxPixels);

  /** Differences of the bytes. */
  const between = (came: RgbPicture, expected: RgbPicture) => {
    expect([came.width, came.height]).toEqual([expected.width, expected.height]);
    const sizes = came.data.map((byte, at) => Math.abs(byte - (expected.data[at] ?? 0)));
    const within = (most: number) => sizes.filter((one) => one <= most).length / sizes.length;
    return { mean: sizes.reduce((sum, one) => sum + one, 0) / sizes.length, within, equal: within(0) };
  };

  const inexact: string[] = [];
  afterAll(() => expect(inexact.length, inexact.join(' ')).toBeLessThanOrEqual(4));

  test.each(Object.entries(facts.cases))('%s', async (name, { size, resized }) => {
    const [width, height] = size;
    expect(await decoder.measure(path('pictures', name))).toMatchObject({ width, height });
    const came = await decoder.pixels(path('pictures', name), preprocessor);
    expect([came.width, came.height]).toEqual(resized);
    // Already in its size, so that it is decoded as it is.
    const expected = await decoder.pixels(path('pictures', `${name}.expected.png`), upTo(1, 2 ** 20));
    const { mean, within, equal } = between(came, expected);
    if (equal < 1) inexact.push(`${name} ${mean.toFixed(3)}`);
    expect(mean).toBeLessThanOrEqual(1);
    expect(within(3)).toBeGreaterThanOrEqual(0.999);
  });

  test('a preview is WebP, upright, and no larger than asked', async () => {
    const bytes = await decoder.preview(path('pictures', 'exif_6.jpg'), 40);
    expect(Buffer.from(bytes.subarray(8, 12)).toString()).toBe('WEBP');
    const { width, height } = await decoder.measure({ bytes });
    expect([width, height]).toEqual([27, 40]);
  });
});
