// npm run test:mutate [-- [--survived] WORD ...]: makes the mistakes of mutants.mjs one after the other, in a copy of the
// repository, and runs the test that is to notice each. WORD: only mistakes whose place or row has it. --survived: only those
// that nothing noticed the last time. --table: prints the table of README.md instead. What came out of each is in
// .cache/mutation/results.json. A mistake in native/ or metal/ is compiled: a minute each.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MUTANTS } from './mutants.mjs';
import { copyTree, folder, root } from './tree.mjs';

if (process.argv.includes('--draw')) {
  await import('./draw/run.mjs');
  process.exit();
}

const tree = join(folder, 'tree');
const resultsFile = join(folder, 'results.json');
const LIMIT_MS = 10 * 60_000;

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
const keyOf = ({ file, from, to }) => `${file}\n${from}\n${to}`;

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

copyTree(tree);
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
