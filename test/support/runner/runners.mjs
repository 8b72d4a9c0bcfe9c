// The two test runners as functions that count: what passed, what failed and why, what was skipped.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sayProblem } from '../../../app/launch/say.mjs';
import { browserPath } from '../../../app/launch/tools.mjs';

/** @typedef {{ file: string, name: string, message: string }} Failure
 *  @typedef {{ passed: number, failures: Failure[], skipped: { file: string, name: string, reason: string }[] }} Count */

const root = join(import.meta.dirname, '../../..');
// Kept with the tree's other caches: anything may clean the system's temporary folder.
const counts = join(root, '.cache', 'counts', String(process.pid));
mkdirSync(counts, { recursive: true });
process.on('exit', () => rmSync(counts, { recursive: true, force: true }));

/** Runs a program with its output shown; resolves to its exit code. */
export const show = (command, args, env = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    child.on('error', (error) => {
      sayProblem(`[${command}] ${error.message}`);
      resolve(127);
    });
    child.on('close', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });

/** Runs Vitest on the files whose path contains one of `patterns`; on all files if there are none. @returns {Promise<Count>} */
export async function unit(patterns, env) {
  const file = join(counts, 'unit.json');
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', '--reporter=./test/support/runner/reporter.ts'];
  const code = await show(
    'vitest',
    ['run', '--config', 'test/vitest.config.ts', ...reporters, ...someOf('--passWithNoTests', patterns)],
    { LONGHAND_COUNT: file, ...env },
  );
  return countIn(file, code, patterns, (text) => JSON.parse(text));
}

/** The same with Playwright. @returns {Promise<Count>} */
export async function endToEnd(project, patterns, env) {
  const file = join(counts, 'e2e.json');
  rmSync(file, { force: true });
  const code = await show(
    'playwright',
    [
      'test',
      '--config',
      'test/e2e/playwright.config.ts',
      `--project=${project}`,
      '--reporter=list,json',
      ...someOf('--pass-with-no-tests', patterns),
    ],
    { PLAYWRIGHT_JSON_OUTPUT_NAME: file, LONGHAND_BROWSER: browserPath() ?? '', ...env },
  );
  return countIn(file, code, patterns, endToEndCount);
}

/** With patterns, a runner may find nothing that matches. */
const someOf = (mayBeNone, patterns) => (patterns.length > 0 ? [mayBeNone, ...patterns] : []);

/** A runner that exits with an error but no failed test, or that counts nothing, has itself failed. */
function countIn(file, code, patterns, read) {
  const itself = { file: '', name: 'the runner itself', message: `ended with ${code}` };
  if (!existsSync(file)) return { passed: 0, failures: code === 0 && patterns.length > 0 ? [] : [itself], skipped: [] };
  const count = read(readFileSync(file, 'utf8'));
  return code !== 0 && count.failures.length === 0 ? { ...count, failures: [itself] } : count;
}

/** @returns {Count} */
export function endToEndCount(text) {
  const { stats, suites, errors = [] } = JSON.parse(text);
  const specs = suites.flatMap((suite) => specsIn(suite));
  const of = (status) =>
    specs.flatMap((spec) => spec.tests.filter((test) => test.status === status).map((test) => ({ spec, test })));
  return {
    passed: stats.expected,
    failures: [
      ...of('unexpected').map(({ spec, test }) => ({
        file: `test/e2e/${spec.file}`,
        name: spec.name,
        message: firstLine(test.results.at(-1)?.error?.message ?? ''),
      })),
      ...errors.map(({ message }) => ({ file: '', name: 'outside of a test', message: firstLine(message ?? '') })),
    ],
    // The reason given to `test.skip(condition, reason)`.
    skipped: of('skipped').map(({ spec, test }) => ({
      file: `test/e2e/${spec.file}`,
      name: spec.name,
      reason: test.annotations.find(({ type }) => type === 'skip' || type === 'fixme')?.description ?? '',
    })),
  };
}

/** The specs of a Playwright suite and of its nested suites, with the names of the suites they are in. */
const specsIn = (suite, before = []) => {
  const titles = [...before, suite.title];
  const own = (suite.specs ?? []).map((spec) => ({ ...spec, name: [...titles, spec.title].join(' > ') }));
  return [...own, ...(suite.suites ?? []).flatMap((inner) => specsIn(inner, titles))];
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: runners colour their messages
const firstLine = (message) => message.replace(/\x1b\[[\d;]*m/g, '').split('\n', 1)[0];
