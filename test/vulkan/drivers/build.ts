// Drivers and loaders made for the tests: compiled where they are wanted.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A shared library of a source beside this file, in `folder`. */
export function buildLibrary(name: string, folder: string): string {
  const out = join(folder, `${name}.so`);
  const include = ['-I', join(import.meta.dirname, '..', '..', '..', 'native')];
  const source = join(import.meta.dirname, `${name}.cc`);
  execFileSync('c++', ['-std=c++20', '-shared', '-fPIC', '-O1', ...include, source, '-o', out, '-ldl']);
  return out;
}

/** The manifest by which the loader finds a driver; VK_ICD_FILENAMES names it. */
export function writeManifest(driver: string, folder: string): string {
  const out = join(folder, 'driver.json');
  const content = { file_format_version: '1.0.0', ICD: { library_path: driver, api_version: '1.2.0' } };
  writeFileSync(out, JSON.stringify(content));
  return out;
}
