// Pairs of measured runs, ours and then the peer's, each in a process of its own with its own warm-up.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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

const ours = ({ model, read, write, threads, device }) =>
  json(process.execPath, ['test/bench/llama/own.mjs', model, read, write, threads, device]);

/** Null if the peer cannot run the model, and the reason is printed. */
function theirs(module, { name, model, read, write, threads, device }) {
  const kind = device.split(':')[0];
  try {
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
function measurePairs(job, module, pairs, end) {
  const rows = [];
  let compared = module !== null;
  let longest = 0;
  while (rows.length < pairs && (rows.length === 0 || performance.now() + longest < end)) {
    const began = performance.now();
    const own = ours(job);
    const peer = compared ? theirs(module, job) : null;
    compared = peer !== null;
    rows.push({ own, peer });
    longest = Math.max(longest, performance.now() - began);
    process.stderr.write(
      `  ${job.name}, ${job.read} + ${job.write}, ${job.threads} thread(s): pair ${rows.length} of ${pairs}\n`,
    );
  }
  return rows;
}

const FIGURES = ['prefill', 'decode', 'firstTokenMs', 'loadMs', 'memory'];

/** One row of the results: figures with their spread, and their ratio to the peer's. */
export function measure(job, module, pairs, end) {
  const load = loadavg()[0];
  const rows = measurePairs(job, job.model.endsWith('.gguf') ? module : null, pairs, end);
  const compared = rows.every(({ peer }) => peer !== null);
  const [{ own }] = rows;
  const ratio = (name) => (compared ? spread(rows.map((row) => row.own[name] / row.peer[name])) : null);
  return {
    ...Object.fromEntries(FIGURES.map((name) => [name, spread(rows.map((row) => row.own[name]))])),
    ...Object.fromEntries(FIGURES.map((name) => [`${name}Ratio`, ratio(name)])),
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
