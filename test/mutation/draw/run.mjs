// npm run test:mutate -- --draw [--side=typescript|native] [--count=150] [--seed=1] [--since=REF] [--minutes=N] [PLACE ...]
// Slips that a machine makes, against the tests that reach them: README.md. It goes on where it was stopped;
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
      slips: await choose({
        side,
        count: Number(option('count', since ? 500 : 150)),
        seed: Number(option('seed', 1)),
        words,
        since,
      }),
    };
const save = () => writeFileSync(file, JSON.stringify(draw, null, 1));

/** Test files in order of time, in steps: a slip that a quick one notices costs no more. */
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
async function noticedBy(slip, { tests, ms }, env) {
  const report = join(state, 'slip.json');
  rmSync(report, { force: true });
  const given = [
    'test/vitest.config.ts',
    '--bail=1',
    '--maxWorkers=1',
    '--reporter=json',
    `--outputFile=${report}`,
    ...tests,
  ];
  const { code, late } = await vitest(tree, given, { ...env, LONGHAND_SLIP: String(slip.id) }, 60_000 + 4 * ms);
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

async function judge(slip, files, env) {
  for (const step of steps(files)) {
    const found = await noticedBy(slip, step, env);
    if (found) return { outcome: 'noticed', ...found };
  }
  return { outcome: 'survived' };
}

/** A kernel: written into its file, built, tried, and put back. */
async function judgeKernel(slip) {
  const path = join(tree, slip.file);
  const whole = readFileSync(join(root, slip.file), 'utf8');
  writeFileSync(path, replaced(whole, slip));
  try {
    if (!(await compileKernel(tree, slip.file))) return { outcome: 'does not compile' };
    return await judge(
      slip,
      testsOfKernel(slip.file)
        .filter((test) => existsSync(join(tree, test)))
        .map((test, k) => [test, { ms: 4_000 + 4_000 * k }]),
      {},
    );
  } finally {
    writeFileSync(path, whole);
  }
}

const isOpen = ({ outcome }) => outcome === undefined || outcome === 'survived' || outcome === 'not reached';

/** Whether a test file passes without any slip: else it says nothing. */
draw.sound ??= {};
async function isSound(test) {
  draw.sound[test] ??= (await vitest(tree, ['test/vitest.config.ts', '--maxWorkers=1', test], {}, 300_000)).code === 0;
  return draw.sound[test];
}

/** Some of the tests nearest to its file; one that fails without the slip too is left out. */
async function judgeNear(slip, tests) {
  const left = tests.filter((test) => draw.sound[test] !== false);
  while (left.length > 0) {
    const found = await noticedBy(slip, { tests: left, ms: 30_000 }, {});
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
  for (const slip of begun) {
    for (const [from, to] of NEAR.slice(slip.near ?? 0)) {
      if (Date.now() > endsAt) return;
      const tests = near(slip.file).slice(from, to);
      slip.near = (slip.near ?? 0) + 1;
      if (tests.length === 0) continue;
      Object.assign(slip, await judgeNear(slip, tests));
      save();
      if (slip.outcome === 'noticed') break;
    }
    say(`${slip.outcome ?? 'not reached'}: ${told(slip)}${slip.test ? ` (${slip.test})` : ''}`);
  }
}

// The code goes on while a draw is tried: what no longer stands there is not made.
for (const slip of draw.slips)
  if (readFileSync(join(root, slip.file), 'utf8').slice(slip.start, slip.end) !== slip.from) slip.outcome = 'stale';
const counted = draw.slips.filter(
  ({ file, outcome }) => !isText(file) && outcome !== 'stale' && outcome !== 'does not compile',
);

async function prepare() {
  copyTree(tree, new Set(counted.map(({ file }) => file)));
  save();
  const missing = draw.slips.filter(({ file }) => !existsSync(join(tree, file)));
  for (const { file } of missing) writeFileSync(join(tree, file), '');
  if (side === 'typescript') carry(tree, root, counted);
  else
    await build(tree, root, counted, (bad) => {
      for (const slip of counted) if (bad.has(slip.id)) slip.outcome = 'does not compile';
      save();
    });
}

async function tryRound(k, round) {
  const open = counted.filter(isOpen).filter((slip) => (slip.round ?? -1) < k);
  if (open.length === 0 || Date.now() > endsAt) return;
  draw.rounds[k] ??= await reach(tree, state, round);
  save();
  for (const slip of open) {
    if (Date.now() > endsAt) return;
    const files = Object.entries(draw.rounds[k]).filter(([, { reaches }]) => reaches.includes(slip.id));
    if (files.length > 0) Object.assign(slip, await judge(slip, files, round.env));
    else slip.outcome ??= 'not reached';
    slip.round = k;
    save();
    say(`${slip.outcome}: ${told(slip)}${slip.test ? ` (${slip.test})` : ''}`);
  }
}

async function tryKernels() {
  const open = draw.slips.filter((slip) => isText(slip.file) && isOpen(slip) && slip.round === undefined);
  for (const slip of open) {
    if (Date.now() > endsAt) return;
    Object.assign(slip, await judgeKernel(slip), { round: 0 });
    save();
    say(`${slip.outcome}: ${told(slip)}${slip.test ? ` (${slip.test})` : ''}`);
  }
  if (open.length > 0) await compile(tree);
}

function table() {
  say('| area | slips | noticed | survived | reached by no test |\n|---|---|---|---|---|');
  const compiled = draw.slips.filter(({ outcome }) => outcome && outcome !== 'does not compile' && outcome !== 'stale');
  const row = (name, slips) => {
    const of = (outcome) => slips.filter((slip) => slip.outcome === outcome).length;
    const same = slips.filter(({ same: why }) => why).length;
    const share = Math.round((100 * of('noticed')) / Math.max(1, slips.length - same));
    say(`| ${name} | ${slips.length} | ${of('noticed')} (${share} %) | ${of('survived')} | ${of('not reached')} |`);
  };
  for (const [area, slips] of [...Map.groupBy(compiled, ({ file }) => areaOf(file))].sort()) row(area, slips);
  row('all', compiled);
  for (const slip of compiled.filter(({ outcome }) => outcome !== 'noticed'))
    say(`${slip.id} ${slip.outcome}: ${told(slip)}`);
}

if (!args.includes('--table')) {
  if (args.includes('--survived'))
    for (const slip of draw.slips.filter(isOpen))
      Object.assign(slip, { round: undefined, near: undefined, outcome: undefined });
  if (args.includes('--survived')) draw.rounds = [];
  await prepare();
  if (side === 'typescript') await tryNearest();
  for (const [k, round] of ROUNDS[side].entries()) await tryRound(k, round);
  await tryKernels();
  const left = draw.slips.filter(({ outcome }) => outcome === undefined).length;
  if (left > 0) say(`${left} not tried: the time was up`);
}
table();
process.exitCode = draw.slips.some(
  ({ outcome, same }) => (outcome === 'survived' || outcome === 'not reached') && !same,
)
  ? 1
  : 0;
