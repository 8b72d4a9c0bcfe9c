// npm start: the desktop app if there are Electron and a display, or else the same pages in a browser, or else the terminal.
import { join } from 'node:path';
import { withCompileCache } from './compile-cache.mjs';
import { fetchElectron } from './electron.mjs';
import { become } from './run.mjs';
import { say, sayStep } from './say.mjs';
import { root, setUp } from './setup.mjs';
import { chooseShell, electronBinary, electronInstaller, hasDisplay } from './shells.mjs';
import { hashOf, isStamped, stamp } from './stamps.mjs';

/** Downloads Electron once if it could be used. If the host is unreachable, it is not tried again for this version. */
async function wantElectron() {
  if (!electronInstaller(root) || !hasDisplay() || electronBinary(root)) return;
  const version = hashOf(root, [join('node_modules', 'electron', 'package.json')]);
  if (isStamped(root, 'electron', version)) return;
  stamp(root, 'electron', version);
  if (!(await fetchElectron(root)))
    say('  Electron could not be downloaded; delete .cache/setup/electron to try again');
}

await wantElectron();
if (hasDisplay() && electronBinary(root)) await setUp('shell');
const choice = chooseShell(root, { args: process.argv.slice(2) });
if (choice.shell === 'browser') sayStep(`Opening in the browser, because ${choice.because}`);
if (choice.shell === 'terminal') sayStep(`Opening in the terminal, because ${choice.because}`);

const env = withCompileCache(root, { ...process.env, LONGHAND_ROOT: root });
become(choice.program, choice.args, { cwd: root, env });
