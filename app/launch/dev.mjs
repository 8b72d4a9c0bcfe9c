// npm run dev: the app from source, rebuilt when a file changes. In Electron if it runs, or else in the browser.
import { join } from 'node:path';
import { become } from './run.mjs';
import { root } from './setup.mjs';
import { electronBinary, hasDisplay } from './shells.mjs';

const bin = (name) => join(root, 'node_modules', '.bin', name);
const env = { ...process.env, LONGHAND_ROOT: root };

if (electronBinary(root) && hasDisplay()) {
  become(bin('electron-vite'), ['dev'], { cwd: root, env });
} else {
  const pages = become(bin('vite'), ['build', '--watch', '-c', 'renderer/vite.config.ts'], { cwd: root, env });
  const server = join(root, 'app', 'server', 'main.ts');
  const host = become(process.execPath, ['--watch', '--watch-preserve-output', server, ...process.argv.slice(2)], {
    cwd: root,
    env,
  });
  host.on('exit', () => pages.kill());
}
