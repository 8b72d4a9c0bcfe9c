// What one decoded token costs, counted where it happens, as on Metal (test/metal/budgets.test.ts): the shapes of
// Qwen3.5-0.8B, one gated-delta layer and one attention layer.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { golden } from '../support/addon.ts';
import { safetensors, temporaryFolder } from '../support/models/formats.ts';
import { full } from '../support/models/shapes.ts';
import { needsVulkan } from './device.ts';
import { inProcess, library, scratchFile } from './drivers.ts';

needsVulkan();

/** What each token after the first takes, of a prompt of so many: a line "<dispatches> <barriers>" for each submission. */
function decoded(folder: string, length: number, kind: Record<string, string> = {}): string[] {
  const counts = scratchFile(`counts ${length} ${Object.keys(kind)}`);
  const decode = `async (addon) => {
    const model = await addon.load(${JSON.stringify(folder)}, { device: 'vulkan' });
    const lines = () => require('node:fs').readFileSync(${JSON.stringify(counts)}, 'utf8').trim().split('\\n');
    const answer = async (maxTokens) => {
      const session = model.createSession({ path: 'exact', kvType: 'f32' });
      const before = lines().length;
      const prompt = Int32Array.from({ length: ${length} }, (_, i) => i + 3);
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
  return added;
}

test.each([
  ['memory that the CPU reaches too', {}],
  ['memory of its own', { FAULTY_DISCRETE: '1' }],
])(
  '%s: 5 dispatches a gated-delta layer, 6 an attention layer, one to embed and two for the scores, in one submission',
  {
    timeout: 240_000,
  },
  (_title, kind) => {
    const folder = temporaryFolder({ 'config.json': full.config, 'model.safetensors': safetensors(full.tensors()) });
    for (const submission of decoded(folder, 6, kind)) {
      const [dispatches, barriers] = submission.split(' ').map(Number);
      expect(dispatches).toBe(5 + 6 + 3);
      expect(barriers).toBeLessThanOrEqual(5 + 6 + 3 + 1);
    }
  },
);

test('the keys of a longer text are shared out among workgroups: one dispatch more an attention layer', {
  timeout: 240_000,
}, () => {
  const [folder, layers] = [join(golden, 'qwen3', 'qk_norm_tied'), 3];
  const dispatches = (length: number) => decoded(folder, length).map((submission) => Number(submission.split(' ')[0]));
  expect(dispatches(100)).toEqual(dispatches(6).map((few) => few + layers));
});
