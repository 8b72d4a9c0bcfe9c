// Models as published on the hub, against transformers in fp32: logits at every position, hidden states, final states,
// greedy continuation; every chunking of the prompt; every instruction set of this processor.
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { checkGreedy, checkHidden, checkLogits, checkStates, instructionSets, readCase } from '../support/golden.ts';

const cases = [
  'llama/gqa_tied',
  'llama/rope_llama3',
  'qwen3/qk_norm_tied',
  'qwen3/hd128_untied',
  'qwen3_5/dense_tied',
  'qwen3_5/dense_gqa_mixed',
  'qwen3_5/real_head_dims',
];
const withBf16File = ['llama/gqa_tied', 'qwen3_5/dense_tied'];

describe.each(instructionSets)('%s', (cpu) => {
  test.each(cases)('%s gives the numbers of the reference', { timeout: 120_000 }, async (name) => {
    const reference = readCase(name);
    const model = await addon.load(reference.folder, { cpu });
    await checkLogits(model, reference);
    await checkHidden(model, reference);
    await checkStates(model, reference);
    await checkGreedy(model, reference);
    model.close();
  });

  test.each(withBf16File)('%s stored in bf16 gives the numbers of its rounded weights', async (name) => {
    const all = readCase(name);
    const prompts = all.prompts.filter((prompt) => all.expected(`bf16_weights.logits.${prompt.name}`) !== undefined);
    const model = await addon.load(join(all.folder, 'model_bf16.safetensors'), { cpu });
    await checkLogits(model, { ...all, prompts }, 'bf16_weights.logits.');
    model.close();
  });
});
