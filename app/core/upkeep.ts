import { setImmediate as nextTask } from 'node:timers/promises';
import { guarded } from '../protocol/index.ts';

const hourMs = 60 * 60 * 1000;
const firstBackUpMs = 60_000;

type UpkeepDeps = {
  /** Purges some of what was deleted long enough ago; true while there is more. */
  purge: () => boolean;
  /** Removes orphaned prompt files. */
  tidy: () => Promise<unknown>;
  /** Overwrites purged text on the disk. */
  erase: () => Promise<unknown>;
  backUp: () => Promise<unknown>;
  report: (error: unknown) => void;
};

/** Runs at the start and every hour. */
export function startUpkeep({ purge, tidy, erase, backUp, report }: UpkeepDeps): { close(): void } {
  let closing = false;
  /** In small steps, so that a chat of thousands of messages blocks nothing. */
  const purgeAll = async () => {
    while (!closing && purge()) await nextTask();
  };
  const atStart = async () => {
    await purgeAll();
    await tidy();
    await erase();
  };
  const hourly = async () => {
    await purgeAll();
    await tidy();
    await backUp();
    await erase();
  };
  const timers = [
    setTimeout(guarded(report, atStart), 0),
    setTimeout(guarded(report, backUp), firstBackUpMs),
    setInterval(guarded(report, hourly), hourMs),
  ];
  return {
    close() {
      closing = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
