import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BLOCK } from '../../../app/models/storage/block-map.ts';
import { newFolder, places, root } from '../../support/core/core.ts';
import { content, startHub } from '../../support/fakes/hub.ts';
import type { Moment, Outcome } from '../../support/processes/full-disk-process.ts';

//  A disk of its own for a download, in memory, which somebody fills to the last byte at a bad moment: what fails then is a real
//  write to a real file, or to the database.

const DISK = '120m';
const FILES = { 'config.json': content(900), 'model.safetensors': content(20 * BLOCK + 4321, 7) };
const TOTAL = Object.values(FILES).reduce((sum, { length }) => sum + length, 0);
/** Four connections with a block each, what their sockets held, and the blocks that were not saved yet. */
const MAX_FETCHED_AGAIN = 16 * BLOCK;

/** A mount that only one process sees needs no rights where the system lets everybody have a namespace. */
const alone = ['--user', '--map-root-user', '--mount'];
const mounting = (folder: string) => ['sh', '-c', `mount -t tmpfs -o size=${DISK} tmpfs "$0" && exec "$@"`, folder];
const canMount = () =>
  process.platform === 'linux' && spawnSync('unshare', [...alone, ...mounting(newFolder()), 'true']).status === 0;

function downloadTo(folder: string, url: string, moment: Moment): Promise<Outcome> {
  const program = join(root, 'test/support/processes/full-disk-process.ts');
  const command = [process.execPath, program, folder, url, places.migrations, moment];
  const child = spawn('unshare', [...alone, ...mounting(folder), ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(said.trim().split('\n').at(-1) ?? ''));
      else reject(new Error(`the process ended with ${code}: ${said}`));
    });
  });
}

const MOMENTS: { moment: Moment; what: string }[] = [
  { moment: 'begun', what: 'the first block is written' },
  { moment: 'half', what: 'half of the blocks are' },
  { moment: 'journal', what: 'only the journal has to grow' },
  { moment: 'whole', what: 'the checked file is put away' },
  { moment: 'folder', what: "the model's folder is made" },
  { moment: 'known', what: 'the finished download leaves the list' },
];

test.for(MOMENTS)(
  'a disk that is full when ($moment) $what: it waits, says what is missing, goes on, and all is bit-equal',
  { timeout: 60_000 },
  async ({ moment }, context) => {
    if (process.platform !== 'linux') return context.skip('needs Linux: a small disk in memory');
    if (!canMount()) return context.skip('needs a mount of its own: unshare and mount are not permitted here');
    const hub = await startHub({ files: FILES });
    try {
      const { missing, finished, hashes, left } = await downloadTo(newFolder(), hub.url, moment);
      expect(missing.length, 'it waited').toBeGreaterThan(0);
      expect(Math.min(...missing)).toBeGreaterThan(0);
      expect(finished).toBe(true);
      for (const name of Object.keys(FILES)) expect(hashes[name], name).toBe(hub.sha256(name));
      expect(left).toEqual([]);
      expect(hub.seen.bytes - TOTAL).toBeLessThanOrEqual(MAX_FETCHED_AGAIN);
    } finally {
      await hub.stop();
    }
  },
);
