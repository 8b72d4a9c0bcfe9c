// Another driver: Google's SwiftShader, which Debian's Chromium brings. Subgroups of 4, no integer products, no f16. Whole models,
// against the references of test/golden: all tokens of a prompt but one at once, then the last.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Device } from '../../native/addon/index.d.ts';
import { repository } from '../support/addon.ts';
import { newFolder } from '../support/core/core.ts';
import { largestDifference, readCase, required } from '../support/models/golden.ts';
import { soaking } from '../support/soak.ts';
import { inProcess, library, manifest } from './drivers.ts';

const driver = ['/usr/lib/chromium/libvk_swiftshader.so', '/opt/google/chrome/libvk_swiftshader.so'].find((path) =>
  existsSync(path),
);
beforeEach(({ skip }) => {
  if (driver === undefined) skip('needs SwiftShader: libvk_swiftshader.so of a Chromium');
});
const drivers = '/usr/share/vulkan/icd.d';
const env = () => ({ VK_ICD_FILENAMES: manifest(driver ?? '') });

// This driver is slow: in soaks of every kind of layer, else those that have most of them.
const models = [
  'qwen3_5_moe/top3',
  'minicpm_sala/gap',
  ...(soaking
    ? [
        'qwen3_5/dense_tied',
        'lfm2/auto_adjust',
        'mha2mla/uniform_r4_joint_rank8',
        'llama/gqa_tied',
        'qwen3/qk_norm_tied',
        'minicpm_sala/mixed',
      ]
    : []),
];

test('it is found, with what it can do', () => {
  const [device] = inProcess<Device[]>(
    "async (addon) => (await addon.devices()).filter(({ backEnd }) => backEnd === 'vulkan')",
    env(),
  );
  expect(device).toMatchObject({ available: true, name: expect.stringContaining('SwiftShader') });
  expect(device?.detail).toMatch(/subgroups of 4$/);
});

test.each(['SwiftShader', 'llvmpipe'])('beside another driver, %s as a discrete GPU comes first', (best) => {
  const mesa = readdirSync(drivers).find((name) => name.startsWith('lvp_icd')) ?? '';
  const both = { VK_ICD_FILENAMES: `${join(drivers, mesa)}:${env().VK_ICD_FILENAMES}`, FAULTY_BEST: best };
  const listed = inProcess<Device[]>(
    "async (addon) => (await addon.devices()).filter(({ backEnd }) => backEnd === 'vulkan')",
    { ...both, LONGHAND_VULKAN_LOADER: library('faulty') },
  );
  expect(listed.map(({ id, available }) => [id, available])).toEqual([
    ['vulkan:0', true],
    ['vulkan:1', true],
  ]);
  expect(listed.map(({ name }) => name.includes(best))).toEqual([true, false]);
});

test.each(models)('%s gives the numbers of the reference', { timeout: soaking ? 3_600_000 : 240_000 }, (name) => {
  const reference = readCase(name);
  const file = name.startsWith('mha2mla') ? '/model.safetensors' : '';
  const long = reference.prompts.filter(({ ids }) => ids.length > 9); // more rows than the matvec takes
  const [shortest, ...longer] = long.toSorted((a, b) => a.ids.length - b.ids.length);
  const prompts = [shortest, ...(soaking ? longer : [])].filter((prompt) => prompt !== undefined);
  const onDisk = soaking; // this driver is slow
  const work = `async (addon) => {
    const model = await addon.load(${JSON.stringify(reference.folder + file)}, { device: 'vulkan' });
    const read = [];
    for (const ids of ${JSON.stringify(prompts.map(({ ids }) => [...ids]))}) {
      for (const chunk of ${soaking ? '[1, ids.length - 1]' : '[ids.length - 1]'}) {
        const session = model.createSession({ path: 'exact', kvType: 'f32' });
        read.push(Array.from((await session.logits(Int32Array.from(ids), { all: true, chunk })).data));
        session.close();
      }
    }
    const onDisk = ${onDisk};
    const { fromDisk } = await import(${JSON.stringify(join(repository, 'test/support/models/from-disk.ts'))});
    const cold = onDisk ? await addon.load(${JSON.stringify(reference.folder + file)}, { device: 'vulkan' }) : null;
    const disk = onDisk && await fromDisk(model, cold, ${JSON.stringify(newFolder())});
    model.close();
    cold?.close();
    return { read, disk };
  }`;
  const { read, disk } = inProcess<{ read: number[][]; disk: object | false }>(work, env());
  // The prompt cache too: what another process would find equals what is read anew.
  expect(disk).toEqual(onDisk && { cached: 41, same: true });
  expect(read.length).toBe(prompts.length * (soaking ? 2 : 1));
  read.forEach((logits, i) => {
    const prompt = prompts[Math.floor((i * prompts.length) / read.length)];
    expect(
      largestDifference(Float32Array.from(logits), required(reference, `logits.${prompt?.name}`)),
      prompt?.name,
    ).toBeLessThanOrEqual(reference.logitsTolerance);
  });
});
