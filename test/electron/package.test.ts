import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { windowTest } from './fixture.ts';
import { findRuntime, oldApp, type Runtime, root } from './runtime.ts';
import { descendantsOf, newFolder, spawnShell } from './shell.ts';
import { waitFor } from './wait.ts';

//  What `npm run package` makes, as far as it can be made here: the folder that goes into an AppImage or a deb.

const require = createRequire(createRequire(import.meta.filename).resolve('electron-builder/package.json'));

/** Packs as `app/launch/package.mjs` does, without the last step into one file. The old Electron has no fuses to set. */
async function pack({ program, old }: Runtime, output: string): Promise<string> {
  const { build } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (old) delete build.electronFuses;
  const directories = { ...build.directories, output };
  const electron = { electronDist: dirname(program), ...(old && { electronVersion: '9.4.1' }) };
  const config = join(output, 'config.json');
  mkdirSync(output, { recursive: true });
  writeFileSync(config, JSON.stringify({ ...build, ...electron, directories }));
  const builder = join(root, 'node_modules', '.bin', 'electron-builder');
  const packed = promisify(execFile)(builder, ['--dir', '--publish', 'never', '--config', config], { cwd: root });
  await packed.catch((error: Error & { stdout: string }) => {
    // It says on stdout what went wrong.
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  });
  return join(output, 'linux-unpacked');
}

/** The old Electron runs the archive unpacked, with its main process, preload script and page lowered. */
function lowered(resources: string): void {
  const app = join(resources, 'app');
  require('@electron/asar').extractAll(join(resources, 'app.asar'), app);
  renameSync(join(resources, 'app.asar'), join(resources, 'packed.asar'));
  for (const part of ['preload', 'renderer']) rmSync(join(app, 'dist', part), { recursive: true });
  for (const part of ['preload', 'renderer'])
    cpSync(join(oldApp, 'dist', part), join(app, 'dist', part), { recursive: true });
  cpSync(join(oldApp, 'dist', 'main', 'index.cjs'), join(app, 'dist', 'main', 'index.cjs'));
  const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
  const before = join(root, 'test', 'electron', 'old', 'preload-main.cjs');
  writeFileSync(join(app, 'first.cjs'), `require(${JSON.stringify(before)}); require('./dist/main/index.cjs');`);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ ...manifest, main: 'first.cjs' }));
}

/** Whether one of these processes has a file below the folder in its memory. */
function mapped(pids: number[], file: string): boolean {
  return pids.some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/maps`, 'utf8').includes(file);
    } catch {
      // It has just ended.
      return false;
    }
  });
}

windowTest('a package has everything that it runs with, and hears where its data is', async ({ desktop }) => {
  const { runtime } = findRuntime();
  if (!runtime) throw new Error('[electron] a package was to be tried where there is nothing to run it');
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const unpacked = await pack(runtime, join(folder, 'out'));
  const resources = join(unpacked, 'resources');
  for (const name of ['longhand.node', 'starter-model', 'encoder', 'reader', 'catalogue', 'help', 'tray/icon.png'])
    expect(existsSync(join(resources, name)), name).toBe(true);
  const asar = require('@electron/asar');
  const archive = join(resources, 'app.asar');
  const packed: string[] = asar.listPackage(archive, { isPack: false });
  for (const file of [
    'package.json',
    'dist/main/index.js',
    'dist/main/core.js',
    'dist/preload/preload.cjs',
    'dist/renderer/index.html',
  ])
    expect(packed).toContain(`/${file}`);
  expect(packed.filter((file) => /\.map$|\/node_modules\/(node-linux|electron)|\.tsx?$|^\/test/.test(file))).toEqual(
    [],
  );
  expect(JSON.parse(asar.extractFile(archive, 'package.json').toString()).scripts).toBe(undefined);
  // What the system itself loads cannot lie in an archive.
  const native = packed.filter((file) => /\.node$|\/vec0\.so$/.test(file));
  expect(native.some((file) => file.endsWith('vec0.so'))).toBe(true);
  for (const file of native) expect(existsSync(`${archive}.unpacked${file}`), file).toBe(true);

  if (runtime.old) lowered(resources);
  const cwd = join(folder, 'cwd');
  mkdirSync(cwd);
  const program = join(unpacked, 'longhand');
  const { process: app, ended, output } = spawnShell(desktop, '', { cwd, program, args: ['--data', 'not/yet/there'] });
  onTestFinished(() => void app.kill('SIGKILL'));
  const pids = () => (app.pid === undefined ? [] : descendantsOf(app.pid));
  await waitFor('the window', () => desktop.titles().includes('Longhand'));
  await waitFor(`the database: ${output()}`, () => existsSync(join(cwd, 'not', 'yet', 'there', 'longhand.db')));
  await waitFor('the engine', () => mapped(pids(), join(resources, 'longhand.node')));
  await waitFor('the built-in model', () => mapped(pids(), join(resources, 'starter-model')));
  await waitFor('the search by meaning', () => mapped(pids(), 'vec0.so'));
  app.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, signal: null });
});
