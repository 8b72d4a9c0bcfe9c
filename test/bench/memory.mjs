// npm run bench:memory: peak memory of full-shape models with random weights, and the bytes of experts that a token reads.
//   node test/bench/memory.mjs [SHAPE ...]
// Bound: weights as stored + states and context + 250 MB, counting the whole process (VmHWM, file pages included).
// Writes test/bench/results/memory.md; exits with 1 if a row exceeds its bound or reads experts that were not selected.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../support/models/real-models.mjs';
import { readOptions } from './options.mjs';
import { FOLDER_SHAPES } from './shapes/folder-shapes.mjs';
import { SHAPES } from './shapes/shapes.mjs';
import { writeSynthetic } from './shapes/synthetic.mjs';
import { writeSyntheticFolder } from './shapes/synthetic-folder.mjs';

const root = join(import.meta.dirname, '..', '..');
const READ = 512;
const WRITE = 16;
const ALLOWANCE = 250 * 2 ** 20;
/** The usual file of each family, and one of every weight layout. */
const RUNS = [
  ['Qwen3-0.6B', 'Q4_0'],
  ['Qwen3-0.6B', 'BF16'],
  ['Qwen3.5-0.8B', 'Q8_0'],
  ['Qwen3.5-0.8B', 'BF16'],
  ['LFM2-1.2B', 'Q4_K_M'],
  ['Qwen3.5-35B-A3B, 2 layers', 'Q4_0'],
  ['Qwen3.5-35B-A3B, 2 layers', 'Q4_K_M'],
  ['MiniCPM-SALA-9B, 4 layers', 'BF16'],
  ['SmolLM-1.7B-MLA-d_kv_32', 'BF16'],
];

/** Runs in a process of its own, whose memory is measured. */
async function measureHere(path, read) {
  const addon = createRequire(import.meta.url)(join(root, 'build/native/Release/longhand.node'));
  const model = await addon.load(path, { device: 'cpu' });
  const session = model.createSession({ contextLength: read + WRITE + 1, path: 'fast' });
  const prompt = Int32Array.from({ length: read }, (_, i) => (i * 7919 + 17) % model.vocabularySize);
  const { tokens } = await session.generate(prompt, { maxTokens: WRITE, temperature: 0 });
  const before = model.expertBytesRead();
  // The last token has been written but not read; this reads it.
  await session.generate(Int32Array.from([...prompt, ...tokens]), { maxTokens: 1, temperature: 0 });
  const { weightBytes, activeBytes } = model.description;
  const status = readFileSync('/proc/self/status', 'utf8');
  return {
    weights: weightBytes,
    active: activeBytes,
    states: session.memoryBytes,
    peak: Number(/VmHWM:\s+(\d+)/.exec(status)[1]) * 1024,
    expertsPerToken: model.expertBytesRead() - before,
  };
}

/** Bytes of the selected experts' matrices, from the shape alone. */
function chosenExperts(path, shape) {
  if (!shape.experts) return 0;
  const inspected = JSON.parse(
    execFileSync(process.execPath, ['app/cli/main.ts', 'inspect', path, '--tensors', '--json'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    }),
  );
  const size = { Q4_0: 18 / 32, Q8_0: 34 / 32, Q4_K: 144 / 256, Q6_K: 210 / 256, BF16: 2 };
  return inspected.tensors
    .filter(({ name }) => name.includes('_exps'))
    .reduce((sum, { type, shape: sizes }) => {
      const key = type.toUpperCase();
      return sum + (sizes.reduce((a, b) => a * b, 1) / shape.experts) * shape.active * size[key];
    }, 0);
}

const mb = (bytes) => (bytes / 2 ** 20).toFixed(0);

function run([name, type]) {
  const folder = join(cacheFolder(), 'synthetic');
  mkdirSync(folder, { recursive: true });
  const inFolder = name in FOLDER_SHAPES;
  const stem = join(folder, `${name.replace(/[^\w.-]+/g, '-')}-${type}-${process.pid}`);
  const path = inFolder ? stem : `${stem}.gguf`;
  const read = FOLDER_SHAPES[name]?.read ?? READ;
  try {
    if (inFolder) writeSyntheticFolder(name, path);
    else writeSynthetic(name, type, path);
    const told = execFileSync(process.execPath, [fileURLToPath(import.meta.url), '--one', path, read], {
      encoding: 'utf8',
    });
    const measured = JSON.parse(told.trim().split('\n').at(-1));
    const bound = measured.weights + measured.states + ALLOWANCE;
    return { name, type, read, ...measured, bound, chosen: inFolder ? 0 : chosenExperts(path, SHAPES[name]) };
  } finally {
    rmSync(path, { force: true, recursive: true });
    rmSync(`${path}.part`, { force: true });
  }
}

function report(rows) {
  const lines = rows.map(
    ({ name, type, read, weights, states, peak, bound, expertsPerToken, chosen }) =>
      `| ${name} | ${type} | ${read} | ${mb(weights)} | ${mb(states)} | ${mb(peak)} | ${mb(bound)} | ${chosen ? `${mb(expertsPerToken)} of ${mb(chosen)} chosen` : '–'} |`,
  );
  return `# Memory of full-shape models

${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim()}. Random weights; ${WRITE} tokens written after those that are read, fast path. Everything in MiB;
peak is VmHWM of the whole process, file pages included; allowed are weights + states and context + 250.

| shape | file type | tokens read | weights | states and context | peak | allowed | expert bytes a token |
|---|---|---|---|---|---|---|---|
${lines.join('\n')}
`;
}

if (process.argv[2] === '--one') {
  console.log(JSON.stringify(await measureHere(process.argv[3], Number(process.argv[4]))));
} else {
  const { positionals: asked } = readOptions(import.meta.filename, { allowPositionals: true });
  const unknown = asked.filter((name) => !RUNS.some(([shape]) => shape === name));
  if (unknown.length > 0) {
    const shapes = [...new Set(RUNS.map(([shape]) => `"${shape}"`))].join(', ');
    console.error(`[bench:memory] no shape ${unknown.map((name) => `"${name}"`).join(', ')}; there are ${shapes}`);
    process.exit(2);
  }
  const rows = RUNS.filter(([name]) => asked.length === 0 || asked.includes(name)).map((entry) => {
    const row = run(entry);
    process.stderr.write(`  ${row.name} ${row.type}: ${mb(row.peak)} of ${mb(row.bound)} MiB\n`);
    return row;
  });
  const text = report(rows);
  if (asked.length === 0) writeFileSync(join(root, 'test', 'bench', 'results', 'memory.md'), text);
  process.stdout.write(text);
  const over = rows.filter(({ peak, bound }) => peak > bound);
  // Panels keep the 6-bit scales of Q4_K as bytes: 2.8 % more than the file has.
  const greedy = rows.filter(
    ({ expertsPerToken, chosen }) => expertsPerToken < chosen || expertsPerToken > 1.03 * chosen,
  );
  for (const { name, type } of over) console.error(`[memory] ${name} ${type} takes more than allowed`);
  for (const { name, type } of greedy)
    console.error(`[memory] ${name} ${type} reads other expert bytes than those chosen`);
  process.exitCode = over.length + greedy.length > 0 ? 1 : 0;
}
