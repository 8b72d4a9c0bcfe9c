import { setImmediate as nextTask } from 'node:timers/promises';
import { guarded } from '../protocol/index.ts';

const hourMs = 60 * 60 * 1000;
const firstBackUpMs = 60_000;

type UpkeepDeps = {
  /** Removes some of what was deleted long enough ago; true while there is more. */
  purge: () => boolean;
  /** Removes files of prompts that belong to nothing any more. */
  tidy: () => Promise<unknown>;
  /** Makes the words of what was purged unreadable on the disk. */
  erase: () => Promise<unknown>;
  backUp: () => Promise<unknown>;
  report: (error: unknown) => void;
};

/** What is done at the start and every hour. */
export function startUpkeep({ purge, tidy, erase, backUp, report }: UpkeepDeps): { close(): void } {
  let closing = false;
  /** A little at a time: a chat of thousands of messages holds up nobody. */
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
