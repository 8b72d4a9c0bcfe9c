// Sets up a fresh clone: node app/launch/setup.mjs GOAL. Runs before any package is installed, with the system's Node
// (18 or newer): plain JavaScript, node: built-ins only. Done work is stamped by hash; the second run does nothing.
import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockSetup } from './lock.mjs';
import { run } from './run.mjs';
import { say, sayDone, sayProblem, sayStep } from './say.mjs';
import { hashOf, isStamped, stamp, unstamp } from './stamps.mjs';
import { provide } from './tools.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** What each script of package.json needs, in order. */
export const GOALS = {
  packages: ['packages'],
  longhand: ['packages', 'native'],
  start: ['packages', 'native', 'renderer'],
  check: ['packages', 'formatTools', 'native'],
  test: ['packages', 'formatTools', 'testTools', 'native', 'standin', 'shell', 'window', 'models'],
  bench: ['packages', 'native', 'models'],
  // Only if Electron can run: requested by start.mjs.
  shell: ['shell'],
  // Only if Electron is available: requested by package.mjs.
  package: ['native', 'shell'],
};

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const isLink = (path) => existsSync(path) && lstatSync(path).isSymbolicLink();

const STEPS = {
  packages: {
    title: 'Installing packages (the first time takes a minute)',
    inputs: () => hashOf(root, ['package-lock.json'], [process.platform, process.arch]),
    present: () => existsSync(join(root, 'node_modules', '.package-lock.json')) || isLink(join(root, 'node_modules')),
    // A link means that the user shares one folder between several checkouts, and manages it.
    skip: () => isLink(join(root, 'node_modules')),
    work: () =>
      run(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=http'], {
        cwd: root,
        progress: fetched(),
      }),
  },
  formatTools: { tools: process.platform === 'linux' ? ['clangFormat'] : [] },
  testTools: {
    tools: process.platform === 'linux' ? ['clang', 'chromium', 'vulkan', 'arm64', 'poppler', 'pip'] : ['pip'],
  },
  native: {
    title: 'Compiling the engine',
    tools: ['compiler', 'cmake'],
    inputs: () => hashOf(root, ['native', 'metal', 'package-lock.json'], [process.platform, process.arch]),
    present: () => existsSync(join(root, 'build', 'native', 'Release', 'longhand.node')),
    work: () => run(npm, ['run', '-s', 'build:engine'], { cwd: root, progress: percent }),
  },
  // Only for tests, and not on a Mac, which has the real thing.
  standin: {
    title: 'Compiling the Metal stand-in',
    skip: () => process.platform !== 'linux',
    inputs: () => hashOf(root, ['native', 'metal', 'test/metal/standin', 'package-lock.json'], [process.arch]),
    present: () => existsSync(join(root, 'build', 'native', 'Release', 'longhand-metal.node')),
    work: () => run(npm, ['run', '-s', 'build:native'], { cwd: root, progress: percent }),
  },
  renderer: {
    title: 'Building the pages',
    inputs: () => hashOf(root, ['renderer', 'app/protocol', 'package-lock.json']),
    present: () => existsSync(join(root, 'dist', 'renderer', 'index.html')),
    work: () => run(npm, ['run', '-s', 'build:renderer'], { cwd: root }),
  },
  models: {
    title: 'Downloading a real model for the tests (94 MB, kept outside the repository)',
    inputs: () => hashOf(root, ['test/support/models/real-models.mjs']),
    present: () => true,
    work: () =>
      run(process.execPath, [join(root, 'test', 'support', 'models', 'real-models.mjs')], { cwd: root }).catch(
        (error) => say(`  ${error.message}; tests that need it will say so`),
      ),
  },
  window: {
    title: 'Preparing Electron for the desktop tests (73 MB the first time, kept outside the repository)',
    skip: () => process.platform !== 'linux',
    tools: ['window'],
    inputs: () =>
      hashOf(root, ['main', 'app', 'renderer', 'test/electron', 'electron.vite.config.ts', 'package-lock.json']),
    present: () => existsSync(join(root, '.cache', 'electron', 'app', 'package.json')),
    work: () =>
      run(npm, ['run', '-s', 'build:window'], { cwd: root }).catch((error) =>
        say(`  ${error.message}; tests that need it will say so`),
      ),
  },
  shell: {
    title: 'Building the desktop shell',
    inputs: () => hashOf(root, ['main', 'app', 'renderer', 'electron.vite.config.ts', 'package-lock.json']),
    present: () => existsSync(join(root, 'dist', 'main', 'index.js')),
    work: () => run(npm, ['run', '-s', 'build:shell'], { cwd: root }),
  },
};

/** Progress lines: make's "[ 42%] Building CXX object …/matmul.cc.o", ninja's "[3/85] Building …". */
const percent = (line) => /^\[ *\d+(%|\/\d+)\]/.test(line) && line.replace(/Building .*\/(\S+?)\.o$/, '$1');

/** Counts the packages that npm reports. */
function fetched() {
  let count = 0;
  return (line) => /http fetch/.test(line) && `${++count} packages fetched`;
}

async function perform(name) {
  const step = STEPS[name];
  if (step.skip?.()) return;
  const hash = step.inputs?.();
  if (hash !== undefined && step.present() && isStamped(root, name, hash)) return;
  await provide(step.tools ?? []);
  if (!step.work) return;
  unstamp(root, name);
  sayStep(step.title);
  const start = Date.now();
  await step.work();
  stamp(root, name, hash);
  sayDone(`${step.title.replace(/ \(.*\)/, '')}: ${((Date.now() - start) / 1000).toFixed(0)} s`);
}

/** @throws Error with a sentence for the user */
export async function setUp(goal) {
  const steps = GOALS[goal];
  if (!steps) throw new Error(`[setup] "${goal}" is not a goal, expected one of ${Object.keys(GOALS).join(', ')}`);
  const release = await lockSetup(root);
  try {
    for (const name of steps) await perform(name);
  } finally {
    release();
  }
}

if (process.argv[1] && fileURLToPath(import.meta.url) === process.argv[1]) {
  try {
    await setUp(process.argv[2] ?? 'start');
  } catch (error) {
    sayProblem(error.message);
    process.exit(1);
  }
}
