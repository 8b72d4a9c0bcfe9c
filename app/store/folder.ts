import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where a platform keeps the data of an application; `LONGHAND_DATA` names another place. */
export function defaultDataFolder(platform = process.platform, env: NodeJS.ProcessEnv = process.env): string {
  if (env.LONGHAND_DATA) return env.LONGHAND_DATA;
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Longhand');
  if (platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'Longhand');
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'longhand');
}
