// The steps of npm run mac. Each returns what the report shows: summary, table, failures and notes ({name, message}), and figures
// for the JSON. A step that throws is recorded, and the next one runs.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileOne, hasTensors, inParallel, writeTexts } from '../../../app/launch/metallib.mjs';
import { ended } from './ended.mjs';
import { rehearse } from './rehearsal.mjs';
import { idle, mlx, products, profile, speed, tuner } from './speed.mjs';

async function build({ root }) {
  const { code, said } = await ended(process.execPath, ['app/launch/setup.mjs', 'test'], { cwd: root, minutes: 20 });
  const warnings = said.split('\n').filter((line) => /\bwarning:/.test(line));
  return {
    summary: code === 0 ? `${warnings.length} warnings` : `ended with ${code}`,
    failures: code === 0 ? [] : [{ name: 'npm run build:native', message: said.split('\n').slice(-60).join('\n') }],
    notes: warnings.length ? [{ name: 'warnings', message: warnings.join('\n') }] : [],
    log: said,
  };
}

const labelOf = ({ name, layout }) => (layout ? `${name} ${layout}` : name);

/** The texts, each with its layouts; those with tensors where the system has them. */
async function withTexts({ machine }, work) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-mac-'));
  try {
    const [major, minor = 0] = machine.system.split('.').map(Number);
    const tensors = major > 26 || (major === 26 && minor >= 2);
    const all = await writeTexts(folder);
    return await work(
      folder,
      all.filter(({ name }) => tensors || !hasTensors(join(folder, `${name}.metal`))),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const compileByXcode = (context) =>
  withTexts(context, async (folder, wanted) => {
    const results = await inParallel(wanted, (each) =>
      compileOne(folder, folder, each).then(
        ({ said }) => ({ name: labelOf(each), said }),
        (error) => ({ name: labelOf(each), error: error.message }),
      ),
    );
    const failures = results.filter(({ error }) => error).map(({ name, error }) => ({ name, message: error }));
    const notes = results.filter(({ said }) => said).map(({ name, said }) => ({ name, message: said }));
    return { summary: `${results.length - failures.length} of ${results.length} libraries`, failures, notes };
  });

/** The same texts through the system's own compiler, by a small program. */
const compileBySystem = (context) =>
  withTexts(context, async (folder, wanted) => {
    const program = join(context.out, 'libraries');
    const source = join(context.root, 'test/bench/mac/libraries.mm');
    const flags = [
      '-std=c++20',
      '-fobjc-arc',
      '-mmacosx-version-min=14.0',
      '-framework',
      'Metal',
      '-framework',
      'Foundation',
    ];
    const built = await ended('xcrun', ['clang++', ...flags, '-o', program, source]);
    if (built.code !== 0) throw new Error(built.said);
    const words = wanted.flatMap(({ name, layout }) => [join(folder, `${name}.metal`), layout || '-']);
    const { code, said } = await ended(program, words);
    const lines = said
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const failures = lines.filter(({ ok }) => !ok).map(({ name, message }) => ({ name, message }));
    if (code !== 0 || lines.length !== wanted.length)
      failures.push({
        name: 'the program',
        message: `${lines.length} of ${wanted.length} texts, then ${code}: ${said.slice(-2000)}`,
      });
    const notes = lines.filter(({ ok, message }) => ok && message).map(({ name, message }) => ({ name, message }));
    const ms = lines.map(({ milliseconds }) => milliseconds);
    return {
      summary: `${lines.length - failures.length} of ${wanted.length} libraries; the slowest took ${Math.max(0, ...ms).toFixed(0)} ms`,
      failures,
      notes,
      lines,
    };
  });

/** Vitest on the tests that run on the GPU, with the message of every failure. */
async function tests({ root, out, quick }, name, env) {
  mkdirSync(out, { recursive: true });
  const json = join(out, `tests-${name}.json`);
  const what = quick ? ['ops', 'metal/golden', 'metal/shape-limits', 'metal/forms'] : ['ops', 'metal', 'golden'];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--config', 'test/vitest.config.ts', '--reporter=json', `--outputFile=${json}`, ...what];
  rmSync(json, { force: true });
  const { code, said } = await ended(process.execPath, [vitest, ...words], { cwd: root, env, minutes: quick ? 4 : 12 });
  let results;
  try {
    results = JSON.parse(readFileSync(json, 'utf8'));
  } catch {
    throw new Error(`vitest ended with ${code} and without results:\n${said.slice(-4000)}`);
  }
  const all = results.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failures = all
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => ({ name: fullName, message: failureMessages.join('\n') }));
  const validation = said.split('\n').filter((line) => /validation|MTLDebug|-\[MTL/i.test(line));
  return {
    summary: `${results.numPassedTests} passed, ${results.numFailedTests} failed, ${results.numPendingTests} skipped`,
    failures,
    notes: validation.length ? [{ name: 'what the validation layer said', message: validation.join('\n') }] : [],
  };
}

const VALIDATION = { MTL_DEBUG_LAYER: '1', MTL_SHADER_VALIDATION: '1', MTL_DEBUG_LAYER_ERROR_MODE: 'nslog' };

/** `long`: skipped with --quick. */
export const STEPS = [
  { name: 'build', title: 'the addon from its sources, with every warning', run: build },
  { name: 'xcode', title: 'every kernel for every layout, by xcrun metal', run: compileByXcode },
  { name: 'system', title: 'the same texts by newLibraryWithSource', run: compileBySystem },
  {
    name: 'pipelines',
    title: 'every pipeline that published shapes need: thread limits, threadgroup memory, time, archive',
    run: rehearse,
  },
  { name: 'tests', title: 'ops and golden models on the GPU', run: (context) => tests(context, 'plain', {}) },
  {
    name: 'validation',
    title: "the same under Apple's API and shader validation",
    long: true,
    run: (context) => tests(context, 'validation', VALIDATION),
  },
  { name: 'tuner', title: 'what this chip does best, measured in the foreground', run: tuner },
  { name: 'products', title: 'prompts in fp32, in halves and by the tensor operations of an M5', run: products },
  { name: 'speed', title: 'interleaved pairs with llama.cpp on Metal', run: speed },
  { name: 'mlx', title: 'interleaved pairs with mlx-lm', long: true, run: mlx },
  { name: 'profile', title: 'the time of each kernel, and one pass captured for Xcode', run: profile },
  {
    name: 'idle',
    title: 'the first token after ten minutes, memory after unloading, a cancelled answer',
    long: true,
    run: idle,
  },
];
