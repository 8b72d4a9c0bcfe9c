// Whole models through the Metal back end: the same references, tolerances and chunkings as on the CPU.
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { checkGreedy, checkHidden, checkLogits, checkStates, readCase } from '../support/golden.ts';
import { loadOnMetal } from './standin.ts';

const published = [
  'llama/gqa_tied',
  'llama/rope_llama3',
  'qwen3/qk_norm_tied',
  'qwen3/hd128_untied',
  'qwen3_5/dense_tied',
  'qwen3_5/dense_gqa_mixed',
  'qwen3_5/real_head_dims',
];
const converted: [name: string, file: string][] = [
  ['llama', 'f32'],
  ['llama', 'mixed'],
  ['llama_rope_llama3', 'f32'],
  ['qwen3', 'mixed'],
  ['qwen35', 'f32'],
  ['qwen35', 'mixed'],
];

describe('on Metal', () => {
  test.each(published)('%s gives the numbers of the reference', { timeout: 240_000 }, async (name) => {
    const reference = readCase(name);
    const model = await loadOnMetal(reference.folder);
    await checkLogits(model, reference);
    await checkHidden(model, reference);
    await checkStates(model, reference);
    await checkGreedy(model, reference);
    model.close();
  });

  test.each(converted)('GGUF %s, %s weights', { timeout: 240_000 }, async (name, file) => {
    const reference = readCase(`gguf_models/${name}`);
    const model = await loadOnMetal(join(reference.folder, `model-${file}.gguf`));
    await checkLogits(model, reference, `${file}.logits.`);
    model.close();
  });
});
