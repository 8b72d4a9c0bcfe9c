// Compiles every pipeline that common models need on this machine: their shapes with random weights, twice, so that the second
// start finds the archive of the first.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FOLDER_SHAPES } from '../shapes/folder-shapes.mjs';
import { SHAPES } from '../shapes/shapes.mjs';
import { writeSynthetic } from '../shapes/synthetic.mjs';
import { writeSyntheticFolder } from '../shapes/synthetic-folder.mjs';
import { ended } from './ended.mjs';

const QUICK = ['Qwen3-0.6B Q4_K_M', 'Qwen3.5-0.8B Q4_0'];
const ALL = [
  ...QUICK,
  'Qwen3.5-2B Q8_0',
  'LFM2-1.2B Q4_K_M',
  'Qwen3.5-35B-A3B, 2 layers Q4_K_M',
  'MiniCPM-SALA-9B, 4 layers BF16',
  'SmolLM-1.7B-MLA-d_kv_32 BF16',
];

/** A model of random weights in `folder`, such as "Qwen3-0.6B Q4_0"; an existing folder is used as it is. */
export function synthetic(wanted, folder) {
  if (existsSync(wanted)) return wanted;
  const at = wanted.lastIndexOf(' ');
  const [name, type] = [wanted.slice(0, at), wanted.slice(at + 1)];
  if (FOLDER_SHAPES[name]) {
    writeSyntheticFolder(name, join(folder, 'model'));
    return join(folder, 'model');
  }
  if (!SHAPES[name]) throw new Error(`[mac] ${wanted}: known are ${ALL.join('; ')}`);
  const path = join(folder, 'model.gguf');
  writeSynthetic(name, type, path);
  return path;
}

/** One start: the output of the engine, and the pipelines it made. */
async function start(model, folder, reads, write) {
  const log = join(folder, 'pipelines.log');
  rmSync(log, { force: true });
  const env = { LONGHAND_METAL_CACHE: join(folder, 'cache'), LONGHAND_METAL_PIPELINES: log };
  const { code, said } = await ended(process.execPath, [join(import.meta.dirname, 'engine.mjs'), model, reads, write], {
    env,
  });
  const pipelines = existsSync(log)
    ? readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
  if (code !== 0) throw Object.assign(new Error(`${code}: ${said.slice(-3000)}`), { pipelines });
  return { answer: JSON.parse(said.trim().split('\n').at(-1)), pipelines };
}

const sum = (all, of) => all.reduce((total, each) => total + of(each), 0);

function row(name, first, second) {
  const made = first.pipelines;
  const tight = made.filter(({ threads, limit }) => limit < threads);
  return [
    name,
    made.length,
    sum(made, ({ makeMs }) => makeMs).toFixed(0),
    sum(made, ({ archiveMs }) => archiveMs).toFixed(0),
    `${second.pipelines.filter(({ found }) => found).length} of ${second.pipelines.length}`,
    Math.max(0, ...made.map(({ threadgroupBytes }) => threadgroupBytes)),
    tight.map(({ kernel }) => kernel).join(' ') || 'none',
  ];
}

export async function rehearse({ quick, shapes }) {
  const head = [
    'shape',
    'pipelines',
    'ms to make',
    'ms to archive',
    'found at a second start',
    'most static threadgroup bytes',
    'allow fewer threads than wanted',
  ];
  const rows = [head];
  const failures = [];
  const pipelines = {};
  for (const wanted of shapes ?? (quick ? QUICK : ALL)) {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-rehearsal-'));
    try {
      const model = synthetic(wanted, folder);
      const reads = process.platform === 'darwin' ? '512,64,7,3000' : '9';
      const first = await start(model, folder, reads, '8');
      const second = await start(model, folder, reads, '8');
      pipelines[wanted] = first.pipelines;
      rows.push(row(wanted, first, second));
    } catch (error) {
      failures.push({ name: wanted, message: String(error.message) });
      if (error.pipelines) pipelines[wanted] = error.pipelines;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return { table: rows, failures, pipelines };
}
