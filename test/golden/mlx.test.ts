// Quantised MLX conversions: the logits are those of the dequantised weights in fp32. Norms are stored with one added, which
// the layout of the convolutions tells.
import { describe, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { checkGreedy, checkLogits, instructionSets, readCase } from '../support/models/golden.ts';
import { mlxFolders } from './cases.ts';

describe.each(instructionSets)('%s', (cpu) => {
  test.each(mlxFolders)('%s', { timeout: 120_000 }, async (name) => {
    const reference = readCase(`mlx_models/${name}`);
    const model = await addon.load(reference.folder, { cpu });
    await checkLogits(model, reference);
    await checkGreedy(model, reference);
    model.close();
  });
});
