// The same models converted to GGUF: permuted rotary pairs, norms with one added, tiled value heads, decay as -exp(A_log).
// The F32 file must give the logits of the original, the mixed one those of its dequantised weights.
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { checkLogits, instructionSets, readCase } from '../support/golden.ts';

const cases: [name: string, file: string][] = [
  ['llama', 'f32'],
  ['llama', 'mixed'],
  ['llama_rope_llama3', 'f32'],
  ['qwen3', 'f32'],
  ['qwen3', 'mixed'],
  ['qwen35', 'f32'],
  ['qwen35', 'mixed'],
  ['lfm2', 'f32'],
  ['lfm2', 'mixed'],
];

describe.each(instructionSets)('%s', (cpu) => {
  test.each(cases)('%s, %s weights', { timeout: 120_000 }, async (name, file) => {
    const reference = readCase(`gguf_models/${name}`);
    const model = await addon.load(join(reference.folder, `model-${file}.gguf`), { cpu });
    await checkLogits(model, reference, `${file}.logits.`);
    model.close();
  });
});
