// What somebody sees of `longhand bench` while it measures.
import { expect, test } from 'vitest';
import { longhand } from '../../../support/core/cli.ts';
import { newFolder } from '../../../support/core/core.ts';

test('the run that warms up counts as work: while the last one goes on, the bar is not full', async () => {
  // So many tokens that there is time to draw the bar again for the second run.
  const sizes = ['--prompt-tokens', '1500', '--gen-tokens', '4', '--runs', '1'];
  const { code, err } = await longhand(newFolder(), ['bench', ...sizes], undefined, true);
  expect(code).toBe(0);
  const percents = [...err.matchAll(/measuring .* (\d+) %/g)].map(([, percent]) => percent);
  expect(percents[0]).toBe('0');
  expect(percents).not.toContain('100');
});
