// npm run bench: how fast this machine reads and writes, beside llama.cpp, in interleaved pairs.
//   npm run bench [-- --quick] [--part NAME] [--only TEXT] [--pairs N] [--threads 1,2] [--minutes N] [--device vulkan:0]
//                 [--instructions avx2] [--peer PATH | --no-peer] [--json FILE]
//   npm run bench -- --table      measures nothing; prints what results/ has of all processors, as in test/bench/README.md
// Measures real models, and files of random weights in published shapes, which are made when needed and deleted. Nothing is
// measured if the golden tests of the measured paths fail. --part is one of main, types, large, long, lengths; the default is all.
// Rows that would end after --minutes (40, or 5 with --quick) get fewer pairs or are listed as not measured. With --device vulkan
// both run on the GPU: llama.cpp through its own Vulkan build. --peer compares with another program that takes the options of
// llama-bench, for example that of ik_llama.cpp. --instructions holds both sides to one set, as on an older processor (Linux on
// x86-64). --json adds a line for each row and kind (prefill, decode) to FILE.
// Results: test/bench/results/<processor>.csv, and .md and .svg made from it (with --peer: <processor>-<program>). Older rows stay
// until they are measured again.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import { cacheFolder } from '../support/models/real-models.mjs';
import { BUILDS, json, measure, onlyWith, peerModule } from './llama/measure.mjs';
import { peaksOf, shares } from './llama/peaks.mjs';
import { chart, markdown, overview } from './llama/report.mjs';
import { partNames, rowsOf } from './llama/rows.mjs';
import { fromCsv, merged, toCsv } from './llama/table.mjs';
import { readOptions } from './options.mjs';
import { processorName } from './processor.mjs';
import { writeSynthetic } from './shapes/synthetic.mjs';

const root = join(import.meta.dirname, '..', '..');
const { values } = readOptions(import.meta.filename, {
  options: {
    quick: { type: 'boolean', default: false },
    part: { type: 'string' },
    only: { type: 'string' },
    pairs: { type: 'string' },
    threads: { type: 'string' },
    minutes: { type: 'string' },
    device: { type: 'string', default: 'cpu' },
    peer: { type: 'string' },
    'no-peer': { type: 'boolean', default: false },
    instructions: { type: 'string' },
    json: { type: 'string' },
    table: { type: 'boolean', default: false },
  },
});
if (values.table) {
  process.stdout.write(overview(join(root, 'test', 'bench', 'results')));
  process.exit(0);
}
if (values.peer !== undefined && !existsSync(values.peer)) {
  console.error(
    `[bench] --peer ${values.peer}: there is no such file; a program with the options of llama-bench is needed`,
  );
  process.exit(2);
}
if (values.part !== undefined && !partNames.includes(values.part)) {
  console.error(`[bench] --part ${values.part}: the parts are ${partNames.join(', ')}`);
  process.exit(2);
}
for (const name of ['pairs', 'minutes', 'threads']) {
  if (/^[1-9]\d*(,[1-9]\d*)*$/.test(values[name] ?? '1')) continue;
  console.error(`[bench] --${name} ${values[name]}: a whole number from 1 is allowed`);
  process.exit(2);
}
const refusal = values.instructions === undefined ? undefined : refused(values);
if (refusal) {
  console.error(`[bench] --instructions ${values.instructions}: ${refusal}`);
  process.exit(2);
}
const pairs = Number(values.pairs ?? (values.quick ? 3 : 5));
const onGpu = values.device !== 'cpu';
const threadCounts = (values.threads ?? (cpus().length > 1 && !onGpu ? '1,2' : '1')).split(',').map(Number);

/** The exact path of every family that is measured, and the distance of the fast path from it on a real model. */
const GOLDENS = onGpu
  ? [`${values.device.split(':')[0]}/golden`]
  : ['golden/starter', 'golden/real-models', 'golden/gguf'];

function goldensPass() {
  const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...GOLDENS], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0;
}

/** The name of the measured device. */
function gpuName() {
  const { devices } = json(process.execPath, ['app/cli/main.ts', 'devices', '--json']);
  const wanted = values.device === 'vulkan' ? 'vulkan:0' : values.device;
  return devices.find(({ id }) => id === wanted)?.name ?? values.device;
}

function machine() {
  const flags = existsSync('/proc/cpuinfo')
    ? (/^flags\s*: (.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? '').split(' ')
    : [];
  const told = flags.filter((flag) => /^(avx2|avx_vnni|avx512_vnni|avx512_bf16|amx_int8|amx_bf16|sse4_2)$/.test(flag));
  return {
    cpu: onGpu ? gpuName() : processorName(),
    flags: told.join(' ') || 'not told',
    peaks: Object.fromEntries(onGpu ? [] : threadCounts.map((threads) => [threads, peaksOf(threads)])),
    left: [],
  };
}

const files = new Map();
const forget = () => {
  for (const file of files.values()) for (const path of [file, `${file}.part`]) rmSync(path, { force: true });
  files.clear();
};
process.on('exit', forget);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** The file of a model; a synthetic one is kept until a row needs another. */
async function fileOf({ name, path, shape, type }) {
  if (path) return path();
  if (!files.has(name)) {
    forget();
    const folder = join(cacheFolder(), 'synthetic');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${name.replace(/[^\w.-]+/g, '-')}-${process.pid}.gguf`);
    files.set(name, file);
    writeSynthetic(shape, type, file);
  }
  return files.get(name);
}

/** Why both sides cannot be held to this set here. */
function refused({ instructions, device, peer }) {
  if (!BUILDS[instructions]) return `the sets are ${Object.keys(BUILDS).join(', ')}`;
  if (peer !== undefined) return 'another program with --peer chooses for itself';
  if (device !== 'cpu') return 'only with --device cpu';
  const { testing } = createRequire(import.meta.url)(join(root, 'build/native/Release/longhand.node'));
  const present = testing.cpuInstructions();
  return present.includes(instructions) ? undefined : `this processor has ${present.join(', ')}`;
}

function peerOfRun() {
  if (values['no-peer']) return null;
  if (values.peer) return { program: values.peer };
  const module = peerModule();
  if (!module) return null;
  return { module: values.instructions ? onlyWith(module, values.instructions) : module };
}

/** Yields the rows as they are measured. */
async function* results(about, peer) {
  const when = new Date().toISOString().slice(0, 10);
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  for (const { model, read, write, threads } of rowsOf({ ...values, threadCounts })) {
    if (performance.now() > end) {
      about.left.push(`${model.name}, ${read} + ${write}, ${threads} thread(s)`);
      continue;
    }
    const job = {
      name: model.name,
      model: await fileOf(model),
      read,
      write,
      threads,
      device: values.device,
      instructions: values.instructions,
    };
    const row = measure(job, peer, pairs, end);
    const { products, bandwidth } = shares(row, about.peaks[threads]);
    yield { ...row, date: when, commit, productShare: products, bandwidthShare: bandwidth };
  }
}

/** A line for each row and kind. */
function tell(row, { cpu }) {
  const { model, read, write, threads, instructions, commit } = row;
  for (const [kind, tokens] of [
    ['prefill', read],
    ['decode', write],
  ]) {
    const [ours, theirs, ratio] = ['', 'Peer', 'Ratio'].map((of) => row[kind + of]?.median ?? null);
    const line = {
      model,
      tokens,
      threads,
      kind,
      ours,
      theirs,
      ratio,
      commit,
      processor: cpu,
      path: 'fast',
      instructions,
    };
    appendFileSync(values.json, `${JSON.stringify(line)}\n`);
  }
}

/** Writes the files of this machine. */
function keep(fresh, about) {
  const slug = [about.cpu, ...(values.peer ? [basename(values.peer)] : [])]
    .join(' ')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const folder = join(root, 'test', 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  const [table, text, drawing] = ['csv', 'md', 'svg'].map((ending) => join(folder, `${slug}.${ending}`));
  const rows = merged(existsSync(table) ? fromCsv(readFileSync(table, 'utf8')) : [], fresh);
  writeFileSync(table, toCsv(rows));
  writeFileSync(text, markdown(rows, about));
  const bars = chart(rows, about);
  if (bars) writeFileSync(drawing, bars);
}

if (!goldensPass()) {
  console.error('[bench] the golden tests of the measured paths fail: no speed is worth printing');
  process.exit(1);
}
// The tests do not count towards --minutes.
const end = performance.now() + Number(values.minutes ?? (values.quick ? 5 : 40)) * 60_000;
const about = machine();
about.loop = json(process.execPath, ['test/bench/loops/cost.ts']).microseconds;
const fresh = [];
// A run that is interrupted keeps what it has measured.
for await (const row of results(about, peerOfRun())) {
  fresh.push(row);
  if (values.json) tell(row, about);
  keep(fresh, about);
}
keep(fresh, about);
process.stdout.write(markdown(fresh, about));
