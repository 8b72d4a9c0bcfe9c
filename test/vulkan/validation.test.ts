// The Khronos validation layer watches whole models, synchronisation included, and has nothing to say.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { golden } from '../support/addon.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library, scratchFile } from './drivers.ts';

needsVulkan();

const models = [
  'llama/gqa_tied',
  'qwen3/qk_norm_tied',
  'qwen3_5/dense_tied',
  'qwen3_5_moe/top3',
  'lfm2/auto_adjust',
  'minicpm_sala/gap',
  'mha2mla/uniform_r4_joint_rank8/model.safetensors',
];

/** Reads a long prompt in chunks, then writes; keeps a snapshot by going back and on again; three write together. */
const work = (paths: readonly string[]) => `async (addon) => {
  for (const path of ${JSON.stringify(paths)}) {
    const model = await addon.load(path, { device: 'vulkan' });
    const session = model.createSession({ context: 256 });
    const prompt = Int32Array.from({ length: 75 }, (_, i) => (i * 7 + 3) % 50);
    await session.logits(prompt, { chunk: 37 });
    await session.generate(prompt, { maxTokens: 4, temperature: 0 });
    await session.generate(prompt.subarray(0, 60), { maxTokens: 2, temperature: 0 });
    const beside = [model.createSession({ context: 256 }), model.createSession({ context: 256 })];
    await Promise.all(
      [session, ...beside].map((each, i) => each.generate(prompt.subarray(i, 70), { maxTokens: 6, temperature: 0 })),
    );
    for (const each of beside) each.close();
    session.close();
    model.close();
  }
  return 'done';
}`;

/** What the layer wrote while `paths` ran. */
function watched(name: string, paths: readonly string[], env: Record<string, string> = {}): string {
  const log = scratchFile(`${name}.log`);
  const settings = scratchFile('vk_layer_settings.txt');
  const lines = [
    'debug_action = VK_DBG_LAYER_ACTION_LOG_MSG',
    'report_flags = error,warn,perf',
    `log_filename = ${log}`,
    'enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT',
  ];
  writeFileSync(settings, lines.map((line) => `khronos_validation.${line}\n`).join(''));
  const done = inProcess<string>(work(paths), {
    VK_INSTANCE_LAYERS: 'VK_LAYER_KHRONOS_validation',
    VK_LAYER_SETTINGS_PATH: settings,
    ...env,
  });
  expect(done).toBe('done');
  return readFileSync(log, 'utf8');
}

describe('validation', { timeout: 240_000 }, () => {
  test.each(models)('%s', (name) => {
    expect(watched(name.replaceAll('/', '-'), [join(golden, name)])).toBe('');
  });
  test('memory of its own, reached by staging', () => {
    const env = { LONGHAND_VULKAN_LOADER: library('faulty'), FAULTY_DISCRETE: '1' };
    expect(watched('discrete', [join(golden, 'qwen3_5/dense_tied')], env)).toBe('');
  });
  test('descriptor sets, where bindings cannot be recorded with a dispatch', () => {
    const env = { LONGHAND_VULKAN_LOADER: library('faulty'), FAULTY_PLAIN: '1' };
    expect(watched('plain', [join(golden, 'lfm2/auto_adjust')], env)).toBe('');
  });
  test('the kernels of the fast path for integer products and f16', () => {
    const env = { LONGHAND_VULKAN_VARIANTS: 'dot,half' };
    expect(watched('variants', [join(golden, 'mlx_models/qwen3_5_4bit')], env)).toBe('');
  });
  test('it sees a barrier that is missing', () => {
    const env = { LONGHAND_VULKAN_LOADER: library('faulty'), FAULTY_BARRIERS: '0' };
    expect(watched('control', [join(golden, 'llama/gqa_tied')], env)).toMatch(/SYNC-HAZARD/);
  });
});
