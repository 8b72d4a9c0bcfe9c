// Loads with and without the file of packed weights, in turn, each in a process of its own, with files in the page cache and the
// benchmark's shapes of random weights. Prints milliseconds until the model is ready, and tokens per second afterwards.
//   node test/bench/load.mjs
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { answerOf, promptOf } from './prompt.mjs';
import { writeSynthetic } from './shapes/synthetic.mjs';

const PAIRS = 5;
const JOB = { read: 128, write: 32 };
const MODELS = [
  ['Qwen3-0.6B', 'Q4_0'],
  ['Qwen3.5-0.8B', 'Q4_K_M'],
  ['Qwen3.5-2B', 'Q8_0'],
];
const THREADS = 2;
const self = fileURLToPath(import.meta.url);

/** Runs in a process of its own. */
async function loadHere(path, packed) {
  const addon = createRequire(import.meta.url)('../../build/native/Release/longhand.node');
  const began = performance.now();
  const model = await addon.load(path, { device: 'cpu', threads: THREADS, ...(packed && { packed }) });
  const ms = performance.now() - began;
  const session = model.createSession({ contextLength: 256, path: 'fast' });
  const { tokens, timings } = await session.generate(promptOf(JOB.read), { maxTokens: JOB.write, temperature: 0 });
  const { decode } = answerOf(JOB, timings.firstTokenMs, timings.decodeMs, tokens.length - 1);
  while (model.packed === 'writing') await wait(20);
  return { ms, decode, kept: model.packed };
}

const measured = (path, packed = '') =>
  JSON.parse(execFileSync(process.execPath, [self, path, packed], { encoding: 'utf8' }));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function compare([shape, type], folder) {
  const path = join(folder, 'model.gguf');
  const packed = join(folder, 'model.panels');
  writeSynthetic(shape, type, path);
  const { kept: before } = measured(path, packed);
  if (before !== 'written') throw new Error(`[load] the file was not written: ${before}`);
  const pairs = Array.from({ length: PAIRS }, () => [measured(path), measured(path, packed)]);
  if (pairs.some(([, { kept }]) => kept !== 'read')) throw new Error('[load] the file was not read');
  const [plain, read] = [0, 1].map((side) => ({
    ms: median(pairs.map((pair) => pair[side].ms)),
    decode: median(pairs.map((pair) => pair[side].decode)),
  }));
  console.log(
    `${shape} ${type}, ${(statSync(packed).size / 1e6).toFixed(0)} MB: packed ${plain.ms.toFixed(0)} ms, read ` +
      `${read.ms.toFixed(0)} ms; tokens a second ${plain.decode.toFixed(1)}, ${read.decode.toFixed(1)}`,
  );
}

if (process.argv[2]) console.log(JSON.stringify(await loadHere(process.argv[2], process.argv[3])));
else {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-load-'));
  try {
    for (const model of MODELS) compare(model, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
