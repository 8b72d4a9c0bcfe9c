// Kernels compiled in the background after a load: how far it is, a question that comes first, a model closed meanwhile.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';
import { readCase } from '../../support/models/golden.ts';
import { metalAddon, needsStandin, standin } from '../standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 }); // kernels may have to be compiled by clang first

const reference = readCase('qwen3_5/dense_tied');
const prompt = reference.prompts.find(({ greedy }) => greedy !== undefined) ?? { ids: new Int32Array(), greedy: [] };
const folder = mkdtempSync(join(tmpdir(), 'longhand-warming-'));
let cache = '';

beforeEach(() => {
  cache = mkdtempSync(join(folder, 'cache-'));
  process.env.LONGHAND_METAL_CACHE = cache;
});
const patience = { timeout: 60_000 };
afterEach(() => standin.faults({}));
afterAll(() => rmSync(folder, { recursive: true }));

type Path = 'exact' | 'fast';
interface Warmed {
  model: Model;
  /** What was told: kernels ready, of how many. */
  told: [done: number, total: number][];
  ready: Promise<void>;
}

async function warm(path = reference.folder): Promise<Warmed> {
  const told: Warmed['told'] = [];
  const ready = Promise.withResolvers<void>();
  const model = await metalAddon.load(path, {
    device: 'metal',
    standin: true,
    onKernels: (done, total) => {
      told.push([done, total]);
      if (done === total) ready.resolve();
    },
  });
  return { model, told, ready: ready.promise };
}

async function answer(model: Model, ids = prompt.ids, maxTokens = 3, path: Path = 'exact'): Promise<number[]> {
  const session = model.createSession({ path, kvType: 'f16' });
  const { tokens } = await session.generate(ids, { maxTokens, path });
  session.close();
  return tokens;
}

const archived = () => {
  const file = readdirSync(cache).find((name) => name.endsWith('.metalar'));
  return file === undefined ? [] : readFileSync(join(cache, file), 'utf8').trim().split('\n').slice(1);
};

describe('kernels compiled in the background', () => {
  test('those of the fast path and of steps that run ahead, where a large chip has forms of its own', async () => {
    process.env.LONGHAND_METAL_TUNING = 'delta_slices=2,scan_simdgroups=2,matmul_half=1';
    try {
      const { model, ready } = await warm();
      await ready;
      standin.reset();
      const ids = Int32Array.from({ length: 20 }, (_, i) => prompt.ids[i % prompt.ids.length] as number);
      await answer(model, ids, 6, 'fast');
      expect(standin.counters().kernels).toMatchObject({ linear_mat_half: expect.any(Number) });
      expect(standin.counters().pipelines).toBe(0);
      model.close();
    } finally {
      delete process.env.LONGHAND_METAL_TUNING;
    }
  });

  test.each(['qwen3_5/dense_tied', 'lfm2_moe/top4', 'minicpm_sala/mixed'])(
    '%s: all that a conversation needs, told from none to all',
    async (name) => {
      const { folder: path, prompts } = readCase(name);
      const { model, told, ready } = await warm(path);
      await ready;
      const total = told[0]?.[1] ?? 0;
      expect(total).toBeGreaterThan(10);
      expect(told.every(([, all]) => all === total)).toBe(true);
      expect(told).toEqual(told.toSorted(([a], [b]) => a - b));
      standin.reset();
      const longest = prompts.toSorted((a, b) => b.ids.length - a.ids.length)[0]?.ids ?? new Int32Array();
      for (const length of [1, 3, Math.min(20, longest.length)]) await answer(model, longest.slice(0, length), 4);
      await Promise.all([2, 3, 4].map((length) => answer(model, longest.slice(0, length), 20)));
      expect(standin.counters().pipelines).toBe(0);
      await expect.poll(archived, patience).not.toHaveLength(0);
      model.close();
    },
  );

  test('an early question waits for no kernel but its own, and gets the right answer', async () => {
    const right = await (async () => {
      const { model, ready } = await warm();
      await ready;
      const tokens = await answer(model);
      model.close();
      return tokens;
    })();
    // The first kernel of all is held: the background waits there, the question compiles the others itself.
    standin.faults({ holdCompile: 'kernel]] void linear_mat' });
    const { model, told, ready } = await warm();
    await expect.poll(() => standin.counters().heldCompiles, patience).toBe(1);
    expect(await answer(model, prompt.ids.slice(0, 3))).toHaveLength(3);
    expect(told.at(-1)?.[0]).toBeLessThan(told[0]?.[1] ?? 0);
    const blocked = answer(model);
    standin.faults({});
    expect(await blocked).toEqual(right);
    await ready;
    model.close();
  });

  test('closing ends it behind the kernel it is at, and what was compiled is kept', async () => {
    standin.faults({ holdCompile: 'kernel]] void gated_delta_scan' });
    const { model, told } = await warm();
    await expect.poll(() => standin.counters().heldCompiles, patience).toBe(1);
    await expect.poll(() => told.length, patience).toBeGreaterThan(0);
    const total = told[0]?.[1] ?? 0;
    expect(standin.counters().heapBytes).toBeGreaterThan(0);
    model.close();
    await expect.poll(() => standin.counters().heapBytes, patience).toBe(0); // the model is being taken down
    standin.faults({});
    await expect.poll(archived, patience).not.toHaveLength(0);
    expect(archived().length).toBeLessThan(total);
    expect(told.at(-1)?.[0]).toBeLessThan(total);
  });

  test('a kernel that does not compile is left to the question that needs it', async () => {
    standin.faults({ compileError: 'kernel]] void gated_delta_step' });
    const { model, ready } = await warm();
    await ready;
    await expect(answer(model)).rejects.toMatchObject({ code: 'device' });
    standin.faults({});
    expect(await answer(model)).toHaveLength(3);
    model.close();
  });
});
