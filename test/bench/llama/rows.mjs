// What the benchmark measures, the most telling rows first: model, tokens read and written, and thread counts if several.
import { join } from 'node:path';
import { realModel } from '../../support/models/real-models.mjs';

const root = join(import.meta.dirname, '../../..');
const shaped = (shape, type) => ({ name: `${shape} ${type}`, shape, type });
const STARTER = { name: 'starter bf16', path: () => join(root, 'resources', 'starter-model') };
const SMOLLM2 = { name: 'SmolLM2-135M Q4_1', path: () => realModel('smollm2') };
const HYBRID = shaped('Qwen3.5-0.8B', 'Q4_0');
const DENSE = shaped('Qwen3-0.6B', 'Q4_0');
const TYPES = ['Q4_0', 'Q4_K_M', 'Q8_0'];
const SHAPES = ['Qwen3-0.6B', 'Qwen3.5-0.8B', 'LFM2-1.2B', 'Qwen3.5-2B'];

/** Parts of at most about ten minutes on two cores of a Xeon, except `long`, which takes eighteen, and `lengths`. */
const PARTS = {
  // 4 and 8 bits, both kinds of model, one and two threads.
  main: [
    [SMOLLM2, 128, 64, 'each'],
    [HYBRID, 512, 64, 'each'],
    [DENSE, 512, 64, 'each'],
    [shaped('Qwen3.5-0.8B', 'Q8_0'), 512, 64, 'each'],
    [STARTER, 128, 64],
  ],
  types: SHAPES.slice(0, 3).flatMap((shape) => TYPES.map((type) => [shaped(shape, type), 512, 64])),
  large: TYPES.map((type) => [shaped(SHAPES[3], type), 512, 64]),
  long: [
    [DENSE, 4096, 64],
    [HYBRID, 128, 64],
    [HYBRID, 2048, 64],
    [HYBRID, 4096, 64],
    [SMOLLM2, 512, 64],
    [SMOLLM2, 2048, 64],
    [SMOLLM2, 4096, 64],
    [SMOLLM2, 8064, 64], // with the answer its whole context
    [HYBRID, 8192, 64],
    [DENSE, 4096, 64, 'each'],
  ],
  // From a usual turn to a long text.
  lengths: [SMOLLM2, DENSE, HYBRID].flatMap((model) => [32, 128, 512, 2048].map((read) => [model, read, 64])),
};
const QUICK = [
  [STARTER, 128, 64],
  [SMOLLM2, 128, 64],
  [DENSE, 128, 32],
  [HYBRID, 128, 32],
];

export const partNames = Object.keys(PARTS);

/** Rows {model, read, write, threads}; all parts if `part` is undefined; `only` is a text that a row's name contains. */
export function rowsOf({ quick, part, only = '', threadCounts }) {
  const wanted = quick ? QUICK : part ? PARTS[part] : Object.values(PARTS).flat();
  const most = Math.max(...threadCounts);
  const rows = wanted
    .flatMap(([model, read, write, threads]) =>
      (threads === 'each' ? threadCounts : [most]).map((count) => ({ model, read, write, threads: count })),
    )
    .filter(({ model, read, write }) => `${model.name}, ${read} + ${write}`.includes(only));
  const keyed = new Map(rows.map((row) => [`${row.model.name} ${row.read} ${row.write} ${row.threads}`, row]));
  return [...keyed.values()];
}
