// npm run test:mutate [-- [--survived] WORD ...]: makes the mistakes of mutants.mjs one after the other, in a copy of the
// repository, and runs the test that is to notice each. WORD: only mistakes whose place or row has it. --survived: only those
// that nothing noticed the last time. --table: prints the table of README.md instead. What came out of each is in
// .cache/mutation/results.json. A mistake in native/ or metal/ is compiled: a minute each.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MUTANTS } from './mutants.mjs';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, '.cache', 'mutation');
const tree = join(folder, 'tree');
const resultsFile = join(folder, 'results.json');
const LIMIT_MS = 10 * 60_000;

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
const keyOf = ({ file, from, to }) => `${file}\n${from}\n${to}`;

/** Files that git knows or would take, as they are now; what was fetched is shared. */
function copyTree() {
  const { stdout } = spawnSync('git', ['ls-files', '-zco', '--exclude-standard'], { cwd: root, maxBuffer: 1e8 });
  for (const file of String(stdout).split('\0')) {
    const [source, target] = [join(root, file), join(tree, file)];
    if (file === '' || !existsSync(source) || isSame(source, target)) continue;
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

const run = (command, args) =>
  spawnSync(command, args, {
    cwd: tree,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    maxBuffer: 1e8,
    shell: args === undefined,
    env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
  });

/** Whether its tests pass; a test that a name should find must be there. */
function passes({ command, tests, named }) {
  if (command) return run(command).status === 0;
  const name = named ? ['-t', named.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')] : [];
  const { status, stdout } = run('vitest', [
    'run',
    '--config',
    'test/vitest.config.ts',
    '--bail',
    '1',
    ...tests,
    ...name,
  ]);
  return status === 0 && /Tests .*passed/.test(stdout);
}

const sound = new Map();
/** Without the mistake the same tests pass: else noticing it says nothing. */
function passesUnchanged(mutant) {
  const key = JSON.stringify([mutant.command, mutant.tests, mutant.named]);
  if (!sound.has(key)) sound.set(key, build(mutant) && passes(mutant));
  return sound.get(key);
}

const SHADERS = 'node native/vulkan/shaders/compile.mjs';
const STEPS = { native: 'npm run -s build:native', shaders: `${SHADERS} && npm run -s build:native` };
const build = ({ build: step }) => !step || run(STEPS[step]).status === 0;

function outcomeOf(mutant) {
  const path = join(tree, mutant.file);
  const whole = readFileSync(path, 'utf8');
  if (whole.split(mutant.from).length !== 2) return 'stale: its line is not there, or not once';
  if (!passesUnchanged(mutant)) return 'stale: its tests fail without it';
  writeFileSync(
    path,
    whole.replace(mutant.from, () => mutant.to),
  );
  try {
    if (!build(mutant)) return 'stale: it does not compile';
    return passes(mutant) ? 'survived' : 'noticed';
  } finally {
    writeFileSync(path, whole);
    // Its time is another now, and the copy goes by that.
    if (mutant.build) build(mutant);
  }
}

if (process.argv.includes('--table')) {
  const cell = (text) => text.replaceAll('|', '\\|');
  for (const { row, file, user, tests, named, lives } of MUTANTS) {
    const by = lives
      ? `**nothing**: ${lives}`
      : `${tests ? `\`${tests[0]}\`` : 'end to end'}${named ? `: "${named}"` : ''}`;
    process.stdout.write(`| ${cell(row)} | \`${file}\` | ${cell(user)} | ${cell(by)} |\n`);
  }
  process.exit(0);
}

copyTree();
const chosen = MUTANTS.filter(
  ({ row, file }) => words.length === 0 || words.some((word) => `${row} ${file}`.includes(word)),
).filter((mutant) => !process.argv.includes('--survived') || results[keyOf(mutant)] !== 'noticed');
const count = { noticed: 0, living: 0, others: 0 };
for (const mutant of chosen) {
  const outcome = outcomeOf(mutant);
  results[keyOf(mutant)] = outcome;
  writeFileSync(resultsFile, JSON.stringify(results, null, 1));
  count[outcome === 'noticed' ? 'noticed' : mutant.lives ? 'living' : 'others'] += 1;
  process.stdout.write(`${outcome}: ${mutant.file}: ${mutant.row}\n`);
}
process.stdout.write(`${count.noticed} of ${chosen.length} noticed, ${count.living} known to live\n`);
process.exitCode = count.others > 0 ? 1 : 0;
