// npm test: everything, one runner after the other, and the sum in the last line.
//   node test/run.mjs [--fast | --soak] [PATTERN ...]
//                                                 --fast: what fits into a minute (npm run check)
//                                                 --soak: random tests fifty times longer (npm run test:soak)
//                                                 PATTERN: only tests whose path has it, and no other checks
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sayProblem, sayStep } from '../app/launch/say.mjs';
import { browserPath, TOOLS } from '../app/launch/tools.mjs';
import { judged } from './support/skips.mjs';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const fast = args.includes('--fast');
const soak = args.includes('--soak');
const patterns = args.filter((arg) => !arg.startsWith('--'));
// Beside the tree's other caches: the system's temporary folder is everybody's to clean.
const counts = join(root, '.cache', 'counts', String(process.pid));
mkdirSync(counts, { recursive: true });
process.on('exit', () => rmSync(counts, { recursive: true, force: true }));

/** Runs a program with its output shown; resolves to its exit code. */
const show = (command, commandArgs, env = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, commandArgs, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    child.on('error', (error) => {
      sayProblem(`[${command}] ${error.message}`);
      resolve(127);
    });
    child.on('close', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });

const one = (code) => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [] });
const check =
  (command, ...commandArgs) =>
  async () =>
    one(await show(command, commandArgs));

async function cppFormat() {
  const { stdout } = spawnSync('git', ['ls-files', 'native', 'metal'], { cwd: root, encoding: 'utf8' });
  const files = stdout.split('\n').filter((file) => /\.(cc|h|mm|metal)$/.test(file));
  const program = ['clang-format-19', 'clang-format'].find((name) => isVersion19(name));
  if (!program) {
    const known =
      process.platform === 'linux' ? `install ${TOOLS.clangFormat.apt.join(' ')}` : 'needs Linux (clang-format 19)';
    return { passed: 0, failed: 0, skipped: [{ name: 'C++ format', reason: known }] };
  }
  return one(await show(program, ['--dry-run', '-Werror', ...files]));
}

const isVersion19 = (name) => / version 19\./.test(spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout ?? '');

/** With patterns each runner takes what matches, and nothing may match in one of them. */
const someOf = (mayBeNone) => (patterns.length > 0 ? [mayBeNone, ...patterns] : []);

async function unit() {
  const file = join(counts, 'unit.json');
  const code = await show(
    'vitest',
    [
      'run',
      '--config',
      'test/vitest.config.ts',
      '--reporter=default',
      '--reporter=./test/support/reporter.ts',
      ...someOf('--passWithNoTests'),
    ],
    {
      LONGHAND_COUNT: file,
      ...(fast && { LONGHAND_FAST: '1' }),
      ...(soak && { LONGHAND_SOAK: '1' }),
    },
  );
  return countIn(file, code, JSON.parse);
}

async function endToEnd() {
  const file = join(counts, 'e2e.json');
  const code = await show(
    'playwright',
    ['test', '--config', 'test/e2e/playwright.config.ts', '--reporter=list,json', ...someOf('--pass-with-no-tests')],
    {
      PLAYWRIGHT_JSON_OUTPUT_NAME: file,
      LONGHAND_BROWSER: browserPath() ?? '',
      ...(soak && { LONGHAND_SOAK: '1' }),
    },
  );
  return countIn(file, code, (text) => {
    const { stats, suites } = JSON.parse(text);
    return { passed: stats.expected + stats.flaky, failed: stats.unexpected, skipped: suites.flatMap(skippedIn) };
  });
}

/** Tests of a Playwright suite that were left out, with what `test.skip(condition, reason)` said. */
function skippedIn(suite) {
  const own = (suite.specs ?? []).flatMap((spec) =>
    spec.tests
      .filter((test) => test.status === 'skipped')
      .map((test) => ({
        name: `${suite.title} > ${spec.title}`,
        reason: test.annotations.find(({ type }) => type === 'skip' || type === 'fixme')?.description ?? '',
      })),
  );
  return [...own, ...(suite.suites ?? []).flatMap(skippedIn)];
}

/** A runner that ended badly without a failed test, or that counted nothing, has failed itself. */
function countIn(file, code, read) {
  if (!existsSync(file)) return { passed: 0, failed: code === 0 && patterns.length > 0 ? 0 : 1, skipped: [] };
  const count = read(readFileSync(file, 'utf8'));
  return code !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
}

const hasEndToEnd = existsSync(join(root, 'test', 'e2e', 'playwright.config.ts'));
const RUNNERS = [
  { name: 'format and lint', run: check('biome', 'check', '--config-path=test/lint/style.json', '.'), whole: true },
  { name: 'C++ format', run: cppFormat, whole: true },
  { name: 'types', run: check('tsc', '-b'), whole: true },
  { name: 'unit, golden and op tests', run: unit },
  { name: 'end to end', run: endToEnd, slow: true, absent: !hasEndToEnd },
];

const total = { passed: 0, failed: 0, skipped: [] };
const failedRunners = [];
for (const { name, run, whole, slow, absent } of RUNNERS) {
  if (absent || (fast && slow) || (whole && patterns.length > 0)) continue;
  sayStep(name);
  const count = await run();
  if (count.failed > 0) failedRunners.push(name);
  total.passed += count.passed;
  total.failed += count.failed;
  total.skipped.push(...count.skipped);
}

for (const { name, reason, expected } of judged(total.skipped)) {
  process.stdout.write(`skipped${expected ? '' : ' UNEXPECTEDLY'}: ${name}: ${reason || 'no reason given'}\n`);
  if (!expected && (process.env.CI || reason === '')) ++total.failed;
}
if (failedRunners.length > 0) process.stdout.write(`failed: ${failedRunners.join(', ')}\n`);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
