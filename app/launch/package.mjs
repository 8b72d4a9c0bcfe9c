// npm run package: dmg and zip on a Mac, AppImage and deb on Linux. They include Electron: without it nothing is built.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { electronHost, fetchElectron } from './electron.mjs';
import { compileKernels } from './metallib.mjs';
import { run } from './run.mjs';
import { sayProblem, sayStep } from './say.mjs';
import { root, setUp } from './setup.mjs';
import { electronBinary } from './shells.mjs';

/** The folder that electron-builder uses instead of its own download. */
const folderOf = (binary) =>
  process.platform === 'darwin' ? dirname(dirname(dirname(dirname(binary)))) : dirname(binary);

async function pack() {
  const binary = electronBinary(root) ?? (await fetchElectron(root));
  if (!binary) {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'electron', 'package.json'), 'utf8'));
    throw new Error(
      `[package] Electron ${version} is not here and could not be fetched from ${electronHost()}; ELECTRON_MIRROR names ` +
        'another host, ELECTRON_OVERRIDE_DIST_PATH a folder that has it',
    );
  }
  await setUp('package');
  await compileKernels(join(root, 'build', 'metallib'));
  sayStep('Packaging');
  const builder = join(root, 'node_modules', '.bin', 'electron-builder');
  await run(builder, ['--publish', 'never', `-c.electronDist=${folderOf(binary)}`], { cwd: root });
}

try {
  await pack();
} catch (error) {
  sayProblem(error.message);
  process.exit(1);
}
