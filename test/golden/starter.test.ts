// The built-in model against transformers in fp32: the ten best logits of the next token and the greedy continuation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, repository } from '../support/addon.ts';
import { exactSession, instructionSets } from '../support/models/golden.ts';

interface ReferencePrompt {
  name: string;
  ids: number[];
  top10: { id: number; logit: number }[];
  greedy_ids: number[];
}
const folder = join(repository, 'resources', 'starter-model');
const { prompts } = JSON.parse(readFileSync(join(folder, 'reference.json'), 'utf8')) as { prompts: ReferencePrompt[] };

/** The file gives five decimals; two implementations in fp32 differ by up to 5e-5 on this model. */
const tolerance = 2e-4;

test.each(instructionSets)('%s: the starter answers as the reference', async (cpu) => {
  const model = await addon.load(folder, { cpu });
  for (const prompt of prompts) {
    const session = exactSession(model);
    const { data } = await session.logits(Int32Array.from(prompt.ids));
    const best = Array.from(data, (logit, id) => ({ id, logit }))
      .sort((a, b) => b.logit - a.logit)
      .slice(0, prompt.top10.length);
    expect(
      best.map(({ id }) => id),
      prompt.name,
    ).toEqual(prompt.top10.map(({ id }) => id));
    for (const [i, { logit }] of prompt.top10.entries()) {
      expect(Math.abs((best[i]?.logit ?? Number.NaN) - logit), prompt.name).toBeLessThanOrEqual(tolerance);
    }
    const { tokens } = await session.generate(Int32Array.from(prompt.ids), {
      maxTokens: prompt.greedy_ids.length,
      path: 'exact',
    });
    expect(tokens, prompt.name).toEqual(prompt.greedy_ids);
    session.close();
  }
  model.close();
});
