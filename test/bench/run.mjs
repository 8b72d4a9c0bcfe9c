// npm run bench: how fast this machine reads and writes, beside llama.cpp, in interleaved pairs.
//   npm run bench [-- --quick] [--pairs N] [--threads 1,2] [--device vulkan:0] [--no-peer]
// With --device vulkan both run on the GPU: llama.cpp through its own Vulkan build.
// Each pair runs ours, then the peer, each in a process of its own with its own warm-up; the ratio is taken pair by pair and
// its median is reported, so that a machine whose speed drifts does not decide. No speed is printed when the golden tests
// of the measured paths fail. Results: test/bench/results/<processor>.md and .csv.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { cacheFolder, realModel } from '../support/real-models.mjs';

const root = join(import.meta.dirname, '..', '..');
const PEER = 'node-llama-cpp@3.22.1';
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    pairs: { type: 'string' },
    threads: { type: 'string' },
    device: { type: 'string', default: 'cpu' },
    peer: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const pairs = Number(values.pairs ?? (values.quick ? 3 : 5));
const onGpu = values.device !== 'cpu';
const threadCounts = (values.threads ?? (cpus().length > 1 && !onGpu ? '1,2' : '1')).split(',').map(Number);

const GOLDENS = onGpu ? ['vulkan/golden'] : ['golden/starter', 'golden/real-models'];

function goldensPass() {
  const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...GOLDENS], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0;
}

/** The peer's package, kept outside the tree; null when it cannot be had, with the reason said. */
function peerModule() {
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

const json = (command, args) =>
  JSON.parse(
    execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split('\n')
      .at(-1),
  );

function ours(model, { read, write, threads }) {
  const report = json(
    process.execPath,
    [
      ...['app/cli/main.ts', 'bench', '--model', model, '--read', read, '--write', write],
      ...['--runs', 1, '--threads', threads, '--path', 'fast', '--device', values.device, '--json'].map(String),
    ].map(String),
  );
  return {
    prefill: report.prefill_tokens_per_second.median,
    decode: report.decode_tokens_per_second.median,
    firstTokenMs: report.first_token_ms.median,
    memory: report.peak_memory_bytes,
  };
}

const theirs = (module, model, { read, write, threads }) =>
  json(
    process.execPath,
    ['test/bench/llama.mjs', module, model, read, write, threads, onGpu ? 'vulkan' : 'cpu'].map(String),
  );

function spread(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { median: at(0.5), least: sorted[0], most: sorted.at(-1) };
}

function measure(job, module) {
  const rows = [];
  for (let pair = 0; pair < pairs; pair++) {
    const own = ours(job.model, job);
    const peer = module && job.model.endsWith('.gguf') ? theirs(module, job.model, job) : null;
    rows.push({ own, peer });
    process.stderr.write(`  ${job.name}, ${job.threads} thread(s): pair ${pair + 1} of ${pairs}\n`);
  }
  const column = (read) => spread(rows.map(read));
  const compared = rows[0].peer !== null;
  return {
    ...job,
    load: loadavg()[0],
    prefill: column(({ own }) => own.prefill),
    decode: column(({ own }) => own.decode),
    firstTokenMs: column(({ own }) => own.firstTokenMs),
    memory: Math.max(...rows.map(({ own }) => own.memory)),
    prefillRatio: compared ? column(({ own, peer }) => own.prefill / peer.prefill) : null,
    decodeRatio: compared ? column(({ own, peer }) => own.decode / peer.decode) : null,
  };
}

const whole = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
const shown = ({ median, least, most }) => `${whole(median)} (${whole(least)}–${whole(most)})`;
const ratio = (value) =>
  value ? `${value.median.toFixed(2)} (${value.least.toFixed(2)}–${value.most.toFixed(2)})` : '–';

function markdown(results, about, watch) {
  const head =
    '| model | threads | prefill, tok/s | × llama.cpp | decode, tok/s | × llama.cpp | first token, ms | peak memory, MB |';
  const rows = results.map(
    (row) =>
      `| ${row.name}, ${row.read} + ${row.write} | ${row.threads} | ${shown(row.prefill)} | ${ratio(row.prefillRatio)} | ${shown(row.decode)} | ${ratio(row.decodeRatio)} | ${shown(row.firstTokenMs)} | ${(row.memory / 1e6).toFixed(0)} |`,
  );
  return `# ${about.cpu}\n\n${about.date}, commit ${about.commit}, Node ${process.version}, load before ${about.load.toFixed(2)}, ${pairs} interleaved pairs,\nmedian (least–most). Instruction sets: ${about.flags}.\n\n${head}\n|---|---|---|---|---|---|---|---|\n${rows.join('\n')}\n\nLoop detector: ${watch.toFixed(2)} µs of one processor a token.\n`;
}

function csv(results, about) {
  const head =
    'date,commit,model,read,write,threads,prefill,prefill_ratio,decode,decode_ratio,first_token_ms,peak_memory,load';
  const rows = results.map((row) =>
    [
      about.date,
      about.commit,
      row.name,
      row.read,
      row.write,
      row.threads,
      row.prefill.median,
      row.prefillRatio?.median ?? '',
      row.decode.median,
      row.decodeRatio?.median ?? '',
      row.firstTokenMs.median,
      row.memory,
      row.load,
    ].join(','),
  );
  return `${head}\n${rows.join('\n')}\n`;
}

/** The measured device as it calls itself. */
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
    cpu: onGpu ? gpuName() : (cpus()[0]?.model.trim() ?? 'unknown processor'),
    load: loadavg()[0],
    flags: told.join(' ') || 'not told',
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
  };
}

if (!goldensPass()) {
  console.error('[bench] the golden tests of the measured paths fail: no speed is worth printing');
  process.exit(1);
}
const about = machine();
const module = values.peer ? peerModule() : null;
const smollm2 = await realModel('smollm2');
const jobs = threadCounts.flatMap((threads) => [
  { name: 'starter bf16', model: 'starter', read: 128, write: 64, threads },
  { name: 'SmolLM2-135M Q4_1', model: smollm2, read: 128, write: 64, threads },
  ...(values.quick ? [] : [{ name: 'SmolLM2-135M Q4_1', model: smollm2, read: 512, write: 64, threads }]),
]);
const results = jobs.map((job) => measure(job, module));
const { microseconds } = json(process.execPath, ['test/bench/loop.ts']);
const text = markdown(results, about, microseconds);
const slug = about.cpu
  .toLowerCase()
  .replace(/[^a-z0-9]+/g, '-')
  .replace(/^-|-$/g, '');
const folder = join(root, 'test', 'bench', 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, `${slug}.md`), text);
writeFileSync(join(folder, `${slug}.csv`), csv(results, about));
process.stdout.write(text);
