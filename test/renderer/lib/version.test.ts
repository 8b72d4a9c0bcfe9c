import { expect, test } from 'vitest';
import { versionOf } from '../../../renderer/lib/version.ts';

test('a build without a known commit has no empty brackets', () => {
  expect(versionOf({ version: '0.1.0', commit: '' })).toBe('0.1.0');
  expect(versionOf({ version: '0.1.0', commit: 'fa65df7' })).toBe('0.1.0 (fa65df7)');
});
