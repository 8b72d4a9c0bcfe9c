import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultDataFolder } from '../app/store/data-dir.ts';
import { temporaryFolder } from '../app/store/temporary-folders.ts';

/** What the app was started with. `argv`: of the process; a packaged app has no script among them. The folder is absolute,
 *  since Electron takes no other. */
export function readArguments(argv: readonly string[], packaged: boolean): { dataFolder: string } {
  const { values } = parseArgs({
    args: argv.slice(packaged ? 1 : 2),
    strict: false,
    options: { data: { type: 'string' } },
  });
  const named = typeof values.data === 'string' && values.data !== '' ? values.data : defaultDataFolder();
  return { dataFolder: resolve(named) };
}

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
