// Chooses the shell: Electron if its binary and a display exist, or else a browser, or else the terminal.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Never imports electron, which would download its binary.
 *  @returns {string | null} the program */
export function electronBinary(root, env = process.env) {
  const folder = join(root, 'node_modules', 'electron');
  const name = join(folder, 'path.txt');
  const relative = existsSync(name) ? readFileSync(name, 'utf8').trim() : defaultName();
  const binary = join(env.ELECTRON_OVERRIDE_DIST_PATH ?? join(folder, 'dist'), relative);
  return existsSync(binary) ? binary : null;
}

const defaultName = () =>
  process.platform === 'darwin'
    ? 'Electron.app/Contents/MacOS/Electron'
    : process.platform === 'win32'
      ? 'electron.exe'
      : 'electron';

export const hasDisplay = (env = process.env, platform = process.platform) =>
  platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);

/** @returns {{ shell: 'electron', program: string, args: string[] } | { shell: 'browser' | 'terminal', program: string, args: string[], because: string }} */
export function chooseShell(root, { env = process.env, platform = process.platform, args = [] } = {}) {
  const node = process.execPath;
  const hasMain = existsSync(join(root, 'dist', 'main', 'index.js'));
  const binary = electronBinary(root, env);
  const display = hasDisplay(env, platform);
  if (hasMain && binary && display) return { shell: 'electron', program: binary, args: [root, ...args] };
  const because = !display
    ? 'there is no display'
    : !binary
      ? 'Electron is not installed'
      : 'the desktop shell is not built';
  const server = join(root, 'app', 'server', 'main.ts');
  if (existsSync(server) && existsSync(join(root, 'dist', 'renderer', 'index.html'))) {
    return { shell: 'browser', program: node, args: [server, ...args], because };
  }
  const chat = join(root, 'app', 'cli', 'main.ts');
  return { shell: 'terminal', program: node, args: [chat, 'chat', ...args], because: 'the pages are not built' };
}

/** The module that downloads the Electron binary, if the package has one. */
export const electronInstaller = (root) => {
  const file = join(root, 'node_modules', 'electron', 'install.js');
  return existsSync(dirname(file)) && existsSync(file) ? file : null;
};
