// Drivers and loaders made for the tests, and processes of their own to load them into.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { repository } from '../support/addon.ts';
import { buildLibrary, writeManifest } from './drivers/build.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-vulkan-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

export const library = (name: string): string => buildLibrary(name, folder);
export const manifest = (driver: string): string => writeManifest(driver, folder);
export const scratchFile = (name: string): string => join(folder, name);

/** Runs `body` (an async function of the addon, whose result is JSON) in a Node of its own with this environment. */
export function inProcess<T>(body: string, env: Record<string, string>): T {
  const addon = join(repository, 'build', 'native', 'Release', 'longhand.node');
  const script = `const addon = require(${JSON.stringify(addon)});
    (${body})(addon).then((value) => process.stdout.write('RESULT' + JSON.stringify(value)));`;
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, ['-e', script], {
    env: { ...process.env, LONGHAND_VULKAN_CACHE: join(folder, 'cache'), ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const at = stdout.indexOf('RESULT');
  if (at < 0) throw new Error(`ended with ${signal ?? status}: ${stdout}${stderr}`);
  return JSON.parse(stdout.slice(at + 'RESULT'.length)) as T;
}
