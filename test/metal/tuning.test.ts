// What is chosen by device: that a choice is taken and changes no result, and the tuner that chooses at the first start. How fast
// anything is the stand-in cannot know: here a GPU's clock says what the test wants it to say.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Model } from '../../native/addon/index.d.ts';
import { golden, repository } from '../support/addon.ts';
import { readCase } from '../support/models/golden.ts';
import { loadOnMetal, metalAddon, needsStandin, type Standin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 }); // kernels may have to be compiled by clang first
const patience = { timeout: 60_000 };

const folder = mkdtempSync(join(tmpdir(), 'longhand-tuning-'));
let cache = '';
beforeEach(() => {
  cache = mkdtempSync(join(folder, 'cache-'));
  process.env.LONGHAND_METAL_CACHE = cache;
});
afterEach(() => {
  delete process.env.LONGHAND_METAL_TUNER;
  delete process.env.LONGHAND_METAL_TUNING;
  standin.options({});
  standin.faults({});
  standin.clock({});
});
afterAll(() => rmSync(folder, { recursive: true }));

const tokens = Int32Array.from({ length: 4 }, (_, i) => 5 + 3 * i);
type Costs = Parameters<Standin['clock']>[0]['costs'] & {};

describe('a choice', () => {
  /** The scores of every token, read one by one, and what the GPU's clock said. */
  async function outcome(name: string, tuning: string, costs: Costs): Promise<{ scores: Buffer; took: number }> {
    process.env.LONGHAND_METAL_TUNING = tuning;
    const model = await loadOnMetal(join(golden, name));
    const session = model.createSession({ path: 'exact', kvType: 'f16' });
    const { data } = await session.logits(tokens, { all: true, chunk: 1 });
    standin.clock({ costs });
    const { timings } = await session.generate(tokens, { maxTokens: 2, path: 'exact', continues: tokens.length });
    standin.clock({});
    session.close();
    model.close();
    return { scores: Buffer.from(data.buffer, data.byteOffset, data.byteLength), took: timings.deviceMs ?? 0 };
  }

  // The words only the chosen form has in its description: constants 24 (rows) and 21 (heads) by their bytes.
  test.each([
    ['matvec_rows=8', ['linear_vec', ' 24=8.'], 'qwen3_5/dense_tied'],
    ['matvec_rows=8', ['expert_down', ' 24=8.'], 'qwen3_5_moe/top3'],
    ['matvec_simdgroups=4', ['linear_vec', ' threads=128'], 'qwen3_5/dense_tied'],
    ['matvec_simdgroups=8', ['expert_down', ' threads=256'], 'qwen3_5_moe/top3'],
    [
      'matvec_rows=8,matvec_simdgroups=8',
      ['linear_vec', ' 24=8.', ' threads=256'],
      'gguf_models/llama/model-mixed.gguf',
    ],
    ['attention_shared=1', ['attention ', ' 21=2.'], 'qwen3/qk_norm_tied'],
  ])('%s is taken by %s, and not one bit changes: %s', async (tuning, words, name) => {
    const costs: Costs = [[words, 1_000_000_000]];
    const [table, chosen] = [await outcome(name, '', costs), await outcome(name, tuning, costs)];
    expect(table.took).toBeLessThan(1000);
    expect(chosen.took).toBeGreaterThanOrEqual(1000);
    expect(chosen.scores.equals(table.scores)).toBe(true);
  });

  test.each(['matvec_rows=5', 'matvec_rows=', 'matvec_rows=8x', 'delta_chunk_from=-1', 'colour=1', 'matvec_rows=8,,'])(
    'LONGHAND_METAL_TUNING=%s is refused with what is allowed',
    async (words) => {
      process.env.LONGHAND_METAL_TUNING = words;
      await expect(loadOnMetal(readCase('qwen3/qk_norm_tied').folder)).rejects.toMatchObject({
        code: 'device',
        message: expect.stringContaining(
          'expected matvec_rows=4 or 8, matvec_simdgroups=2 or 4 or 8, attention_shared=0 or 1, delta_slices=1 or 2 or 4 or 8, scan_simdgroups=1 or 2 or 4, delta_chunk_from=<tokens>, 0 for never, attention_groups=0 or 16 or 40 or 80 or 160, matmul_half=0 or 1, matmul_tensor=0 or 1',
        ),
      });
    },
  );
});

/** Everything that is not in the general table is faster. */
const faster: Costs = [
  [['linear_vec', ' 24=8.', ' threads=128'], 10_000],
  [['linear_vec', ' 24=8.'], 20_000],
  [['linear_vec'], 40_000],
  [['attention ', ' 21=4.'], 5000],
  [['attention '], 8000],
  [['gated_delta_step', ' threads=128'], 3000],
  [['gated_delta_step'], 9000],
  [['gated_delta_scan', ' threads=64'], 80_000],
  [['gated_delta_scan'], 90_000],
  [['linear_mat '], 70_000],
];
const general =
  'matvec_rows=4 matvec_simdgroups=2 attention_shared=0 delta_slices=1 scan_simdgroups=4 delta_chunk_from=0 attention_groups=0 matmul_half=0 matmul_tensor=0';
const found =
  'matvec_rows=8 matvec_simdgroups=4 attention_shared=1 delta_slices=4 scan_simdgroups=2 delta_chunk_from=64 attention_groups=0 matmul_half=1 matmul_tensor=0';

const tableFile = () => readdirSync(cache).find((name) => name.startsWith('tuning-') && name.endsWith('.txt'));
const table = () => {
  const name = tableFile();
  return name === undefined ? '' : readFileSync(join(cache, name), 'utf8');
};

/** A load whose kernels are all compiled; the tuner comes next. Nothing is computed, all is counted. */
async function loaded(costs: Costs = faster): Promise<Model> {
  process.env.LONGHAND_METAL_TUNER ??= 'on';
  standin.options({ dry: true });
  standin.clock({ costs });
  const ready = Promise.withResolvers<void>();
  const model = await metalAddon.load(readCase('qwen3/qk_norm_tied').folder, {
    device: 'metal',
    standin: true,
    onKernels: (done, total) => {
      if (done === total) ready.resolve();
    },
  });
  await ready.promise;
  return model;
}

/** The tuner has ended with the model, whatever it was at. */
async function closed(model: Model): Promise<void> {
  model.close();
  await expect.poll(() => standin.counters().queues, patience).toBe(0);
}

/** A load after which the tuner had time, and did nothing. */
async function untouched(costs?: Costs): Promise<void> {
  const before = table();
  const model = await loaded(costs);
  const session = model.createSession({ path: 'exact', kvType: 'f16' });
  for (let i = 0; i < 5; i++) await session.logits(tokens);
  session.close();
  await closed(model);
  expect(table()).toBe(before);
}

/** What the first start on a device leaves behind. */
async function tuned(costs?: Costs): Promise<string> {
  const model = await loaded(costs);
  await expect.poll(table, patience).not.toBe('');
  await closed(model);
  return table();
}

async function inUse(): Promise<string | undefined> {
  process.env.LONGHAND_METAL_TUNER ??= 'on';
  const model = await loadOnMetal(readCase('qwen3/qk_norm_tied').folder);
  const { tuning } = model.device;
  model.close();
  return tuning;
}

describe('the tuner', () => {
  test('takes what is fastest, keeps it with its figures, and the next load goes by it', async () => {
    expect(await inUse()).toBe(`general table, until it is measured after the next load: ${general}`);
    const text = await tuned();
    expect(text).toContain('matvec_rows 8 (4: 320.000 us, 8: 160.000 us)');
    expect(text).toContain('matvec_simdgroups 4 (2: 160.000 us, 4: 80.000 us, 8: 160.000 us)');
    expect(text).toContain('attention_shared 1 (0: 96.000 us, 1: 60.000 us)');
    expect(text).toMatch(/delta_slices 4 \(1: 108.000 us, 2: [\d.]+ us, 4: 48.000 us, 8: [\d.]+ us\)/);
    expect(text).toMatch(/matmul_half 1 \(0: 140.000 us, 1: [\d.]+ us\)/);
    expect(text).toContain('matmul_tensor 0 (not here)\n');
    expect(await inUse()).toBe(`measured on this device: ${found}`);
    expect(readdirSync(cache).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  test('leaves the table of the chip as it is where nothing is clearly faster', async () => {
    const same: Costs = [
      [['linear_vec', ' 24=8.'], 98_000],
      [['linear_vec'], 100_000],
      [['gated_delta_scan'], 2000],
    ];
    expect(await tuned(same)).toContain('matvec_rows 4 (4: 800.000 us, 8: 784.000 us)');
    expect(await inUse()).toBe(`measured on this device: ${general}`);
  });

  test('asks once: a later load does not measure again, and the environment has the last word', async () => {
    await tuned();
    await untouched([[['linear_vec', ' 24=4.'], 1]]);
    process.env.LONGHAND_METAL_TUNING = 'matvec_rows=4';
    expect(await inUse()).toBe(`LONGHAND_METAL_TUNING: ${found.replace('matvec_rows=8', 'matvec_rows=4')}`);
  });

  test('can be switched off: nothing is measured, and what was measured is not used', async () => {
    process.env.LONGHAND_METAL_TUNER = 'off';
    await untouched();
    delete process.env.LONGHAND_METAL_TUNER;
    await tuned();
    process.env.LONGHAND_METAL_TUNER = 'off';
    expect(await inUse()).toBe(`general table: ${general}`);
    process.env.LONGHAND_METAL_TUNER = 'maybe';
    await expect(inUse()).rejects.toMatchObject({
      code: 'device',
      message: expect.stringContaining('expected on or off'),
    });
  });

  test('stays away while somebody has chosen by hand, or captures a pass', async () => {
    process.env.LONGHAND_METAL_TUNING = 'matvec_rows=8';
    await untouched();
    delete process.env.LONGHAND_METAL_TUNING;
    process.env.LONGHAND_METAL_CAPTURE = join(folder, 'trace.gputrace');
    try {
      await untouched();
    } finally {
      delete process.env.LONGHAND_METAL_CAPTURE;
    }
    expect(tableFile()).toBeUndefined();
  });

  test('`longhand devices` and `doctor` tell which table is in use', async () => {
    await tuned();
    const longhand = async (...words: string[]) => {
      const main = join(repository, 'app/cli/main.ts');
      const env = { ...process.env, LONGHAND_ROOT: repository, LONGHAND_METAL_TUNER: 'on' };
      return (await promisify(execFile)(process.execPath, [main, ...words], { env })).stdout;
    };
    expect(await longhand('devices', '--standin')).toContain(`tuning of metal: measured on this device: ${found}\n`);
    expect(await longhand('doctor', '--standin')).toContain(`metal (Stand-in GPU; tuning: measured on this device:`);
  });
});

/** As native/metal/tuning/tuning_file.mm has it: FNV-1a. */
function withSum(text: string): string {
  let sum = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) sum = ((sum ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return `${text}sum ${sum}\n`;
}
const resummed = (text: string, from: string | RegExp, to: string) =>
  withSum(text.slice(0, text.lastIndexOf('sum ')).replace(from, to));

describe('a stored table', () => {
  test.each<[string, (text: string) => string]>([
    ['cut short', (text) => text.slice(0, text.length / 2)],
    ['without its last byte', (text) => text.slice(0, -1)],
    ['empty', () => ''],
    ['with another digit', (text) => text.replace('matvec_rows 8', 'matvec_rows 4')],
    ['of another kind', () => 'MTLBinaryArchive \0\u0001 of another program'],
    ['of another GPU', (text) => resummed(text, 'Stand-in GPU', 'Apple M1')],
    ['of another system', (text) => resummed(text, /family, [^,]+,/, 'family, Version 1,')],
    ['of another text of the kernels', (text) => resummed(text, /kernels \w+/, 'kernels 0')],
    ['of other choices', (text) => resummed(text, 'among', 'among more')],
    ['with a value nobody tries', (text) => resummed(text, 'matvec_rows 8', 'matvec_rows 7')],
    ['without a line', (text) => resummed(text, /attention_shared .*\n/, '')],
  ])('%s is not used, and measured again without a word', async (_title, spoil) => {
    const text = await tuned();
    const spoiled = spoil(text);
    expect(spoiled).not.toBe(text);
    writeFileSync(join(cache, tableFile() ?? ''), spoiled);
    expect(await inUse()).toContain('general table');
    const model = await loaded();
    await expect.poll(table, patience).toBe(text);
    await closed(model);
    expect(await inUse()).toContain('measured on this device');
  });

  test('a folder where a file should be costs measuring again', async () => {
    await tuned();
    const path = join(cache, tableFile() ?? '');
    rmSync(path);
    mkdirSync(path);
    await closed(await loaded());
    expect(statSync(path).isDirectory()).toBe(true);
    expect(readdirSync(cache).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(await inUse()).toContain('general table');
  });

  test('a folder that cannot be written costs measuring again', async () => {
    writeFileSync(join(cache, 'file'), '');
    process.env.LONGHAND_METAL_CACHE = join(cache, 'file', 'below');
    await closed(await loaded());
    expect(await inUse()).toContain('general table');
  });
});

describe('what the tuner may not do', () => {
  test('hold up a question: a prompt is read while it waits for a kernel of its own', async () => {
    standin.faults({ holdCompile: 'void chunk_prepare' }); // which this model never needs
    const model = await loaded();
    await expect.poll(() => standin.counters().heldCompiles, patience).toBe(1);
    const session = model.createSession({ path: 'exact', kvType: 'f16' });
    expect(await session.logits(tokens)).toMatchObject({ rows: 1 });
    session.close();
    expect(tableFile()).toBeUndefined();
    standin.faults({});
    await expect.poll(table, patience).toContain('delta_chunk_from 64');
    await closed(model);
  });

  test('hold up a close: it ends behind the kernel it is at, and the next load begins again', async () => {
    standin.faults({ holdCompile: 'void chunk_prepare' });
    const model = await loaded();
    await expect.poll(() => standin.counters().heldCompiles, patience).toBe(1);
    const { dispatches } = standin.counters();
    model.close();
    await new Promise((resolve) => setTimeout(resolve, 200)); // until it is heard, on a thread of its own
    standin.faults({});
    await expect.poll(() => standin.counters().queues, patience).toBe(0);
    // What it was timing ends, after a disturbance or two on a busy computer, and nothing else is timed: all of it takes 1,500.
    expect(standin.counters().dispatches - dispatches).toBeLessThan(200);
    if (tableFile() === undefined) await tuned();
    expect(await inUse()).toContain('measured on this device');
  });

  test('use the GPU for long: after two seconds of its time the rest stays as the table says', async () => {
    const text = await tuned([[['linear_vec', ' 24=8.'], 1_000_000], [['linear_vec'], 100_000_000], ...faster]);
    expect(text.match(/not measured/g)).toHaveLength(8);
    expect(await inUse()).toBe(`measured on this device: ${general}`);
  });

  test.each<[string, () => void, Costs]>([
    ['a clock that stands still', () => {}, [[[], 0]]],
    ['a fault of the GPU', () => standin.faults({ commandBuffer: 3 }), faster],
    ['a kernel that does not compile', () => standin.faults({ compileError: 'void chunk_prepare' }), faster],
  ])('leave a table behind %s', async (_title, spoil, costs) => {
    spoil();
    standin.reset();
    const model = await loaded(costs);
    await expect.poll(() => standin.counters().dispatches, patience).toBeGreaterThan(0);
    await expect.poll(() => standin.counters().allocated, patience).toBeLessThan(50_000_000); // and it has ended
    expect(tableFile()).toBeUndefined();
    standin.faults({});
    const session = model.createSession({ path: 'exact', kvType: 'f16' });
    expect(await session.logits(tokens)).toMatchObject({ rows: 1 });
    session.close();
    await closed(model);
    expect(await tuned()).toContain('matvec_rows 8');
  });

  test('take the memory that a model needs: without room for its matrices it leaves no table', async () => {
    standin.faults({ memoryLimit: standin.counters().allocated + 40_000_000 });
    await closed(await loaded());
    expect(tableFile()).toBeUndefined();
    standin.faults({});
    expect(await tuned()).toContain('matvec_rows 8');
  });
});
