import { fork } from 'node:child_process';
import { platform } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/core/core.ts';
import { realModel } from '../../support/models/real-models.mjs';

//  What a load had taken when it was stopped goes back to the system: as resident memory of the process, not as its own word.

type Held = { base: number; loaded: number; during: number[]; after: number[] };

const STOPS = 5;

const stopped = (path: string): Promise<Held> =>
  new Promise((resolve, reject) => {
    const child = fork(join(root, 'test/support/processes/stopped-load-process.ts'), [path, String(STOPS)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: ['--expose-gc'],
    });
    child.once('message', (message) => resolve(message as Held));
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });

test.skipIf(platform() !== 'linux')(
  'memory of a load that was stopped is given back, however often',
  async () => {
    const { base, loaded, during, after } = await stopped(await realModel('smollm2'));
    const mb = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
    console.log(
      `without a model ${mb(base)}, loaded ${mb(loaded)}, when stopped ${during.map(mb).join(', ')}, ` +
        `after that ${after.map(mb).join(', ')}`,
    );
    expect(during).toHaveLength(STOPS);
    const weight = loaded - base;
    expect(weight).toBeGreaterThan(20 * 2 ** 20);
    // Each stop held two thirds of it.
    for (const bytes of after) expect(bytes - base).toBeLessThan(weight / 4);
  },
  240_000,
);
