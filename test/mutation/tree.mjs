// The copy of the repository in which mistakes are made.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');
export const folder = join(root, '.cache', 'mutation');
const PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`;

/** Files that git knows or would take, as they are now; what was fetched is shared. `but` are left as they are in the copy. */
export function copyTree(tree, but = new Set()) {
  const { stdout } = spawnSync('git', ['ls-files', '-zco', '--exclude-standard'], { cwd: root, maxBuffer: 1e8 });
  for (const file of String(stdout).split('\0')) {
    const [source, target] = [join(root, file), join(tree, file)];
    if (file === '' || but.has(file) || !existsSync(source) || isSame(source, target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target, { preserveTimestamps: true });
  }
  if (!existsSync(join(tree, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  // What is built is built there anew where a mistake is made in it. Not the notes of CMake: they name the folder they are of.
  for (const built of ['build/native/Release', 'dist']) {
    const [source, target] = [join(root, built), join(tree, built)];
    if (existsSync(source) && !existsSync(target)) cpSync(source, target, { recursive: true });
  }
}

function isSame(source, target) {
  if (!existsSync(target)) return false;
  const [a, b] = [statSync(source), statSync(target)];
  return a.size === b.size && Math.floor(a.mtimeMs) === Math.floor(b.mtimeMs);
}

/** A mistake in what removes temporary folders removes those of the draw, and not everybody's. */
const TMPDIR = mkdtempSync(join(tmpdir(), 'mutation-'));
process.on('exit', () => rmSync(TMPDIR, { recursive: true, force: true }));

/** Runs a program in `tree`, with all that it starts ended at the limit: `{ code, output, late }`. */
export function runIn(tree, command, args, { limitMs, env = {} }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: tree, detached: true, env: { ...process.env, PATH, TMPDIR, ...env } });
    let [output, late] = ['', false];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    child.on('error', (error) => (output += error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output, late });
    });
  });
}
