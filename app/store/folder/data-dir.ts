import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';

/** The platform's folder for application data, or `LONGHAND_DATA_DIR`. Older versions called it
 *  `LONGHAND_DATA`, which is still read. */
export function defaultDataFolder(platform = process.platform, env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env.LONGHAND_DATA_DIR || env.LONGHAND_DATA;
  if (chosen) return chosen;
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Longhand');
  if (platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'Longhand');
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'longhand');
}

/** Checks that a data folder is a folder or can be created.
 *  @throws LonghandError `bad-request` if it or a parent is a file */
export function checkDataFolder(folder: string): void {
  for (let path = resolve(folder); ; path = dirname(path)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() || path === dirname(path)) return;
    if (found) throw new LonghandError('bad-request', `[--data] ${path} is a file; a folder is needed`);
  }
}
