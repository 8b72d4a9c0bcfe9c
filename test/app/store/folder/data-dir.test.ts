import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultDataFolder } from '../../../../app/store/folder/data-dir.ts';

test('a variable names the data folder, also by the name that older versions gave it; the name of today counts first', () => {
  expect(defaultDataFolder('linux', { LONGHAND_DATA_DIR: '/new' })).toBe('/new');
  expect(defaultDataFolder('linux', { LONGHAND_DATA: '/old' })).toBe('/old');
  expect(defaultDataFolder('linux', { LONGHAND_DATA: '/old', LONGHAND_DATA_DIR: '/new' })).toBe('/new');
  expect(defaultDataFolder('linux', { XDG_DATA_HOME: '/data' })).toBe('/data/longhand');
});

test('where nothing is chosen it stands where programs of the system keep their data', () => {
  const home = (...names: string[]) => join(homedir(), ...names);
  expect(defaultDataFolder('linux', {})).toBe(home('.local', 'share', 'longhand'));
  expect(defaultDataFolder('darwin', {})).toBe(home('Library', 'Application Support', 'Longhand'));
  expect(defaultDataFolder('win32', { APPDATA: '/roaming' })).toBe('/roaming/Longhand');
  expect(defaultDataFolder('win32', {})).toBe(home('AppData', 'Roaming', 'Longhand'));
});
