// What a device says of itself, which row of the table of the chips it goes by, and what may be chosen by hand.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCase } from '../support/models/golden.ts';
import { loadOnMetal, metalAddon, needsStandin, standin } from './standin.ts';

needsStandin();
beforeEach(() => vi.stubEnv('LONGHAND_METAL_TUNING', ''));
afterEach(() => {
  standin.faults({});
  vi.unstubAllEnvs();
});

const { folder } = readCase('qwen3/qk_norm_tied');
async function device() {
  const model = await loadOnMetal(folder);
  const told = model.device;
  model.close();
  return told;
}
const GENERAL =
  'matvec_rows=4 matvec_simdgroups=2 attention_shared=0 delta_slices=1 scan_simdgroups=4 delta_chunk_from=0 ' +
  'attention_groups=0 matmul_half=0 matmul_tensor=0';
/** The general table with other figures. */
const table = (changed: Record<string, number>) =>
  Object.entries(changed).reduce(
    (text, [name, value]) => text.replace(RegExp(`\\b${name}=\\d+`), `${name}=${value}`),
    GENERAL,
  );

test.each<[string, string, Record<string, number>]>([
  ['Apple M1', 'table of the chip', { attention_groups: 16 }],
  ['Apple M2 Pro', 'table of the chip', { attention_groups: 40 }],
  ['Apple M3 Max', 'table of the chip', { attention_groups: 80 }],
  ['Apple M2 Ultra', 'table of the chip', { attention_groups: 160 }],
  ['Apple A17 Pro', 'general table', {}],
  ['Another GPU', 'general table', {}],
])('%s goes by the %s', async (deviceName, origin, changed) => {
  standin.faults({ deviceName });
  const { name, tuning, unified } = await device();
  expect(unified).toBe(true);
  expect(name).toBe(deviceName);
  expect(tuning).toBe(`${origin}: ${table(changed)}`);
});

test('an M5 reads in chunks and by its matrix units', async () => {
  standin.faults({ deviceName: 'Apple M5 Pro', family: 1010 });
  expect((await device()).tuning).toBe(
    `table of the chip: ${table({ attention_groups: 40, delta_chunk_from: 256, matmul_tensor: 1 })}`,
  );
});

test.each([
  [1008, 'Apple8 family'],
  [1009, 'Apple9 family'],
  [1010, 'Apple10 family'],
])('of family %d it says %s', async (family, detail) => {
  standin.faults({ family });
  expect((await device()).detail).toBe(detail);
});

test('words of the environment choose by hand, one or several', async () => {
  for (const [words, changed] of [
    ['matvec_rows=8', { matvec_rows: 8 }],
    ['delta_chunk_from=0', {}],
    ['delta_chunk_from=77,attention_groups=160', { delta_chunk_from: 77, attention_groups: 160 }],
    [
      'scan_simdgroups=1,delta_slices=8,attention_shared=1,',
      { scan_simdgroups: 1, delta_slices: 8, attention_shared: 1 },
    ],
  ] as const) {
    vi.stubEnv('LONGHAND_METAL_TUNING', words);
    expect((await device()).tuning).toBe(`LONGHAND_METAL_TUNING: ${table(changed)}`);
  }
});

test.each([
  'matvec_rows=5',
  'matvec_rows=8x',
  'matvec_rows=',
  'matvec_row=8',
  'delta_chunk_from=-1',
  'matvec_rows=8,,attention_groups=0',
  'attention_groups=41',
])('%s is refused with all that may be chosen', async (words) => {
  vi.stubEnv('LONGHAND_METAL_TUNING', words);
  await expect(loadOnMetal(folder)).rejects.toMatchObject({
    code: 'device',
    message:
      `[metal] LONGHAND_METAL_TUNING is "${words}", expected matvec_rows=4 or 8, matvec_simdgroups=2 or 4 or 8, ` +
      'attention_shared=0 or 1, delta_slices=1 or 2 or 4 or 8, scan_simdgroups=1 or 2 or 4, ' +
      'delta_chunk_from=<tokens>, 0 for never, attention_groups=0 or 16 or 40 or 80 or 160, matmul_half=0 or 1, ' +
      'matmul_tensor=0 or 1',
  });
});

test('a tuner is on or off', async () => {
  vi.stubEnv('LONGHAND_METAL_TUNER', 'maybe');
  await expect(loadOnMetal(folder)).rejects.toMatchObject({
    code: 'device',
    message: '[metal] LONGHAND_METAL_TUNER is "maybe", expected on or off',
  });
});

test('a model without room says how much is asked for, and how much is there', async () => {
  standin.faults({ memoryLimit: standin.counters().allocated + 1000 });
  const failure = await loadOnMetal(folder).then(
    () => new Error('it was loaded'),
    (error: Error) => error,
  );
  const [, wanted, used, all] = /GPU cannot give (\d+) bytes: (\d+) of (\d+) are in use$/.exec(failure.message) ?? [];
  expect(Number(all)).toBe(standin.counters().allocated + 1000);
  expect(Number(used) + Number(wanted)).toBeGreaterThan(Number(all));
  expect(Number(wanted)).toBeLessThan(readFileSync(`${folder}/model.safetensors`).length + 64 * 1024);
});

test('the list of devices says the same as the model', async () => {
  const [metal] = (await metalAddon.devices({ standin: true })).filter(({ backEnd }) => backEnd === 'metal');
  expect(metal).toEqual({ ...(await device()), available: true });
});
