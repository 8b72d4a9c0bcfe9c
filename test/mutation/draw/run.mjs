// npm run test:mutate -- --draw [--side=typescript|native] [--count=150] [--seed=1] [--since=REF] [--minutes=N] [PLACE ...]
// Mutants that a machine makes, against the tests that reach them: README.md. It goes on where it was stopped;
// `--anew` begins again, `--survived` tries again what nobody noticed, `--table` prints what came out.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTree, folder, root } from '../tree.mjs';
import { build, carry, compile, compileKernel } from './build.mjs';
import { areaOf, choose } from './choose.mjs';
import { isText, replaced } from './instrument.mjs';
import { nearestTests } from './near.mjs';
import { reach, vitest } from './reach.mjs';
import { ROUNDS, testsOfKernel } from './tests.mjs';
import { checkTypes } from './types.mjs';

const args = process.argv.slice(2);
const option = (name, otherwise) =>
  args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise;
const words = args.filter((arg) => !arg.startsWith('--'));
const side = option('side', 'typescript');
const since = option('since');
const endsAt = Date.now() + Number(option('minutes', since ? 20 : 1000)) * 60_000;

const state = join(folder, side);
const tree = join(state, 'tree');
const file = join(state, 'draw.json');
if (args.includes('--anew')) rmSync(file, { force: true });
mkdirSync(state, { recursive: true });
const say = (line) => process.stdout.write(`${line}\n`);
const short = (text) => text.replace(/\s+/g, ' ').slice(0, 90);
const told = ({ file, line, operator, from, to }) =>
  `${file}:${line}: ${operator}: ${short(from)} → ${short(to) || 'nothing'}`;

const draw = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : {
      rounds: [],
      mutants: await choose({
        side,
        count: Number(option('count', since ? 500 : 150)),
        seed: Number(option('seed', 1)),
        words,
        since,
      }),
    };
const save = () => writeFileSync(file, JSON.stringify(draw, null, 1));

/** Test files in order of time, in steps: a mutant that a quick one notices costs no more. */
const STEPS_MS = [8_000, 60_000, 240_000];
function steps(files) {
  const left = [...files].sort(([, a], [, b]) => a.ms - b.ms);
  return STEPS_MS.map((limit) => {
    const step = [];
    for (let sum = 0; left.length > 0 && (step.length === 0 || sum + left[0][1].ms <= limit); ) {
      sum += left[0][1].ms;
      step.push(left.shift());
    }
    return { tests: step.map(([test]) => test), ms: step.reduce((sum, [, { ms }]) => sum + ms, 0) };
  }).filter(({ tests }) => tests.length > 0);
}

/** What noticed it: a test, an end of the process, or the limit of time; nothing when all pass. */
async function noticedBy(mutant, { tests, ms }, env) {
  const report = join(state, 'mutant.json');
  rmSync(report, { force: true });
  const given = [
    'test/vitest.config.ts',
    '--bail=1',
    '--maxWorkers=1',
    '--reporter=json',
    `--outputFile=${report}`,
    ...tests,
  ];
  const { code, late } = await vitest(tree, given, { ...env, LONGHAND_MUTANT: String(mutant.id) }, 60_000 + 4 * ms);
  if (code === 0) return undefined;
  if (late) return { test: 'it does not end' };
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : [];
  // After the first failure the other files are ended, and count as failed.
  const isFailed = ({ status }) => status === 'failed';
  const failed = results.find((file) => file.assertionResults.some(isFailed)) ?? results.find(isFailed);
  const one = failed?.assertionResults.find(isFailed);
  return {
    test: `${failed?.name.slice(tree.length + 1) ?? 'a process ended'}: ${one?.fullName ?? ''}`,
    message: short(one?.failureMessages?.[0] ?? failed?.message ?? ''),
  };
}

async function judge(mutant, files, env) {
  for (const step of steps(files)) {
    const found = await noticedBy(mutant, step, env);
    if (found) return { outcome: 'noticed', ...found };
  }
  return { outcome: 'survived' };
}

/** A kernel: written into its file, built, tried, and put back. */
async function judgeKernel(mutant) {
  const path = join(tree, mutant.file);
  const whole = readFileSync(join(root, mutant.file), 'utf8');
  writeFileSync(path, replaced(whole, mutant));
  try {
    if (!(await compileKernel(tree, mutant.file))) return { outcome: 'does not compile' };
    return await judge(
      mutant,
      testsOfKernel(mutant.file)
        .filter((test) => existsSync(join(tree, test)))
        .map((test, k) => [test, { ms: 4_000 + 4_000 * k }]),
      {},
    );
  } finally {
    writeFileSync(path, whole);
  }
}

const isOpen = ({ outcome }) => outcome === undefined || outcome === 'survived' || outcome === 'not reached';

/** Whether a test file passes without any mutant: else it says nothing. */
draw.sound ??= {};
async function isSound(test) {
  draw.sound[test] ??= (await vitest(tree, ['test/vitest.config.ts', '--maxWorkers=1', test], {}, 300_000)).code === 0;
  return draw.sound[test];
}

/** Some of the tests nearest to its file; one that fails without the mutant too is left out. */
async function judgeNear(mutant, tests) {
  const left = tests.filter((test) => draw.sound[test] !== false);
  while (left.length > 0) {
    const found = await noticedBy(mutant, { tests: left, ms: 30_000 }, {});
    if (!found) break;
    const test = left.find((one) => found.test.startsWith(one));
    if (!test || (await isSound(test))) return { outcome: 'noticed', ...found };
    left.splice(left.indexOf(test), 1);
  }
  return { outcome: 'survived' };
}

/** First what is nearest to each, then what is a little further away. */
const NEAR = [
  [0, 2],
  [2, 5],
  [5, 9],
];
async function tryNearest() {
  const near = nearestTests(root);
  const begun = counted.filter(isOpen).sort((a, b) => Number('near' in b) - Number('near' in a));
  for (const mutant of begun) {
    for (const [from, to] of NEAR.slice(mutant.near ?? 0)) {
      if (Date.now() > endsAt) return;
      const tests = near(mutant.file).slice(from, to);
      mutant.near = (mutant.near ?? 0) + 1;
      if (tests.length === 0) continue;
      Object.assign(mutant, await judgeNear(mutant, tests));
      save();
      if (mutant.outcome === 'noticed') break;
    }
    say(`${mutant.outcome ?? 'not reached'}: ${told(mutant)}${mutant.test ? ` (${mutant.test})` : ''}`);
  }
}

// The code goes on while a draw is tried: what no longer stands there is not made.
for (const mutant of draw.mutants)
  if (readFileSync(join(root, mutant.file), 'utf8').slice(mutant.start, mutant.end) !== mutant.from)
    mutant.outcome = 'stale';
const counted = draw.mutants.filter(
  ({ file, outcome }) => !isText(file) && outcome !== 'stale' && outcome !== 'does not compile',
);

/** Without the engine and the shell most tests fail by themselves, and a test that fails anyway notices nothing. */
const BUILT = ['build/native/Release/longhand.node', 'dist/main'];

async function prepare() {
  const missing = side === 'typescript' ? BUILT.filter((path) => !existsSync(join(root, path))) : [];
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} are not there: npm run build makes them`);
  copyTree(tree, new Set(counted.map(({ file }) => file)));
  save();
  for (const { file } of draw.mutants) if (!existsSync(join(tree, file))) writeFileSync(join(tree, file), '');
  if (side === 'typescript') carry(tree, root, counted);
  else
    await build(tree, root, counted, (bad) => {
      for (const mutant of counted) if (bad.has(mutant.id)) mutant.outcome = 'does not compile';
      save();
    });
}

/** Once each, also of a draw that was begun without it. */
const refuseUntyped = () =>
  checkTypes(
    join(state, 'types'),
    draw.mutants.filter(({ outcome, typed }) => !typed && outcome !== 'stale' && outcome !== 'does not compile'),
    (mutant, error) => {
      mutant.typed = true;
      if (error) Object.assign(mutant, { outcome: 'does not compile', test: undefined, message: short(error) });
      save();
      if (error) say(`does not compile: ${told(mutant)} (${mutant.message})`);
    },
  );

async function tryRound(k, round) {
  const open = counted.filter(isOpen).filter((mutant) => (mutant.round ?? -1) < k);
  if (open.length === 0 || Date.now() > endsAt) return;
  draw.rounds[k] ??= await reach(tree, state, round);
  save();
  for (const mutant of open) {
    if (Date.now() > endsAt) return;
    const files = Object.entries(draw.rounds[k]).filter(([, { reaches }]) => reaches.includes(mutant.id));
    if (files.length > 0) Object.assign(mutant, await judge(mutant, files, round.env));
    else mutant.outcome ??= 'not reached';
    mutant.round = k;
    save();
    say(`${mutant.outcome}: ${told(mutant)}${mutant.test ? ` (${mutant.test})` : ''}`);
  }
}

async function tryKernels() {
  const open = draw.mutants.filter((mutant) => isText(mutant.file) && isOpen(mutant) && mutant.round === undefined);
  for (const mutant of open) {
    if (Date.now() > endsAt) return;
    Object.assign(mutant, await judgeKernel(mutant), { round: 0 });
    save();
    say(`${mutant.outcome}: ${told(mutant)}${mutant.test ? ` (${mutant.test})` : ''}`);
  }
  if (open.length > 0) await compile(tree);
}

function table() {
  say('| area | mutants | noticed | survived | reached by no test |\n|---|---|---|---|---|');
  const compiled = draw.mutants.filter(
    ({ outcome }) => outcome && outcome !== 'does not compile' && outcome !== 'stale',
  );
  const row = (name, mutants) => {
    const of = (outcome) => mutants.filter((mutant) => mutant.outcome === outcome).length;
    const same = mutants.filter(({ same: why }) => why).length;
    const share = Math.round((100 * of('noticed')) / Math.max(1, mutants.length - same));
    say(`| ${name} | ${mutants.length} | ${of('noticed')} (${share} %) | ${of('survived')} | ${of('not reached')} |`);
  };
  for (const [area, mutants] of [...Map.groupBy(compiled, ({ file }) => areaOf(file))].sort()) row(area, mutants);
  row('all', compiled);
  for (const mutant of compiled.filter(({ outcome }) => outcome !== 'noticed'))
    say(`${mutant.id} ${mutant.outcome}: ${told(mutant)}`);
}

if (!args.includes('--table')) {
  if (args.includes('--survived'))
    for (const mutant of draw.mutants.filter(isOpen))
      Object.assign(mutant, { round: undefined, near: undefined, outcome: undefined });
  if (args.includes('--survived')) draw.rounds = [];
  if (side === 'typescript') await refuseUntyped();
  await prepare();
  if (side === 'typescript') await tryNearest();
  for (const [k, round] of ROUNDS[side].entries()) await tryRound(k, round);
  await tryKernels();
  const left = draw.mutants.filter(({ outcome }) => outcome === undefined).length;
  if (left > 0) say(`${left} not tried: the time was up`);
}
table();
process.exitCode = draw.mutants.some(
  ({ outcome, same }) => (outcome === 'survived' || outcome === 'not reached') && !same,
)
  ? 1
  : 0;
