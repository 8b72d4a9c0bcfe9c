import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { BLOCK } from '../../../app/models/storage/block-map.ts';
import { newFolder, places, root } from '../../support/core/core.ts';
import { content, type Hub, startHub } from '../../support/fakes/hub.ts';
import { limitMs, soaking } from '../../support/soak.ts';

//  A process that downloads is killed at random moments: the model is always bit-equal in the end, and each kill costs a few
//  megabytes at most. `npm run test:soak` kills ten times as often.

const kills = soaking ? 200 : 20;
/** Unsaved blocks and those in flight on four connections, with what the sockets held. */
const MAX_COST = 16 * BLOCK;

/** Runs the downloading process for a while. True when it came to the end by itself. */
async function runFor(ms: number, folder: string, hub: Hub): Promise<boolean> {
  const child = fork(join(root, 'test/support/processes/download-process.ts'), [folder, hub.url, places.migrations], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const finished = new Promise<boolean>((resolve) => {
    child.on('message', (message) => message === 'finished' && resolve(true));
    child.once('exit', () => resolve(false));
  });
  const started = new Promise<void>((resolve, reject) => {
    child.on('message', (message) => message === 'started' && resolve());
    child.once('exit', (code) => reject(new Error(`the process ended by itself with ${code}`)));
  });
  await started;
  const whole = await Promise.race([finished, wait(ms).then(() => false)]);
  child.kill('SIGKILL');
  await ended;
  return whole;
}

test(
  `killed ${kills} times at random moments a download ends bit-equal`,
  async () => {
    const files = { 'config.json': content(900), 'model.safetensors': content(64 * BLOCK + 4321, 7) };
    let folder = newFolder();
    let done = 0;
    let runs = 0;
    while (done < kills) {
      const hub = await startHub({ files, faults: { bytesPerSecond: 24e6 } });
      onTestFinished(() => hub.stop());
      let here = 0;
      for (let whole = false; !whole; ) {
        const before = hub.seen.bytes;
        whole = await runFor(done < kills ? 50 + Math.random() * 1200 : 120_000, folder, hub);
        if (!whole) done++;
        here += hub.seen.bytes - before;
      }
      runs++;
      const [model = ''] = readdirSync(join(folder, 'models')).filter((name) => name.startsWith('acme--tiny@'));
      for (const [name, bytes] of Object.entries(files)) {
        expect(readFileSync(join(folder, 'models', model, name)).equals(bytes), name).toBe(true);
      }
      const most = Object.values(files).reduce((sum, bytes) => sum + bytes.length, 0) + (done + 1) * MAX_COST;
      expect(here).toBeLessThan(most);
      await hub.stop();
      folder = newFolder();
    }
    expect(runs).toBeGreaterThan(0);
  },
  limitMs(900_000, 4),
);
