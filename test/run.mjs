// npm test: everything, one runner after the other, and the sum in the last line.
//   node test/run.mjs [--fast | --soak] [--minutes=N] [PATTERN ...]
//                                                 --fast: what fits into a minute (npm run check)
//                                                 --soak: random tests fifty times longer (npm run test:soak)
//                                                 --minutes: how long answers stream with --soak; an hour without
//                                                 PATTERN: only tests whose path has it, and no other checks
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withCompileCache } from '../app/launch/compile-cache.mjs';
import { sayStep } from '../app/launch/say.mjs';
import { TOOLS } from '../app/launch/tools.mjs';
import { endToEnd, show, unit } from './support/runner/runners.mjs';
import { withSecondTry } from './support/runner/second-try.mjs';
import { judged } from './support/runner/skips.mjs';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const fast = args.includes('--fast');
const soak = args.includes('--soak');
const patterns = args.filter((arg) => !arg.startsWith('--'));
const minutes = args.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length);
Object.assign(process.env, withCompileCache(root));
const env = {
  ...(fast && { LONGHAND_FAST: '1' }),
  ...(soak && { LONGHAND_SOAK: '1' }),
  ...(minutes && { LONGHAND_SOAK_MINUTES: minutes }),
};

const one = (name, code) => ({
  passed: code === 0 ? 1 : 0,
  failures: code === 0 ? [] : [{ file: '', name, message: `ended with ${code}` }],
  skipped: [],
});
const check =
  (command, ...commandArgs) =>
  async () =>
    one(command, await show(command, commandArgs));

async function cppFormat() {
  const { stdout } = spawnSync('git', ['ls-files', 'native', 'metal'], { cwd: root, encoding: 'utf8' });
  const files = stdout.split('\n').filter((file) => /\.(cc|h|mm|metal)$/.test(file));
  const program = ['clang-format-19', 'clang-format'].find((name) => isVersion19(name));
  if (!program) {
    const known =
      process.platform === 'linux' ? `install ${TOOLS.clangFormat.apt.join(' ')}` : 'needs Linux (clang-format 19)';
    return { passed: 0, failures: [], skipped: [{ file: '', name: 'C++ format', reason: known }] };
  }
  return one(program, await show(program, ['--dry-run', '-Werror', ...files]));
}

const isVersion19 = (name) => / version 19\./.test(spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout ?? '');

const hasEndToEnd = existsSync(join(root, 'test', 'e2e', 'playwright.config.ts'));
const RUNNERS = [
  { name: 'format and lint', run: check('biome', 'check', '--config-path=test/lint/style.json', '.'), whole: true },
  { name: 'C++ format', run: cppFormat, whole: true },
  { name: 'types', run: check('tsc', '-b'), whole: true },
  { name: 'unit, golden and op tests', run: unit, twice: true },
  ...['side by side', 'alone'].map((project) => ({
    name: `end to end, ${project}`,
    run: (...where) => endToEnd(project, ...where),
    twice: true,
    slow: true,
    absent: !hasEndToEnd,
  })),
];

const total = { passed: 0, failures: [], skipped: [], unsteady: [] };
for (const { name, run, whole, twice, slow, absent } of RUNNERS) {
  if (absent || (fast && slow) || (whole && patterns.length > 0)) continue;
  sayStep(name);
  const first = await run(patterns, env);
  const count =
    twice && process.env.CI ? await withSecondTry(first, (places) => run(places, env)) : { ...first, unsteady: [] };
  total.passed += count.passed;
  total.failures.push(...count.failures);
  total.skipped.push(...count.skipped);
  total.unsteady.push(...count.unsteady);
}

let failed = total.failures.length;
const closing = (line) => process.stdout.write(`${line}\n`);
for (const { name, reason, expected } of judged(total.skipped)) {
  closing(`skipped${expected ? '' : ' UNEXPECTEDLY'}: ${name}: ${reason || 'no reason given'}`);
  if (!expected && (process.env.CI || reason === '')) ++failed;
}
const said = ({ file, name, message }) => [file, name, message].filter(Boolean).join(': ');
for (const failure of total.unsteady) closing(`unsteady, passed on the second try: ${said(failure)}`);
for (const failure of total.failures) closing(`failed: ${said(failure)}`);
closing(`${total.passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
