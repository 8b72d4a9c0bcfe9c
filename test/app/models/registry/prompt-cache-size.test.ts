import { expect, test } from 'vitest';
import { cacheBytesOf } from '../../../../app/models/registry/prompt-cache-size.ts';

const GB = 2 ** 30;

test('without a wish an eighth of the memory, at most 8 GB; a wish as it is, 0 too', () => {
  expect(cacheBytesOf({ promptCacheMB: null }, 16 * GB)).toBe(2 * GB);
  expect(cacheBytesOf({ promptCacheMB: null }, 256 * GB)).toBe(8 * GB);
  expect(cacheBytesOf({ promptCacheMB: 64 }, 16 * GB)).toBe(64 * 2 ** 20);
  expect(cacheBytesOf({ promptCacheMB: 0 }, 16 * GB)).toBe(0);
});
