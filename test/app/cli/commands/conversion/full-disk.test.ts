// A disk that is full while a model with latent attention is written.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { golden } from '../../../../support/addon.ts';
import { root } from '../../../../support/core/core.ts';
import { temporaryFolder } from '../../../../support/models/formats.ts';

const base = join(golden, 'mha2mla/base');
const common = ['--mla', '--model', base, '--pairs', '2', '--rank', '4', '--skip-quality', '--json'];

/** No file may have more of these blocks of 512 bytes. */
function convert(folder: string, blocks: number, given: readonly string[]) {
  const command = [process.execPath, join(root, 'app/cli/main.ts'), 'convert', '--out', join(folder, 'b'), ...common];
  const limited = ['-c', `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`, 'sh', ...command, ...given];
  return spawnSync('sh', limited, { encoding: 'utf8', env: { ...process.env, LONGHAND_ROOT: root } });
}

// In the header, in a projection and in what is copied last; in the first factor of either layer.
test.each([
  ['factors', [2, 260, 520], ['--rope', 'high', '--svd', 'split']],
  ['regression', [285, 505], ['--rope', 'high', '--svd', 'regression', '--calibration', join(base, 'expected.json')]],
] as const)(
  'wherever the file ends, that is a sentence, and nothing of it stays: %s',
  {
    timeout: 120_000,
  },
  (_, limits, given) => {
    const folder = temporaryFolder();
    for (const blocks of limits) {
      const { stdout, stderr, status } = convert(folder, blocks, given);
      expect(stderr, `${blocks} blocks`).toBe('');
      expect(JSON.parse(stdout), `${blocks} blocks`).toMatchObject({ error: { code: 'disk-full' } });
      expect(status).toBe(1);
      expect(readdirSync(folder)).toEqual([]);
    }
  },
);
