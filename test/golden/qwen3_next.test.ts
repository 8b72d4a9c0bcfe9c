// Qwen3-Next: fusing the golden weights as it stores them must change nothing.
import { expect, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { checkGreedy, checkLogits, instructionSets, readCase } from '../support/models/golden.ts';
import { fusedFolder } from '../support/models/qwen3-next.ts';

test.each(instructionSets)('%s: grouped projections are cut into place', async (cpu) => {
  const reference = readCase('qwen3_5_moe/top3');
  const model = await addon.load(fusedFolder(reference.folder), { cpu });
  expect(model.description.family).toBe('qwen3_next');
  await checkLogits(model, reference);
  await checkGreedy(model, reference);
  model.close();
});
