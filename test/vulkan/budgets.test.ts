// What one decoded token costs, counted where it happens, as on Metal (test/metal/budgets.test.ts): the shapes of
// Qwen3.5-0.8B, one gated-delta layer and one attention layer.
import { expect, test } from 'vitest';
import { safetensors, temporaryFolder } from '../support/models/formats.ts';
import { full } from '../support/models/shapes.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library, scratchFile } from './drivers.ts';

needsVulkan();

test.each([
  ['memory that the CPU reaches too', {}],
  ['memory of its own', { FAULTY_DISCRETE: '1' }],
])(
  '%s: 5 dispatches a gated-delta layer, 6 an attention layer, one to embed and two for the scores, in one submission',
  {
    timeout: 240_000,
  },
  (title, kind) => {
    const folder = temporaryFolder({ 'config.json': full.config, 'model.safetensors': safetensors(full.tensors()) });
    const counts = scratchFile(`counts ${title}`);
    // A line "<dispatches> <barriers>" for each submission, of answers of one token and of four.
    const decode = `async (addon) => {
    const model = await addon.load(${JSON.stringify(folder)}, { device: 'vulkan' });
    const lines = () => require('node:fs').readFileSync(${JSON.stringify(counts)}, 'utf8').trim().split('\\n');
    const answer = async (maxTokens) => {
      const session = model.createSession({ path: 'exact', kvType: 'f32' });
      const before = lines().length;
      const prompt = Int32Array.from({ length: 6 }, (_, i) => i + 3);
      const { tokens } = await session.generate(prompt, { maxTokens, temperature: 0, path: 'exact' });
      session.close();
      return { tokens: tokens.length, submissions: lines().slice(before) };
    };
    const answers = [await answer(1), await answer(4)];
    model.close();
    return answers;
  }`;
    const [short, long] = inProcess<{ tokens: number; submissions: string[] }[]>(decode, {
      LONGHAND_VULKAN_LOADER: library('faulty'),
      FAULTY_COUNTS: counts,
      ...kind,
    });
    expect([short?.tokens, long?.tokens]).toEqual([1, 4]);
    const added = (long?.submissions ?? []).slice(short?.submissions.length);
    expect(added).toHaveLength(3);
    for (const submission of added) {
      const [dispatches, barriers] = submission.split(' ').map(Number);
      expect(dispatches).toBe(5 + 6 + 3);
      expect(barriers).toBeLessThanOrEqual(5 + 6 + 3 + 1);
    }
  },
);
