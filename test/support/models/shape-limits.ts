// Models that are larger than a GPU's kernels allow are refused by name when they are loaded, and never computed wrongly.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../addon.ts';
import { readSafetensors, safetensors, temporaryFolder } from './formats.ts';

/** The LFM2 case with convolutions of `taps` taps. */
function widened(taps: number): string {
  const source = join(golden, 'lfm2/auto_adjust');
  const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8')) as object;
  const tensors = readSafetensors(readFileSync(join(source, 'model.safetensors')));
  for (const [name, tensor] of Object.entries(tensors)) {
    if (!name.endsWith('conv.conv.weight')) continue;
    const [channels = 0, , before = 0] = tensor.shape;
    tensor.shape = [channels, 1, taps];
    tensor.bytes = Buffer.alloc((tensor.bytes.length / before) * taps, 1);
  }
  return temporaryFolder({
    'config.json': JSON.stringify({ ...config, conv_L_cache: taps }),
    'model.safetensors': safetensors(tensors),
  });
}

export function shapeLimits(backEnd: string, load: (path: string) => Promise<Model>): void {
  test('a convolution that is wider than the kernels take is refused at the load, and the CPU takes it', async () => {
    const folder = widened(9);
    await expect(load(folder)).rejects.toMatchObject({
      code: 'unsupported',
      message: `[${backEnd}] layer 0 has convolutions of 9, this back end computes at most 8; the CPU takes any`,
    });
    (await addon.load(folder, { device: 'cpu' })).close();
    (await load(widened(8))).close();
  });
}
