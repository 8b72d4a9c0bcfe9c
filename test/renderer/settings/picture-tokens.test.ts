import { expect, test } from 'vitest';
import { tokensBySize } from '../../../renderer/settings/picture-tokens.tsx';

test('what pictures take grows with their size, up to what the detail allows', () => {
  const tokens = (detail: 'fast' | 'normal' | 'fine') => tokensBySize(detail).map((row) => row.tokens);
  // 20 x 15, 32 x 24, and 60 x 34 of 32 x 32 pixels, the last one shrunk to 4,096 tokens.
  expect(tokens('fine')).toEqual([300, 768, 2040, 4015]);
  expect(tokens('normal')).toEqual([300, 768, 1008, 972]);
  expect(tokens('fast')).toEqual([234, 234, 252, 234]);
});
