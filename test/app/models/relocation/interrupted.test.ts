import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { createLibraryLocation } from '../../../../app/models/storage/library-location.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { newFolder, places, root } from '../../../support/core/core.ts';
import {
  data,
  db,
  expectWhole,
  location,
  MODEL,
  mover,
  newLibrary,
  nothingLeft,
  target,
} from '../../../support/models/relocation.ts';
import { limitMs, soaking } from '../../../support/soak.ts';

beforeEach(newLibrary);

test('a full disk in the middle stops it with a sentence, and it goes on when there is room', async () => {
  mkdirSync(join(target, '..'), { recursive: true });
  const made = mover({
    rest: vi
      .fn<() => Promise<void>>()
      .mockRejectedValueOnce(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
      .mockResolvedValue(undefined),
  });
  await made.begin(target);
  await made.until(({ move }) => move?.status.phase === 'stopped');
  expect(made.state().move?.status).toMatchObject({ failure: { code: 'disk-full' } });
  expectWhole(location.home);
  made.resume();
  await made.rest();
  expectWhole(target);
});

test('the old drive goes away after the switch: what is on it is deleted when it is back, or left by choice', async () => {
  const { begin, rest } = mover();
  await begin(target);
  await rest();
  const elsewhere = join(newFolder(), 'elsewhere');
  const away = `${target}-away`;
  const made = mover({
    async letGo() {
      renameSync(target, away);
    },
  });
  await made.begin(elsewhere);
  await made.until(({ move }) => move?.status.phase === 'clearingLater');
  expectWhole(elsewhere);
  await made.cancel();
  await made.rest();
  renameSync(away, target);
  expect(existsSync(join(target, MODEL))).toBe(true);
  rmSync(target, { recursive: true });
});

const kills = soaking ? 200 : 6;

test(
  `killed ${kills} times at random moments: the old location or the new one is complete, and in the end the new one`,
  async () => {
    db.close();
    let from = data;
    let done = 0;
    let finished = 0;
    // Of a move that nothing interrupts, on this computer: later, it could not be killed any more.
    let lastsMs = 200;
    while (done < kills) {
      for (let whole = false; !whole; ) {
        const begun = performance.now();
        whole = await runFor(done < kills ? Math.random() * lastsMs : 60_000, from, target);
        if (whole) lastsMs = Math.min(lastsMs, performance.now() - begun);
        else done++;
        const now = openDatabase(join(from, 'longhand.db'));
        const { folder } = createLibraryLocation(now, join(from, 'models'));
        expectWhole(folder(), now);
        now.close();
      }
      finished++;
      expectOnly(target, join(from, 'models'));
      await newLibrary();
      from = data;
      db.close();
    }
    expect(finished).toBeGreaterThan(0);
  },
  limitMs(900_000, 4),
);

function expectOnly(folder: string, old: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(names.filter((name) => name.endsWith('.moving'))).toEqual([]);
  nothingLeft(old);
}

/** Runs the moving process for a while. True when it came to the end by itself. */
async function runFor(ms: number, folder: string, to: string): Promise<boolean> {
  const child = fork(join(root, 'test/support/processes/move-process.ts'), [folder, to, places.migrations], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const moved = new Promise<boolean>((resolve) => {
    child.on('message', (message) => message === 'moved' && resolve(true));
    child.once('exit', () => resolve(false));
  });
  const started = new Promise<void>((resolve) => {
    child.on('message', () => resolve());
    child.once('exit', () => resolve());
  });
  await started;
  const whole = await Promise.race([moved, wait(ms).then(() => false)]);
  child.kill('SIGKILL');
  await ended;
  return whole;
}
