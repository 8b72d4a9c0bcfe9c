// How long the vision tower of Qwen3.5-0.8B takes for a picture of 1,024 x 768 pixels: published shapes, random weights.
//   node test/bench/picture.mjs [runs] [addon ...]        several add-ons take turns
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeSyntheticFolder } from './shapes/synthetic-folder.mjs';

const [runs = '5', ...given] = process.argv.slice(2);
const own = join(import.meta.dirname, '../../build/native/Release/longhand.node');
const addons = given.length > 0 ? given.map((path) => resolve(path)) : [own];
const [rows, columns] = [768 / 16, 1024 / 16];
const THREADS = 2;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Wall time and processor time in seconds. On a busy machine, half of the latter is what two idle cores would take. */
async function timed(work) {
  const [began, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wall: (performance.now() - began) / 1e3, processor: (user + system) / 1e6 };
}
const said = (times) => {
  const [wall, processor] = ['wall', 'processor'].map((kind) => median(times.map((time) => time[kind])).toFixed(2));
  return `${wall} s (${processor} s of the processor)`;
};

const folder = mkdtempSync(join(tmpdir(), 'longhand-picture-'));
try {
  writeSyntheticFolder('Qwen3.5-0.8B, its tower', folder);
  const pixels = Float32Array.from({ length: rows * columns * 1536 }, (_, i) => Math.sin(i * 0.37));
  const grid = Int32Array.of(1, rows, columns);
  const models = [];
  for (const path of addons) {
    const model = await createRequire(import.meta.url)(path).load(folder, { device: 'cpu', threads: THREADS });
    const first = await timed(() => model.see(pixels, grid, { path: 'fast' }));
    models.push({ path, model, first, exact: [], fast: [] });
  }
  for (let run = 0; run < Number(runs); run++) {
    for (const { model, ...times } of models) {
      for (const path of ['exact', 'fast']) {
        times[path].push(await timed(() => model.see(pixels, grid, { path })));
      }
    }
  }
  for (const { path, first, exact, fast } of models) {
    console.log(`${path}: first ${said([first])}, exact ${said(exact)}, fast ${said(fast)}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
