// Pairs of measured runs, ours and then the peer's, each in a process of its own with its own warm-up.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFolder } from '../../support/models/real-models.mjs';

const root = join(import.meta.dirname, '../../..');
const PEER = 'node-llama-cpp@3.22.1';

/** The last line that a program prints, as JSON. */
export const json = (command, args, env = {}) =>
  JSON.parse(
    execFileSync(command, args.map(String), {
      cwd: root,
      env: { ...process.env, ...env },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
      .trim()
      .split('\n')
      .at(-1),
  );

/** The peer's package, kept outside the tree; null if it cannot be had, and the reason is printed. */
export function peerModule() {
  const folder = join(cacheFolder(), 'peer');
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    const install = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', PEER], {
      stdio: 'ignore',
    });
    if (install.status !== 0 || !existsSync(entry)) {
      console.error(`[bench] ${PEER} cannot be installed here: only our own figures`);
      return null;
    }
  }
  return pathToFileURL(entry).href;
}

/** The builds of llama.cpp for what our sets of the same name use. It takes the best that it finds and the processor can run. */
export const BUILDS = {
  amx: ['sapphirerapids'],
  avx512bf16: ['zen4'],
  avx512: ['icelake'],
  avxvnni: ['alderlake'],
  avx2: ['haswell'],
  'sse4.2': ['sse42'],
};

/** A copy of the peer's package, made of links, that has no other builds for CPUs than those of one instruction set. */
export function onlyWith(entry, instructions) {
  const folder = join(fileURLToPath(entry), ...Array(4).fill('..'));
  const copy = `${folder}-${instructions}`;
  rmSync(copy, { recursive: true, force: true });
  execFileSync('cp', ['-al', folder, copy]);
  for (const file of readdirSync(copy, { recursive: true })) {
    const [, build] = /libggml-cpu-(\w+)\.so$/.exec(file) ?? [];
    if (build && !BUILDS[instructions].includes(build)) rmSync(join(copy, file));
  }
  return pathToFileURL(join(copy, relative(folder, fileURLToPath(entry)))).href;
}

const ours = ({ model, read, write, threads, device, instructions }) =>
  json(
    process.execPath,
    ['test/bench/llama/own.mjs', model, read, write, threads, device],
    instructions ? { LONGHAND_CPU_ISA: instructions } : {},
  );

/** The figures of a llama-bench, of llama.cpp or of a relative of it; it tells neither memory nor how long a model loads. */
export function byProgram(program, { model, read, write, threads }) {
  const args = ['-m', model, '-p', read, '-n', write, '-t', threads, '-r', 1, '-o', 'json'];
  const tests = JSON.parse(
    execFileSync(program, args.map(String), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  const speed = (of) => tests.find(of)?.avg_ts ?? Number.NaN;
  const prefill = speed((test) => test.n_prompt === read && test.n_gen === 0);
  const decode = speed((test) => test.n_gen === write && test.n_prompt === 0);
  if (!(prefill > 0 && decode > 0)) throw new Error(`${program} gives no speeds`);
  return { prefill, decode, firstTokenMs: (read * 1000) / prefill, loadMs: null, memory: null };
}

/** Null if the peer cannot run the model, and the reason is printed. */
function theirs({ module, program }, job) {
  const { name, model, read, write, threads, device } = job;
  const kind = device.split(':')[0];
  try {
    if (program) return byProgram(program, job);
    return json(process.execPath, ['test/bench/llama/llama.mjs', module, model, read, write, threads, kind]);
  } catch (error) {
    const words = String(error.stderr || error.message).trim();
    console.error(`[bench] llama.cpp does not run ${name}, only our own figures: ${words.split('\n')[0]}`);
    return null;
  }
}

/** The median of an even count is the mean of the middle two. */
export function spread(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return { median, least: sorted[0], most: sorted.at(-1) };
}

/** Up to `pairs` pairs; fewer, but at least one, if another would end after `end`. Ratios are taken pair by pair, so that a
 *  machine whose speed drifts does not distort them. */
function measurePairs(job, peer, pairs, end) {
  const rows = [];
  let compared = peer !== null;
  let longest = 0;
  while (rows.length < pairs && (rows.length === 0 || performance.now() + longest < end)) {
    const began = performance.now();
    const own = ours(job);
    const other = compared ? theirs(peer, job) : null;
    compared = other !== null;
    rows.push({ own, peer: other });
    longest = Math.max(longest, performance.now() - began);
    process.stderr.write(
      `  ${job.name}, ${job.read} + ${job.write}, ${job.threads} thread(s): pair ${rows.length} of ${pairs}\n`,
    );
  }
  return rows;
}

const FIGURES = ['prefill', 'decode', 'firstTokenMs', 'loadMs', 'memory'];

/** One row of the results: figures with their spread, the peer's, and their ratios. `peer`: {module} of peerModule() or {program}, a
 *  llama-bench; null for none. */
export function measure(job, peer, pairs, end) {
  const load = loadavg()[0];
  const rows = measurePairs(job, job.model.endsWith('.gguf') ? peer : null, pairs, end);
  const told = (name) => rows.every((row) => (row.peer?.[name] ?? null) !== null);
  const [{ own }] = rows;
  const ofPairs = (name, of) => (told(name) ? spread(rows.map((row) => of(row.own[name], row.peer[name]))) : null);
  return {
    ...Object.fromEntries(FIGURES.map((name) => [name, spread(rows.map((row) => row.own[name]))])),
    ...Object.fromEntries(FIGURES.map((name) => [`${name}Peer`, ofPairs(name, (_own, other) => other)])),
    ...Object.fromEntries(FIGURES.map((name) => [`${name}Ratio`, ofPairs(name, (mine, other) => mine / other)])),
    model: job.name,
    read: job.read,
    write: job.write,
    threads: job.threads,
    instructions: own.instructions,
    pairs: rows.length,
    load,
    work: own.work,
  };
}
