// The same models converted to GGUF: permuted rotary pairs, norms with one added, tiled value heads, decay as -exp(A_log).
// The F32 file must give the logits of the original, the mixed one those of its dequantised weights.
// The first are written by gguf-py, the second by test/support/models/gguf-conversion.ts from other golden models.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { checkGreedy, checkLogits, checkStates, instructionSets, readCase } from '../support/models/golden.ts';
import { convertedFile, ggufConverted, ggufFiles } from './cases.ts';

describe.each(instructionSets)('%s', (cpu) => {
  test.each(ggufFiles)('%s, %s weights', { timeout: 120_000 }, async (name, file) => {
    const reference = readCase(`gguf_models/${name}`);
    const model = await addon.load(join(reference.folder, `model-${file}.gguf`), { cpu });
    await checkLogits(model, reference, `${file}.logits.`);
    model.close();
  });

  test.each(ggufConverted)('%s converted from %s', { timeout: 120_000 }, async (arch, name, weights) => {
    const reference = readCase(name);
    const model = await addon.load(convertedFile(arch, name, weights), { cpu });
    expect(model.description.container).toBe('gguf');
    await checkLogits(model, reference);
    // Tiled value heads are another order of the same states.
    if (arch !== 'qwen35moe') await checkStates(model, reference);
    await checkGreedy(model, reference);
    model.close();
  });
});
