// `longhand trace` and `longhand logits`: the numbers that are printed and the file that is written.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeSafetensors } from '../../../../app/cli/runtime/safetensors.ts';
import { longhand } from '../../../support/core/cli.ts';
import { newFolder } from '../../../support/core/core.ts';

test('trace prints mean and deviation of each tensor, and the largest difference from another file', async () => {
  const here = newFolder();
  const write = (name: string, ...numbers: number[]) =>
    writeSafetensors(join(here, name), [{ name: 'layer.0', shape: [2, 2], data: Float32Array.from(numbers) }]);
  await write('a.safetensors', 1, 3, 5, 7);
  await write('b.safetensors', 1, 3, 4, 7.5);
  const { code, out } = await longhand(here, ['trace', 'a.safetensors', 'b.safetensors']);
  expect(code).toBe(0);
  expect(out.split('\n')[1]?.split(/ {2,}/)).toEqual(['layer.0', '[2, 2]', '4.000e+0', '2.236e+0', '1.000e+0']);
});

test('logits that found no room are not said to be written', async (context) => {
  if (process.platform !== 'linux') context.skip('needs Linux: a file that is always full');
  const { code, out, err } = await longhand(newFolder(), ['logits', '--tokens', '1,2', '--out', '/dev/full']);
  expect(out).not.toContain('/dev/full: logits');
  expect(err).toContain('[--out] /dev/full cannot be written');
  expect(code).toBe(1);
});
