// Drivers and loaders made for the tests, and processes of their own to load them into.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { repository } from '../support/addon.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-vulkan-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A shared library from test/vulkan/drivers. */
export function library(name: string): string {
  const out = join(folder, `${name}.so`);
  const include = ['-I', join(repository, 'native')];
  const source = join(import.meta.dirname, 'drivers', `${name}.cc`);
  execFileSync('c++', ['-std=c++20', '-shared', '-fPIC', '-O1', ...include, source, '-o', out, '-ldl']);
  return out;
}

/** The manifest by which the loader finds a driver; VK_ICD_FILENAMES names it. */
export function manifest(driver: string): string {
  const out = join(folder, 'driver.json');
  const content = { file_format_version: '1.0.0', ICD: { library_path: driver, api_version: '1.2.0' } };
  writeFileSync(out, JSON.stringify(content));
  return out;
}

export const scratchFile = (name: string): string => join(folder, name);

/** Runs `body` (an async function of the addon, whose result is JSON) in a Node of its own with this environment. */
export function inProcess<T>(body: string, env: Record<string, string>): T {
  const addon = join(repository, 'build', 'native', 'Release', 'longhand.node');
  const script = `const addon = require(${JSON.stringify(addon)});
    (${body})(addon).then((value) => process.stdout.write('RESULT' + JSON.stringify(value)));`;
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, ['-e', script], {
    env: { ...process.env, LONGHAND_VULKAN_CACHE: join(folder, 'cache'), ...env },
    encoding: 'utf8',
  });
  const at = stdout.indexOf('RESULT');
  if (at < 0) throw new Error(`ended with ${signal ?? status}: ${stdout}${stderr}`);
  return JSON.parse(stdout.slice(at + 'RESULT'.length)) as T;
}
