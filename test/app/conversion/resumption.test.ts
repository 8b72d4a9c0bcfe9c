// A run that was killed is gone on from: nothing is rounded twice, and the result is the same to the last byte.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { planGguf, writeGguf } from '../../../app/conversion/gguf/write.ts';
import { writeMlx } from '../../../app/conversion/mlx.ts';
import { whole } from '../../../app/conversion/output.ts';
import { type Planned, planOf } from '../../../app/conversion/plan.ts';
import { Leftovers, ProgressLog, readProgress, stampOf } from '../../../app/conversion/resumption.ts';
import { addon, golden } from '../../support/addon.ts';
import { temporaryFolder } from '../../support/models/formats.ts';
import { starter } from '../../support/models/models.ts';

const llama = join(golden, 'llama/gqa_tied');
/** No process has this number. */
const DEAD = 2 ** 22 + 1;

beforeEach(() => {
  // Progress is kept every few seconds, and these models take less.
  let now = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 10_000));
});
afterEach(() => void vi.restoreAllMocks());

/** Weights that count what is read of them, and of which the reader is killed at some tensor. */
async function opened(path: string, killedAt = Number.POSITIVE_INFINITY) {
  const source = await addon.openWeights(path);
  const read: string[] = [];
  const count = (name: string) => {
    if (read.length >= killedAt) throw new Error('killed');
    read.push(name);
  };
  const counted = {
    affine: (name: string, ...rest: unknown[]) => {
      count(name);
      return source.affine(name, ...(rest as [never]));
    },
    blocks: (name: string, ...rest: unknown[]) => {
      count(name);
      return source.blocks(name, ...(rest as [never]));
    },
    read: (name: string, ...rest: unknown[]) => {
      count(name);
      return source.read(name, ...(rest as [never]));
    },
  };
  return { source: counted as unknown as typeof source, read };
}

/** How far it was said to be, of 1. */
let told: number[] = [];
const progress = (done: number, total: number) => void told.push(done / total);

type Write = (part: string, leftovers: Leftovers, killedAt?: number) => Promise<string[]>;

const mlx =
  (path: string, bits: number): Write =>
  async (part, leftovers, killedAt) => {
    const { tensors } = await addon.inspect(path);
    const plan: Planned[] = planOf(tensors, bits, 32);
    const { source, read } = await opened(path, killedAt);
    await writeMlx(part, {
      ...{ source, plan, bits, group: 32, rounding: 'rtn', leftovers, origin: stampOf(path) },
      ...{ config: {}, accompany: async () => {}, inputsOf: async () => ({}) },
      ...{ signal: new AbortController().signal, flag: new addon.AbortFlag(), progress },
    });
    return read;
  };

const gguf =
  (path: string, type: 'Q8_0' | 'Q4_0'): Write =>
  async (part, leftovers, killedAt) => {
    const { tensors, config } = await addon.inspect(path);
    const own = { path, folder: path, container: 'safetensors', config: config as never, tensors };
    const { source, read } = await opened(path, killedAt);
    await writeGguf(part, 'model.gguf', {
      ...{ source, plan: await planGguf(own, type), importance: new Map(), leftovers, origin: stampOf(path) },
      ...{ signal: new AbortController().signal, flag: new addon.AbortFlag(), progress },
    });
    return read;
  };

const bytesOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')]));

describe.each<[string, Write, Write]>([
  ['MLX', mlx(llama, 4), mlx(llama, 8)],
  ['GGUF', gguf(starter, 'Q8_0'), gguf(starter, 'Q4_0')],
])('%s', (_, write, other) => {
  test.each([1, 2, 7, 12])('killed at read %d', async (killedAt) => {
    const here = temporaryFolder();
    const all = await whole(join(here, 'straight'), write);
    const part = join(here, `out.${DEAD}.part`);
    await expect(write(part, new Leftovers([]), killedAt)).rejects.toThrow('killed');
    const before = statSync(join(part, readdirSync(part).find((name) => name.startsWith('model')) ?? ''));
    const known = await readProgress(part);
    told = [];
    const rest = await whole(join(here, 'out'), write);
    expect(bytesOf(join(here, 'out'))).toEqual(bytesOf(join(here, 'straight')));
    expect(readdirSync(here).sort()).toEqual(['out', 'straight']);
    expect(known?.tensors.length ?? 0).toBe(new Set(all.slice(0, killedAt)).size);
    expect(rest).toEqual(all.slice(killedAt));
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(1);
    const name = readdirSync(join(here, 'out')).find((one) => one.startsWith('model')) ?? '';
    expect(statSync(join(here, 'out', name)).ino).toBe(before.ino);
  });

  test('what was written for something else is not used, and is removed', async () => {
    const here = temporaryFolder();
    const part = join(here, `out.${DEAD}.part`);
    await expect(write(part, new Leftovers([]), 7)).rejects.toThrow('killed');
    const all = await whole(join(here, 'straight'), other);
    expect(await whole(join(here, 'out'), other)).toEqual(all);
    expect(bytesOf(join(here, 'out'))).toEqual(bytesOf(join(here, 'straight')));
    expect(readdirSync(here).sort()).toEqual(['out', 'straight']);
  });
});

test('weights that have changed since are read from the beginning', async () => {
  const here = temporaryFolder();
  const model = join(here, 'model');
  mkdirSync(model);
  for (const name of readdirSync(llama)) writeFileSync(join(model, name), readFileSync(join(llama, name)));
  const part = join(here, `out.${DEAD}.part`);
  await expect(mlx(model, 4)(part, new Leftovers([]), 7)).rejects.toThrow('killed');
  utimesSync(join(model, 'model.safetensors'), 1, 1);
  const all = await whole(join(here, 'straight'), mlx(model, 4));
  expect(await whole(join(here, 'out'), mlx(model, 4))).toEqual(all);
  expect(existsSync(part)).toBe(false);
});

test('a tensor that did not reach the disk is not noted as written', async () => {
  const part = temporaryFolder();
  const failing = async () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  };
  const log = new ProgressLog(part, { key: 'k', tensors: [], error: 0, energy: 0 }, failing);
  await expect(log.add('a.weight', { error: 0, energy: 1 })).rejects.toThrow('EIO');
  expect(await readProgress(part)).toBeNull();
});
