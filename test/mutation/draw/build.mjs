// The engine with all mutants of a draw in it, each switched by the environment; a mutant that does not compile is left out.
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { runIn } from '../tree.mjs';
import { instrumented } from './instrument.mjs';

const LIMIT_MS = 30 * 60_000;
const MOST_BUILDS = 12;

/** Writes the files that carry mutants, all but `without`; where each stands then, by number. */
export function carry(tree, root, sites, without = new Set()) {
  const lines = new Map();
  for (const [file, all] of Map.groupBy(sites, (site) => site.file)) {
    const text = readFileSync(join(root, file), 'utf8');
    const kept = all.filter(({ id }) => !without.has(id));
    const now = kept.length > 0 ? instrumented(text, kept, lines) : text;
    // What is as it was is not built again.
    if (readFileSync(join(tree, file), 'utf8') !== now) writeFileSync(join(tree, file), now);
  }
  return lines;
}

/** Mutants in the lines that the compiler complains of. */
function blamed(tree, output, sites, lines) {
  const bad = new Set();
  for (const [, path, at] of output.matchAll(/^(\S+?):(\d+):\d+: +(?:fatal )?(?:error|required from|in)/gm)) {
    const whole = resolve(tree, 'build/native', path);
    const file = existsSync(whole) ? relative(realpathSync(tree), realpathSync(whole)) : '';
    for (const { id, file: of } of sites) {
      const [first, last] = lines.get(id) ?? [];
      if (of === file && Number(at) >= first && Number(at) <= last) bad.add(id);
    }
  }
  return bad;
}

/** Builds with all of `sites` but those that do not compile; `leaveOut` is told their numbers. */
export async function build(tree, root, sites, leaveOut) {
  const out = new Set();
  let lines = carry(tree, root, sites);
  if (!existsSync(join(tree, 'build/native/build.ninja'))) {
    const { code, output } = await runIn(tree, 'cmake-js', ['configure', '-d', 'native', '-O', 'build/native'], {
      limitMs: LIMIT_MS,
    });
    if (code !== 0) throw new Error(`it cannot be configured: ${output.slice(-2000)}`);
  }
  for (let k = 0; k < MOST_BUILDS; k += 1) {
    const { code, output } = await compile(tree);
    if (code === 0) return;
    const bad = blamed(tree, output, sites, lines);
    if (bad.size === 0) throw new Error(`it does not build, and no mutant is to blame: ${output.slice(-3000)}`);
    for (const id of bad) out.add(id);
    leaveOut(bad);
    lines = carry(tree, root, sites, out);
  }
  throw new Error(`it does not build after ${MOST_BUILDS} attempts`);
}

export const compile = (tree) =>
  runIn(tree, 'cmake', ['--build', 'build/native', '--parallel', '2', '--', '-k', '0'], { limitMs: LIMIT_MS });

const SPIRV = 'native/vulkan/spirv';
/** Builds a kernel that was written anew: of Metal its text, of Vulkan the words of the compiler. */
export async function compileKernel(tree, file) {
  if (/\.(comp|glsl)$/.test(file)) {
    const { code } = await runIn(tree, 'node', ['native/vulkan/shaders/compile.mjs', SPIRV], { limitMs: LIMIT_MS });
    if (code !== 0) return false;
  }
  return (await compile(tree)).code === 0;
}
