// What may be wrong with a driver, a device or its memory: a sentence each time, and the process goes on.
import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Device } from '../../native/addon/index.d.ts';
import { golden } from '../support/addon.ts';
import { readSafetensors, type StoredTensor, safetensors, temporaryFolder } from '../support/models/formats.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library, manifest, scratchFile } from './drivers.ts';

needsVulkan();
const timeout = 120_000;
const model = join(golden, 'llama', 'gqa_tied');
const listed = "async (addon) => (await addon.devices()).filter(({ backEnd }) => backEnd === 'vulkan')";
const devices = (env: Record<string, string>) => inProcess<Device[]>(listed, env);
const reasons = (env: Record<string, string>) => devices(env).map(({ reason }) => reason ?? '');

/** Greedy tokens on Vulkan, twice in one process; what went wrong in the place of a run that failed. */
const twice = (path: string) => `async (addon) => {
  const outcomes = [];
  for (let i = 0; i < 2; i++) {
    try {
      const model = await addon.load(${JSON.stringify(path)}, { device: 'vulkan' });
      const session = model.createSession({ context: 256 });
      const prompt = Int32Array.from({ length: 20 }, (_, i) => (i * 7 + 3) % 50);
      const { tokens } = await session.generate(prompt, { maxTokens: 6, temperature: 0 });
      outcomes.push(Array.from(tokens));
      session.close();
      model.close();
    } catch (error) {
      outcomes.push(error.message);
    }
  }
  return outcomes;
}`;
const runs = (env: Record<string, string>, path = model) => inProcess<(number[] | string)[]>(twice(path), env);

describe('without a driver', () => {
  test('no loader', () => {
    expect(reasons({ LONGHAND_VULKAN_LOADER: '/nowhere/libvulkan.so.1' })).toEqual([
      'this computer has no Vulkan loader (libvulkan.so.1); it comes with the graphics driver',
    ]);
  });
  test('no driver', () => {
    expect(reasons({ VK_ICD_FILENAMES: '/nowhere/driver.json' })).toEqual(['no Vulkan driver is installed']);
  });
  test('a driver that crashes costs a line, not the process', () => {
    const [reason] = reasons({ VK_ICD_FILENAMES: manifest(library('crashing')) });
    expect(reason).toBe('the Vulkan driver of this computer crashed when it was tried (signal 11)');
  });
});

describe('with a faulty device', { timeout }, () => {
  const faulty = { LONGHAND_VULKAN_LOADER: library('faulty') };
  const sound = runs({});

  test('two devices, and a crash in the second: the first is used', () => {
    const [first, second, ...more] = devices({ ...faulty, FAULTY_DEVICES: '2', FAULTY_CRASH: '1' });
    expect(first?.available).toBe(true);
    expect(second).toMatchObject({ id: 'vulkan:1', available: false });
    expect(second?.reason).toBe('its driver crashed when it was tried (signal 11)');
    expect(more).toEqual([]);
  });
  test('what a device lacks is named', () => {
    expect(reasons({ ...faulty, FAULTY_TIMELINE: '0' })[0]).toMatch(/does not have timeline semaphores$/);
  });
  test('a device that is not there', () => {
    const asked = `async (addon) => addon.load(${JSON.stringify(model)}, { device: 'vulkan:7' }).catch(String)`;
    expect(inProcess<string>(asked, faulty)).toMatch(/there is no Vulkan device 7, this computer has 1/);
  });

  test('sound, it writes', () => {
    expect(sound[0]).toHaveLength(6);
    expect(sound[1]).toEqual(sound[0]);
  });
  test('memory of its own, reached by staging: the same tokens', () => {
    expect(runs({ ...faulty, FAULTY_DISCRETE: '1' })).toEqual(sound);
  });
  test('bindings of 64 KB: matrices in many parts, the same tokens', () => {
    expect(runs({ ...faulty, FAULTY_RANGE: '65536' })).toEqual(sound);
  });
  test('keys of 150 KB in bindings of 140 KB: attention in two windows, the same bits', () => {
    const long = `async (addon) => {
      const model = await addon.load(${JSON.stringify(model)}, { device: 'vulkan' });
      const session = model.createSession({ context: 2048 });
      const prompt = Int32Array.from({ length: 1200 }, (_, i) => (i * 7 + 3) % 50);
      return Array.from((await session.logits(prompt, { chunk: 64 })).data);
    }`;
    const whole = inProcess<number[]>(long, {});
    expect(inProcess<number[]>(long, { ...faulty, FAULTY_RANGE: '140000' })).toEqual(whole);
  });
  test('what cannot be split is refused with the numbers', () => {
    const [outcome] = runs({ ...faulty, FAULTY_RANGE: '16384' });
    expect(outcome).toMatch(/^\[vulkan\] one operation needs \d+ bytes in one piece, this GPU allows 16384$/);
  });
  test('what has no kernel is refused when it is loaded, by its name', () => {
    const [outcome] = runs({ ...faulty, FAULTY_RANGE: '4352' });
    expect(outcome).toMatch(/^\[vulkan\] one row of "model\.[\w.]+" is larger than a binding of this GPU$/);
    const source = join(golden, 'qwen3_5_moe', 'top3');
    const stored = readSafetensors(readFileSync(join(source, 'model_per_expert.safetensors')));
    const name = Object.keys(stored).find((tensor) => /experts\.1\.gate_proj/.test(tensor)) ?? '';
    const { shape, bytes } = stored[name] as StoredTensor;
    // The upper half of a float is a bf16.
    const halves = Uint8Array.from(bytes).filter((_, at) => at % 4 >= 2);
    const mixed = temporaryFolder({
      'config.json': readFileSync(join(source, 'config.json')),
      'model.safetensors': safetensors({ ...stored, [name]: { dtype: 'BF16', shape, bytes: halves } }),
    });
    const load = `async (addon) => addon.load(${JSON.stringify(mixed)}, { device: 'vulkan' }).then(() => '', ({ message }) => message)`;
    expect(inProcess<string>(load, {})).toMatch(
      /^\[vulkan\] the experts of "[^"]+experts[^"]*" are stored in different types$/,
    );
  });
  test('workgroups of 128: the same tokens', () => {
    expect(runs({ ...faulty, FAULTY_GROUP: '128' })).toEqual(sound);
  });
  test('16 KB of shared memory, the least that Vulkan allows: the same tokens', () => {
    expect(runs({ ...faulty, FAULTY_SHARED: '16384' })).toEqual(sound);
  });
  test.each(['128', '512'])('a native vector of %s bits, subgroups of another size: the same tokens', (bits) => {
    expect(runs({ LP_NATIVE_VECTOR_WIDTH: bits })).toEqual(sound);
  });
  test.each([4, 8, 16, 32, 64])(
    'subgroups of %i: the same tokens where the driver allows them, else what it does',
    (size) => {
      const forced = { LONGHAND_VULKAN_SUBGROUP: String(size) };
      const [device] = devices(forced);
      if (device?.available) {
        expect(device.detail).toContain(`subgroups of ${size}`);
        expect(runs(forced)).toEqual(sound);
      } else {
        const asked = new RegExp(` has subgroups of (\\d+) to (\\d+), LONGHAND_VULKAN_SUBGROUP asks for ${size}$`);
        const [, least, most] = asked.exec(device?.reason ?? '') ?? [];
        expect(Number(least) > size || Number(most) < size).toBe(true);
      }
    },
  );
  test.each(['0', '12', 'many'])('a size of %s is none', (size) => {
    expect(reasons({ LONGHAND_VULKAN_SUBGROUP: size })[0]).toMatch(
      new RegExp(`LONGHAND_VULKAN_SUBGROUP asks for ${size}$`),
    );
  });
  test('no extension, no 16-bit arithmetic, asked for or not: the same tokens', () => {
    const plain = { ...faulty, FAULTY_PLAIN: '1', LONGHAND_VULKAN_VARIANTS: 'dot,half' };
    expect(devices(plain)[0]?.detail).toMatch(/subgroups of \d+$/);
    expect(runs(plain)).toEqual(sound);
  });

  test('out of memory in the middle of a load: said, and what was taken is given back', () => {
    const large = join(golden, 'lfm2', 'auto_adjust');
    const [first, second] = runs({ ...faulty, FAULTY_MEMORY: '1150000' }, large);
    expect(first).toMatch(/^\[memory\] the GPU cannot give \d+ bytes: out of device memory$/);
    expect(second).toBe(first);
  });
  test('the device is lost', () => {
    for (const outcome of runs({ ...faulty, FAULTY_SUBMIT: '6' })) expect(outcome).toMatch(/the device was lost$/);
  });
  test('a kernel the driver cannot compile is named', () => {
    const [outcome] = runs({ ...faulty, FAULTY_COMPILE: '3' });
    expect(outcome).toMatch(/^\[vulkan\] the driver cannot compile kernel [a-z_]+: the driver could not be started$/);
  });
});

describe('kept pipelines', { timeout }, () => {
  const folder = scratchFile('kept');
  const kept = () => join(folder, readdirSync(folder).find((name) => name.endsWith('.vkcache')) ?? 'none');

  test('are written once, and again when they are damaged', () => {
    const expected = runs({ LONGHAND_VULKAN_CACHE: folder });
    const whole = readFileSync(kept());
    truncateSync(kept(), whole.length / 2);
    expect(runs({ LONGHAND_VULKAN_CACHE: folder })).toEqual(expected);
    expect(readFileSync(kept()).length).toBeGreaterThan(whole.length / 2);
    // One byte is enough: no driver is given what is not what was written.
    const caches = scratchFile('caches');
    const given = () => {
      writeFileSync(caches, '');
      const env = { LONGHAND_VULKAN_LOADER: library('faulty'), LONGHAND_VULKAN_CACHE: folder, FAULTY_CACHES: caches };
      expect(runs(env)).toEqual(expected);
      return readFileSync(caches, 'utf8').split('\n').map(Number);
    };
    expect(given()[0]).toBeGreaterThan(0);
    const flipped = readFileSync(kept());
    flipped[flipped.length - 9] = (flipped.at(-9) ?? 0) ^ 1;
    writeFileSync(kept(), flipped);
    expect(given()[0]).toBe(0);
    writeFileSync(kept(), Buffer.from(whole).fill(7, 30));
    expect(runs({ LONGHAND_VULKAN_CACHE: folder })).toEqual(expected);
    appendFileSync(kept(), 'more');
    expect(runs({ LONGHAND_VULKAN_CACHE: folder })).toEqual(expected);
  });
  test('a folder that cannot be made costs time only', () => {
    expect(runs({ LONGHAND_VULKAN_CACHE: '/dev/null/nowhere' })[0]).toHaveLength(6);
    expect(existsSync('/dev/null/nowhere')).toBe(false);
  });
});
