import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const require = createRequire(createRequire(import.meta.filename).resolve('electron-builder/package.json'));

test('electron-builder accepts the build section', async () => {
  const { validateConfiguration } = require('app-builder-lib/out/util/config/config.js');
  const { DebugLogger } = require('builder-util');
  await expect(validateConfiguration(manifest.build, new DebugLogger(false))).resolves.toBeUndefined();
  await expect(validateConfiguration({ ...manifest.build, colour: 'red' }, new DebugLogger(false))).rejects.toThrow(
    'colour',
  );
});

test('the targets and the fuses that were promised', () => {
  expect(manifest.build.mac.target).toEqual(['dmg', 'zip']);
  expect(manifest.build.linux.target).toEqual(['AppImage', 'deb']);
  expect(manifest.build.electronFuses).toMatchObject({
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    grantFileProtocolExtraPrivileges: false,
  });
});

test('on Linux the app has one name for its entry, its windows and the portal that gives it keys', () => {
  // What is no reverse name of a domain gets no keys from some desktops, and no progress on its icon.
  expect(manifest.desktopName).toMatch(/^[a-z]+(\.[A-Za-z]+){2,}\.desktop$/);
  expect(manifest.build.linux.syncDesktopName).toBe(true);
});

test('every file the build section names is in the tree', () => {
  const { mac, linux } = manifest.build;
  for (const file of [mac.entitlements, mac.entitlementsInherit, mac.icon, linux.icon])
    expect(existsSync(join(root, file)), file).toBe(true);
});
