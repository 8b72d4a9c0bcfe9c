// What one decoded token costs, counted where it happens, as on Metal (test/metal/budgets.test.ts): the shapes of
// Qwen3.5-0.8B, one gated-delta layer and one attention layer.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { config, tensors } from '../metal/shapes.ts';
import { safetensors, temporaryFolder } from '../support/formats.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library, scratchFile } from './drivers.ts';

needsVulkan();

test('5 dispatches a gated-delta layer, 6 an attention layer, one to embed and one for the scores; one submission', {
  timeout: 240_000,
}, () => {
  const folder = temporaryFolder({ 'config.json': config, 'model.safetensors': safetensors(tensors()) });
  const counts = scratchFile('counts');
  const decode = `async (addon) => {
    const model = await addon.load(${JSON.stringify(folder)}, { device: 'vulkan' });
    const session = model.createSession({ path: 'exact', kvType: 'f32' });
    await session.logits(Int32Array.from({ length: 6 }, (_, i) => i + 3), { chunk: 6 });
    for (let i = 0; i < 2; i++)
      await session.generate(Int32Array.of(...session.tokens(), 7 + i), { maxTokens: 1, path: 'exact' });
    model.close();
    return 'done';
  }`;
  inProcess(decode, { LONGHAND_VULKAN_LOADER: library('faulty'), FAULTY_COUNTS: counts });
  const submissions = readFileSync(counts, 'utf8').trim().split('\n');
  const [dispatches, barriers] = (submissions.at(-1) ?? '').split(' ').map(Number);
  expect(submissions.at(-2)).toBe(submissions.at(-1));
  expect(dispatches).toBeLessThanOrEqual(5 + 6 + 2);
  expect(barriers).toBeLessThanOrEqual(5 + 6 + 2 + 1);
});
