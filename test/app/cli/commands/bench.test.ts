// What somebody sees of `longhand bench` while it measures.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longhand } from '../../../support/core/cli.ts';
import { newFolder, root } from '../../../support/core/core.ts';

test('the run that warms up counts as work: while the last one goes on, the bar is not full', async () => {
  // So many tokens that there is time to draw the bar again for the second run.
  const sizes = ['--prompt-tokens', '1500', '--gen-tokens', '4', '--runs', '1'];
  const { code, err } = await longhand(newFolder(), ['bench', ...sizes], undefined, true);
  expect(code).toBe(0);
  const percents = [...err.matchAll(/measuring .* (\d+) %/g)].map(([, percent]) => percent);
  expect(percents[0]).toBe('0');
  expect(percents).not.toContain('100');
});

test('the speed of writing is that of the tokens after the first, which comes with the prompt', async () => {
  const addon = join(root, 'test/support/processes/timed-addon.cjs');
  const asked = ['bench', '--prompt-tokens', '8', '--gen-tokens', '4', '--runs', '1', '--json'];
  const { out } = await longhand(newFolder(), asked, undefined, false, addon);
  expect(JSON.parse(out)).toMatchObject({
    prefill_tokens_per_second: { median: 8 },
    decode_tokens_per_second: { median: 3 },
  });
});
