import { expect, onTestFinished, test, vi } from 'vitest';
import { startUpkeep } from '../../../app/core/upkeep.ts';

//  What was deleted long enough ago goes at the start and every hour, as long as the app runs.

const hour = 60 * 60 * 1000;

/** `waiting`: chats to be purged, one a step. */
function kept(waiting: number) {
  vi.useFakeTimers();
  const disk = { waiting, purged: 0, erased: 0, backups: 0 };
  const { close } = startUpkeep({
    purge() {
      if (disk.waiting === 0) return false;
      disk.waiting--;
      disk.purged++;
      return true;
    },
    tidy: async () => {},
    async erase() {
      disk.erased = disk.purged;
    },
    async backUp() {
      disk.backups++;
    },
    report: () => {},
  });
  onTestFinished(() => {
    close();
    vi.useRealTimers();
  });
  return { disk, close };
}

/** Lets the time pass, and then whatever is under way go on. */
const pass = async (ms: number, done: () => boolean) => {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turns = 0; turns < 1000 && !done(); turns++) await vi.advanceTimersByTimeAsync(0);
};

test('what is purged at the start is erased from the disk at once, not an hour later', async () => {
  const { disk } = kept(200);
  await pass(1, () => disk.erased === 200);
  expect(disk).toEqual({ waiting: 0, purged: 200, erased: 200, backups: 0 });
});

test('what is due later goes within the hour, and a backup before that is erased as well', async () => {
  const { disk } = kept(0);
  await pass(1, () => false);
  disk.waiting = 3;
  await pass(hour, () => disk.erased === 3);
  expect(disk).toEqual({ waiting: 0, purged: 3, erased: 3, backups: 2 });
});

test('an app that is closed purges nothing more', async () => {
  const { disk, close } = kept(200);
  await vi.advanceTimersByTimeAsync(1);
  close();
  const { purged } = disk;
  await pass(2 * hour, () => false);
  expect(disk.purged - purged).toBeLessThanOrEqual(1);
});

test('each step is over before the next begins, so that what a backup may hold is erased from it too', async () => {
  vi.useFakeTimers();
  const steps: string[] = [];
  let waiting = 0;
  const step = (name: string) => async () => {
    steps.push(name);
    await new Promise((done) => setTimeout(done, 5));
    steps.push(`${name} is over`);
  };
  const { close } = startUpkeep({
    purge() {
      steps.push('purge');
      return --waiting > 0;
    },
    tidy: step('tidy'),
    erase: step('erase'),
    backUp: step('backup'),
    report: () => {},
  });
  onTestFinished(() => {
    close();
    vi.useRealTimers();
  });
  waiting = 2;
  await pass(100, () => steps.length === 6);
  expect(steps.splice(0)).toEqual(['purge', 'purge', 'tidy', 'tidy is over', 'erase', 'erase is over']);
  await pass(60_000, () => steps.length === 2);
  expect(steps.splice(0)).toEqual(['backup', 'backup is over']);
  waiting = 2;
  await pass(hour, () => steps.length === 8);
  const wanted = ['tidy', 'backup', 'erase'].flatMap((name) => [name, `${name} is over`]);
  expect(steps.splice(0)).toEqual(['purge', 'purge', ...wanted]);
  close();
  expect(vi.getTimerCount()).toBe(0);
});
