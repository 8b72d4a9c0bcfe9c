// What a pass takes beside weights, keys and states does not grow with the context.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import { someTokens } from '../../support/models/models.ts';

test('attention over a long context takes no more scratch than over a short one', async () => {
  const after = async (tokens: number) => {
    const model = await addon.load(join(golden, 'llama/gqa_tied'), { device: 'cpu', threads: 2 });
    await model.createSession({ path: 'exact', contextLength: 8192 }).logits(someTokens(tokens));
    const bytes = model.scratchBytes();
    model.close();
    return bytes;
  };
  const short = await after(1024);
  expect(short).toBeGreaterThan(0);
  expect(await after(6144)).toBeLessThanOrEqual(1.05 * short);
});
