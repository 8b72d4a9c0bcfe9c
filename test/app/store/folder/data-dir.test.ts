import { expect, test } from 'vitest';
import { defaultDataFolder } from '../../../../app/store/folder/data-dir.ts';

test('a variable names the data folder, also by the name that older versions gave it; the name of today counts first', () => {
  expect(defaultDataFolder('linux', { LONGHAND_DATA_DIR: '/new' })).toBe('/new');
  expect(defaultDataFolder('linux', { LONGHAND_DATA: '/old' })).toBe('/old');
  expect(defaultDataFolder('linux', { LONGHAND_DATA: '/old', LONGHAND_DATA_DIR: '/new' })).toBe('/new');
  expect(defaultDataFolder('linux', { XDG_DATA_HOME: '/data' })).toBe('/data/longhand');
});
