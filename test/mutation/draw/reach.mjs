// One run of the tests without any mutant: how long each file takes, which mutants it reaches, and whether it passes at all.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runIn } from '../tree.mjs';

const HOUR_MS = 3_600_000;

export const vitest = (tree, args, env, limitMs) =>
  runIn(tree, 'vitest', ['run', '--config', ...args], { limitMs, env });

/** `{ [test file]: { ms, reaches: id[] } }` of those that pass. */
export async function reach(tree, state, { where, env }) {
  const [folder, report] = [join(state, 'reached'), join(state, 'reach.json')];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  rmSync(report, { force: true });
  const args = ['test/mutation/draw/vitest.config.ts', '--reporter=json', `--outputFile=${report}`];
  const { output } = await vitest(
    tree,
    [...args, '--maxWorkers=1', ...where],
    { ...env, LONGHAND_MUTANTS_FOLDER: folder, LONGHAND_MUTANTS_TREE: tree },
    HOUR_MS,
  );
  if (!existsSync(report)) throw new Error(`the tests did not run: ${output.slice(-2000)}`);
  const reached = new Map(
    readdirSync(folder).map((name) => {
      const ids = readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean).map(Number);
      return [decodeURIComponent(name), [...new Set(ids)]];
    }),
  );
  const files = {};
  for (const { name, status, startTime, endTime } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const file = relative(tree, name);
    if (status === 'passed') files[file] = { ms: endTime - startTime, reaches: reached.get(file) ?? [] };
    else process.stdout.write(`left out, it fails without any mutant: ${file}\n`);
  }
  return files;
}
