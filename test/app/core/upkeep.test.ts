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

test('the backup of the hour is whole before what was purged is erased from the backups: it may hold that too', async () => {
  vi.useFakeTimers();
  const steps: string[] = [];
  const { close } = startUpkeep({
    purge: () => false,
    tidy: async () => {},
    erase: async () => void steps.push('erased'),
    async backUp() {
      steps.push('backup begun');
      await Promise.resolve();
      steps.push('backup whole');
    },
    report: () => {},
  });
  onTestFinished(() => {
    close();
    vi.useRealTimers();
  });
  await pass(hour, () => steps.length === 6);
  expect(steps.slice(-3)).toEqual(['backup begun', 'backup whole', 'erased']);
});
