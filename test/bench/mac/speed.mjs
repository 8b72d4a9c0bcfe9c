// The steps of npm run mac that measure: the tuner, pairs with llama.cpp and mlx-lm, kernels one by one, pauses.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { json, peerModule } from '../llama/measure.mjs';
import { ended } from './ended.mjs';
import { synthetic } from './rehearsal.mjs';

const bench = join(import.meta.dirname, '..');
/** What is run in a process of its own. */
export const SCRIPTS = {
  own: join(bench, 'llama/own.mjs'),
  llama: join(bench, 'llama/llama.mjs'),
  engine: join(import.meta.dirname, 'engine.mjs'),
};
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const rate = (number) => (number >= 100 ? number.toFixed(0) : number.toFixed(1));

async function withModel(wanted, work) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-speed-'));
  try {
    return await work(synthetic(wanted, folder), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The tuner runs after a load; this waits until its choices are stored beside the pipelines. */
export const tuner = ({ out }) =>
  withModel('Qwen3.5-0.8B Q4_0', async (model, folder) => {
    const cache = join(folder, 'cache');
    mkdirSync(cache);
    const code = `
      const addon = require(process.argv[1]);
      const model = await addon.load(process.argv[2], { device: 'metal' });
      await new Promise((resolve) => setTimeout(resolve, 45000));
      model.close();`;
    const addon = join(out, '../native/Release/longhand.node');
    const script = `const require = (await import('node:module')).createRequire('/');${code}`;
    await ended(process.execPath, ['--input-type=module', '-e', script, addon, model], {
      env: { LONGHAND_METAL_CACHE: cache },
    });
    const file = readdirSync(cache).find((name) => name.startsWith('tuning-'));
    if (!file) throw new Error('no answers after 45 seconds');
    return { notes: [{ name: file, message: readFileSync(join(cache, file), 'utf8') }] };
  });

const JOBS = [
  ['Qwen3-0.6B Q4_0', 512, 64],
  ['Qwen3.5-0.8B Q4_K_M', 512, 64],
  ['Qwen3.5-0.8B Q8_0', 512, 64],
  ['Qwen3.5-2B Q4_K_M', 64, 64],
  ['Qwen3.5-2B Q4_K_M', 512, 64],
  ['Qwen3.5-2B Q4_K_M', 4096, 64],
  ['LFM2-1.2B Q4_K_M', 512, 64],
];

/** Runs both in turn; a run that fails is reported and not counted. */
function pairs(count, sides) {
  const figures = sides.map(() => []);
  for (let i = 0; i < count; i++) for (const [at, side] of sides.entries()) figures[at].push(side());
  return figures.map((runs) => ({
    read: median(runs.map(({ prefill }) => prefill)),
    write: median(runs.map(({ decode }) => decode)),
  }));
}

export async function speed({ quick }) {
  const module = peerModule();
  const rows = [['model', 'prompt', 'reads tok/s', 'llama.cpp', 'times', 'writes tok/s', 'llama.cpp', 'times']];
  const failures = [];
  for (const [name, read, write] of quick ? JOBS.slice(0, 2) : JOBS)
    await withModel(name, async (model) => {
      const ours = () => json(process.execPath, [SCRIPTS.own, model, read, write, 4, 'metal']);
      const theirs = () => json(process.execPath, [SCRIPTS.llama, module, model, read, write, 4, 'metal']);
      const [mine, peer] = pairs(quick ? 2 : 5, module ? [ours, theirs] : [ours]);
      const beside = (key) => (peer ? [rate(peer[key]), (mine[key] / peer[key]).toFixed(2)] : ['', '']);
      rows.push([name, read, rate(mine.read), ...beside('read'), rate(mine.write), ...beside('write')]);
    }).catch((error) => failures.push({ name: `${name}, ${read}`, message: String(error.stderr || error.message) }));
  return {
    table: rows,
    failures,
    summary: module ? 'medians of interleaved pairs' : 'llama.cpp could not be had: our own figures',
  };
}

const PRODUCTS = {
  'in fp32': 'matmul_half=0,matmul_tensor=0',
  'in halves': 'matmul_half=1,matmul_tensor=0',
  'by tensor operations': 'matmul_half=0,matmul_tensor=1',
};

/** Prompts with each kernel for their products, in turn; a GPU or system without tensor operations says so in `tuning`. */
export const products = ({ quick }) =>
  withModel('Qwen3.5-2B Q4_K_M', (model) => {
    const ways = Object.values(PRODUCTS).map((words) => ({ LONGHAND_METAL_TUNING: words }));
    const [{ device }] = ways.slice(-1).map((env) => json(process.execPath, [SCRIPTS.engine, model, 64, 2], env));
    const run = (env) => () => json(process.execPath, [SCRIPTS.own, model, 512, 8, 4, 'metal'], env);
    const figures = pairs(quick ? 2 : 5, ways.map(run));
    const [first] = figures;
    const rows = Object.keys(PRODUCTS).map((name, i) => [
      name,
      rate(figures[i].read),
      (figures[i].read / first.read).toFixed(2),
    ]);
    return { summary: device.tuning, table: [['products', 'reads tok/s', 'times'], ...rows] };
  });

const MLX_MODELS = ['mlx-community/Qwen3-0.6B-4bit', 'mlx-community/Qwen3.5-0.8B-4bit'];

/** Real models in MLX's own format, fetched by mlx-lm into its own cache. */
export async function mlx({ out, root }) {
  const python = join(out, 'venv/bin/python3');
  if (!existsSync(python)) {
    await ended('python3', ['-m', 'venv', join(out, 'venv')]);
    const { code, said } = await ended(python, ['-m', 'pip', 'install', '--quiet', 'mlx-lm'], { minutes: 15 });
    if (code !== 0) throw new Error(`mlx-lm cannot be installed: ${said.slice(-2000)}`);
  }
  const rows = [['model', 'run', 'mlx-lm said', 'reads tok/s', 'writes tok/s']];
  const failures = [];
  for (const model of MLX_MODELS)
    for (let run = 0; run < 3; run++) {
      const words = ['-m', 'mlx_lm', 'benchmark', '--model', model, '-p', '512', '-g', '64', '-n', '2'];
      const theirs = await ended(python, words);
      const find = ['-c', `from huggingface_hub import snapshot_download as s; print(s('${model}'))`];
      const folder = (await ended(python, find)).said.trim().split('\n').at(-1);
      const bench = [
        'app/cli/main.ts',
        'bench',
        '--model',
        folder,
        '--device',
        'metal',
        '--read',
        '512',
        '--write',
        '64',
        '--runs',
        '2',
        '--json',
      ];
      const ours = await ended(process.execPath, bench, { cwd: root });
      if (theirs.code !== 0 || ours.code !== 0) {
        failures.push({ name: model, message: `${theirs.said.slice(-1500)}\n${ours.said.slice(-1500)}` });
        break;
      }
      const mine = JSON.parse(ours.said.slice(ours.said.indexOf('{')));
      const average = theirs.said.split('\n').findLast((line) => /verage/.test(line)) ?? '';
      rows.push([
        model,
        run + 1,
        average,
        rate(mine.prefill_tokens_per_second.median),
        rate(mine.decode_tokens_per_second.median),
      ]);
    }
  return { table: rows, failures };
}

export const profile = ({ root, out }) =>
  withModel('Qwen3.5-0.8B Q4_0', async (model) => {
    const words = ['app/cli/main.ts', 'bench', '--model', model, '--device', 'metal', '--runs', '1', '--profile'];
    const timed = await ended(process.execPath, words, { cwd: root });
    const trace = join(out, 'first-pass.gputrace');
    rmSync(trace, { recursive: true, force: true });
    const env = { MTL_CAPTURE_ENABLED: '1', LONGHAND_METAL_CAPTURE: trace };
    const captured = await ended(process.execPath, [SCRIPTS.engine, model, '64', '2'], {
      env,
    });
    const failures = [timed, captured]
      .filter(({ code }) => code !== 0)
      .map(({ said }) => ({ name: 'profile', message: said }));
    const where = existsSync(trace) ? `captured in ${trace}` : 'nothing was captured';
    return { summary: where, failures, notes: [{ name: 'kernels', message: timed.said }] };
  });

/** The cost of ten minutes of writing, the memory that unloading returns, and how fast a cancelled answer stops. */
export const idle = ({ out }) =>
  withModel('Qwen3.5-2B Q4_K_M', async (model) => {
    const script = `
      const addon = (await import('node:module')).createRequire('/')(process.argv[1]);
      const MB = () => Math.round(process.memoryUsage().rss / 2 ** 20);
      const before = MB();
      const model = await addon.load(process.argv[2], { device: 'metal' });
      const session = model.createSession({ contextLength: 1024, path: 'fast' });
      const prompt = Int32Array.from({ length: 64 }, (_, i) => (i * 7919 + 17) % model.vocabularySize);
      const first = async () => {
        await session.reset();
        return (await session.generate(prompt, { maxTokens: 4, temperature: 0, path: 'fast' })).timings.firstTokenMs;
      };
      await first();
      const warm = [await first(), await first(), await first()];
      await new Promise((resolve) => setTimeout(resolve, 600000));
      const afterIdle = await first();
      const loaded = MB();
      session.close();
      model.close();
      await new Promise((resolve) => setTimeout(resolve, 3000));
      console.log(JSON.stringify({ warm, afterIdle, before, loaded, unloaded: MB() }));`;
    const addon = join(out, '../native/Release/longhand.node');
    const waited = ended(process.execPath, ['--input-type=module', '-e', script, addon, model], { minutes: 14 });
    await pause(60_000);
    const pressure = await ended('memory_pressure', ['-S', '-l', 'warn'], { minutes: 1 }); // needs root: told when refused
    const { code, said } = await waited;
    if (code !== 0) throw new Error(said);
    return { summary: said.trim(), notes: [{ name: 'memory_pressure -S -l warn', message: pressure.said || 'done' }] };
  });
