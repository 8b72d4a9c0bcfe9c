import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultDataFolder } from '../app/store/folder/data-dir.ts';
import { temporaryFolder } from '../app/store/folder/temporary-folders.ts';

/** The command-line arguments. `argv`: of the process; in a packaged app it contains no script. Paths are absolute: Electron
 *  requires that for the folder, and a second start hands its files to an app with another working directory. */
export function readArguments(
  argv: readonly string[],
  packaged: boolean,
  cwd: string = process.cwd(),
): { dataFolder: string; modelFiles: string[] } {
  const { values, positionals } = parseArgs({
    args: argv.slice(packaged ? 1 : 2),
    strict: false,
    options: { data: { type: 'string' } },
  });
  const named = typeof values.data === 'string' && values.data !== '' ? values.data : defaultDataFolder();
  return {
    dataFolder: resolve(cwd, named),
    modelFiles: positionals.filter(isModelFile).map((path) => resolve(cwd, path)),
  };
}

/** Files that the desktop opens with the app. */
export const isModelFile = (path: string): boolean => /\.gguf$/i.test(path);

/** Folder for Chromium's own files: inside the private data folder. A read-only data folder can still be opened, so Chromium
 *  then gets a temporary folder, removed when the app exits. */
export function shellFolder(dataFolder: string): string {
  const folder = join(dataFolder, 'shell');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return temporaryFolder('shell');
  }
}
