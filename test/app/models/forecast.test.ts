import { fork } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forecast, type ModelDescription } from '../../../app/protocol/index.ts';
import { writeSynthetic } from '../../bench/shapes/synthetic.mjs';
import { newFolder, root } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';
import { realModel } from '../../support/models/real-models.mjs';
import { soaking } from '../../support/soak.ts';

//  The forecast of memory beside what a process took at most (VmHWM) that loaded the model and filled its context.

type Loaded = { peak: number; description: ModelDescription };

const load = (path: string, contextLength: number): Promise<Loaded> =>
  new Promise((resolve, reject) => {
    const child = fork(join(root, 'test/support/processes/load-process.ts'), [path, String(contextLength)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
      // What Node has compiled before saves it 15 MB, and is not there in the app.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    });
    child.once('message', (message) => resolve(message as Loaded));
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });

/** The built-in model with its layers several times over: larger weights and a larger context memory. */
function deeper(times: number): string {
  const folder = join(newFolder(), 'deeper');
  cpSync(starter, folder, { recursive: true });
  const config = JSON.parse(readFileSync(join(starter, 'config.json'), 'utf8'));
  const layers: number = config.num_hidden_layers;
  const repeated = {
    ...config,
    num_hidden_layers: layers * times,
    layer_types: Array.from({ length: times }, () => config.layer_types).flat(),
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(repeated));
  const file = readFileSync(join(starter, 'model.safetensors'));
  const headerBytes = Number(file.readBigUInt64LE(0));
  const { __metadata__, ...table } = JSON.parse(file.toString('utf8', 8, 8 + headerBytes)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const parts: Buffer[] = [];
  const next: typeof table = {};
  let at = 0;
  const add = (name: string, { dtype, shape, data_offsets: [from, to] }: (typeof table)[string]) => {
    parts.push(file.subarray(8 + headerBytes + from, 8 + headerBytes + to));
    next[name] = { dtype, shape, data_offsets: [at, at + to - from] };
    at += to - from;
  };
  for (const [name, entry] of Object.entries(table)) {
    const layer = /^(model\.(?:language_model\.)?layers\.)(\d+)(\..*)$/.exec(name);
    if (!layer) add(name, entry);
    else
      for (let copy = 0; copy < times; copy++) add(`${layer[1]}${Number(layer[2]) + copy * layers}${layer[3]}`, entry);
  }
  const text = JSON.stringify(next);
  const header = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, header, ...parts]));
  return folder;
}

/** A published shape with random weights, and with words that are merged from one another as real ones are. */
function synthetic(shape: string, type: string): string {
  const path = join(newFolder(), 'random.gguf');
  writeSynthetic(shape, type, path, { merged: true });
  return path;
}

/** A process takes at most so much more than is foreseen, and at least so much of it. */
const MAX_ABOVE = 1.05;
const MIN_SHARE = 0.9;

type Load = readonly [name: string, path: () => string | Promise<string>, contextLength: number];
const loads: readonly Load[] = [
  ['the built-in model, 2k', () => starter, 2048],
  ['its layers eight times over, 4k', () => deeper(8), 4096],
  ['SmolLM2-135M Q4_1, 1k', () => realModel('smollm2'), 1024],
  ['random Qwen3-0.6B Q4_0, 256', () => synthetic('Qwen3-0.6B', 'Q4_0'), 256],
  ['random Qwen3.5-0.8B Q4_0, 256', () => synthetic('Qwen3.5-0.8B', 'Q4_0'), 256],
  ['random LFM2-1.2B Q4_0, 256', () => synthetic('LFM2-1.2B', 'Q4_0'), 256],
  ['two random layers of Qwen3.5-35B-A3B Q4_0, 256', () => synthetic('Qwen3.5-35B-A3B, 2 layers', 'Q4_0'), 256],
];
const soaked: readonly Load[] = [
  ['the built-in model, 8k', () => starter, 8192],
  ['random Qwen3.5-0.8B Q8_0, 1k', () => synthetic('Qwen3.5-0.8B', 'Q8_0'), 1024],
];

test.skipIf(platform() !== 'linux').each([...loads, ...(soaking ? soaked : [])])(
  'memory of %s is foreseen',
  async (name, path, contextLength) => {
    const { peak, description } = await load(await path(), contextLength);
    const { total } = forecast(description, { limitBytes: 1e12, bandwidth: null }, { contextLength });
    // Half of the copies of states are taken while a long answer is written: here it is a short one.
    const reached = total - (description.memory?.snapshots ?? 0) / 2;
    const error = total / peak - 1;
    const mb = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
    console.log(`${name}: foreseen ${mb(total)}, taken ${mb(peak)}, ${(error * 100).toFixed(1)} %`);
    expect(peak / total, name).toBeLessThan(MAX_ABOVE);
    expect(peak / reached, name).toBeGreaterThan(MIN_SHARE);
  },
  240_000,
);
