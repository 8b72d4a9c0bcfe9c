// How large a model sees a picture, where the arithmetic of transformers' processors decides.
import { expect, test } from 'vitest';
import { boundsFor, seenSize, seenTokens, USUAL_BOUNDS } from '../../../../app/protocol/chat/pictures.ts';

test('half a token goes to the even side, as Python rounds', () => {
  const bounds = { ...USUAL_BOUNDS, minPixels: 0 };
  expect(seenSize(bounds, { width: 80, height: 800 })).toEqual({ width: 64, height: 800 });
  expect(seenSize(bounds, { width: 112, height: 800 })).toEqual({ width: 128, height: 800 });
});

test('a closer look makes a large picture larger, and a small one no larger than the model asks for', () => {
  const [small, large] = [
    { width: 256, height: 256 },
    { width: 4000, height: 3000 },
  ];
  const tokens = (detail: 'fast' | 'normal' | 'fine', size: { width: number; height: number }) =>
    seenTokens(boundsFor(USUAL_BOUNDS, detail), size);
  expect([tokens('fast', small), tokens('fine', small)]).toEqual([64, 64]);
  expect(tokens('fast', large)).toBeLessThanOrEqual(256);
  expect(tokens('fine', large)).toBeGreaterThan(2048);
  // A model that wants more than the detail allows is shown what the detail allows.
  expect(boundsFor({ unit: 8, minPixels: 65_536, maxPixels: 1_000_000 }, 'fast')).toEqual({
    ...{ unit: 8, minPixels: 16_384, maxPixels: 16_384 },
  });
});
