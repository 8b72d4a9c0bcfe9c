import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultDataFolder } from '../app/store/folder/data-dir.ts';
import { temporaryFolder } from '../app/store/folder/temporary-folders.ts';

/** What the app was started with. `argv`: of the process; a packaged app has no script among them. Paths are absolute: Electron
 *  takes no other for the folder, and a second start hands its files to an app that began elsewhere. */
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

/** What the desktop opens with the app. */
export const isModelFile = (path: string): boolean => /\.gguf$/i.test(path);

/** Where Chromium keeps its own files: in the data folder, private like it. Chats of a data folder that cannot be written can
 *  still be read, so Chromium then gets a folder that ends with the app. */
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
