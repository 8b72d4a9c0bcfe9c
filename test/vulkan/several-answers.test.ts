// Several answers of one model at once on Vulkan, with every variant of the kernels: each is what it would have been alone.
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { addon, golden } from '../support/addon.ts';
import { fewFamilies, someTokens, starter } from '../support/models/models.ts';
import { severalAnswers } from '../support/several-answers.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';
import { inProcess, library, scratchFile } from './drivers.ts';

needsVulkan();
vi.setConfig({ testTimeout: 240_000 });

severalAnswers(addon, loadOnVulkan, {
  long: 180,
  usual: join(golden, 'qwen3_5/dense_gqa_mixed'),
  among: fewFamilies,
});

test('a pass over states of 128 x 128 is the same in parts', async () => {
  const model = await loadOnVulkan(starter);
  const scores = async (chunk: number) => {
    const session = model.createSession({ contextLength: 512 });
    const { data } = await session.logits(someTokens(300), { chunk });
    session.close();
    return data;
  };
  expect(await scores(64)).toEqual(await scores(300));
  model.close();
});

/** Answers, one by one and then together, on both paths. */
const script = (folder: string, count: number) => `async (addon) => {
  const outcomes = [];
  for (const path of ['exact', 'fast']) {
    const model = await addon.load(${JSON.stringify(folder)}, { device: 'vulkan' });
    const ask = async (_, index) => {
      const session = model.createSession({ contextLength: 256, path });
      const scores = [];
      const { tokens } = await session.generate(Int32Array.from({ length: 12 + index }, (_, i) => (i * 7 + index) % 50), {
        maxTokens: 7, temperature: 0, logprobs: 2, path,
        onTokens: (events) => scores.push(...events.map(({ logprob, top }) => [logprob, top])),
      });
      session.close();
      return { tokens, scores };
    };
    const alone = [];
    for (let index = 0; index < ${count}; index++) alone.push(await ask(0, index));
    const before = addon.pulse().steps;
    const together = await Promise.all(Array.from({ length: ${count} }, ask));
    outcomes.push({ alone, together, steps: addon.pulse().steps - before });
    model.close();
  }
  return outcomes;
}`;
interface Outcome {
  alone: unknown[];
  together: unknown[];
}
function same(folder: string, env: Record<string, string>, count: number): void {
  const outcomes = inProcess<Outcome[]>(script(folder, count), env);
  expect(outcomes).toHaveLength(2);
  for (const { alone, together } of outcomes) expect(together).toEqual(alone);
}

const integers = join(golden, 'mlx_models/qwen3_5_4bit');
describe('the same bits', () => {
  const faulty = { LONGHAND_VULKAN_LOADER: library('faulty') };
  // Nine are more than the device takes in one product.
  test.each<[string, string, Record<string, string>, count?: number]>([
    ['integer products and f16', integers, { LONGHAND_VULKAN_VARIANTS: 'dot,half' }, 9],
    ['integer products and f16, the built-in model', starter, { LONGHAND_VULKAN_VARIANTS: 'dot,half' }],
    ['neither', integers, { LONGHAND_VULKAN_VARIANTS: '' }, 9],
    ['subgroups of 4', integers, { LONGHAND_VULKAN_VARIANTS: 'dot', LP_NATIVE_VECTOR_WIDTH: '128' }],
    ['subgroups of 16', integers, { LONGHAND_VULKAN_VARIANTS: 'dot', LP_NATIVE_VECTOR_WIDTH: '512' }],
    ['memory of its own', integers, { ...faulty, FAULTY_DISCRETE: '1' }],
    ['bindings of 64 KB', join(golden, 'llama/gqa_tied'), { ...faulty, FAULTY_RANGE: '65536' }],
    ['no extension', join(golden, 'lfm2/auto_adjust'), { ...faulty, FAULTY_PLAIN: '1' }],
  ])('%s', (_name, folder, env, count = 4) => same(folder, env, count));
});

/** Four answers while something goes wrong after a few tokens, then the same four once more. */
const failing = (folder: string, harm: string, mend: string) => `async (addon) => {
  const model = await addon.load(${JSON.stringify(folder)}, { device: 'vulkan' });
  const sessions = [0, 1, 2, 3].map(() => model.createSession({ contextLength: 2048, path: 'exact' }));
  const ask = async (session, index, onTokens) => {
    const prompt = Int32Array.from({ length: 32 + index }, (_, i) => (i % 15 === 14 ? 2 : 3 + ((i * 7 + index) % 50)));
    const { tokens } = await session.generate(prompt, { maxTokens: 12, temperature: 0, onTokens, stopTokens: [2] });
    return Array.from(tokens);
  };
  const all = (onTokens) => Promise.all(sessions.map((session, index) => ask(session, index, onTokens).catch(({ code }) => code)));
  const before = await all();
  let seen = 0;
  const during = await all(() => { if (++seen === 9) { ${harm} } });
  ${mend}
  return { before, during, after: await all() };
}`;
interface Failure {
  before: unknown[];
  during: unknown[];
  after: unknown[];
}

describe('a fault while four write', () => {
  const faulty = { LONGHAND_VULKAN_LOADER: library('faulty') };
  // The first requests of a pass come before anything is recorded, the last when all of it is.
  test.each([1, 2, 3])(
    'its memory is refused from the %i. request on: they fail in words, and are right afterwards',
    (n) => {
      const harm = `model.relieveMemory(); process.env.FAULTY_REFUSE = '${n}';`;
      const mend = "process.env.FAULTY_REFUSE = '0';";
      const outcome = inProcess<Failure>(failing(join(golden, 'qwen3_5/dense_gqa_mixed'), harm, mend), faulty);
      expect(outcome.during).toContain('memory');
      expect(outcome.after).toEqual(outcome.before);
    },
  );
  test('the device is lost: all of them say so, and none hangs', () => {
    const file = scratchFile('lose');
    const harm = `require('node:fs').writeFileSync(${JSON.stringify(file)}, '');`;
    const { during } = inProcess<Failure>(failing(join(golden, 'lfm2/auto_adjust'), harm, ''), {
      ...faulty,
      FAULTY_LOSE: file,
    });
    expect(new Set(during)).toEqual(new Set(['device']));
  });
});
