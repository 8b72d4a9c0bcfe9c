import type { DatabaseThread } from './database-thread.ts';

//  What was committed lies in the log (longhand.db-wal) until a checkpoint writes it into the database, which waits for the disk
//  twice. A thread does that, so that the core does not wait.

/** Pages of 4 KB: when the log has as many, because the thread does not come to it, the core does a checkpoint itself. */
export const logPages = 16_384;
/** Rows after which the thread does one: one or two megabytes. */
const ROWS = 200;

/** Hears how many rows were written. One checkpoint at a time. */
export function keepLogShort(thread: DatabaseThread, path: string): (rows: number) => void {
  let since = 0;
  let going = false;
  return (rows) => {
    since += rows;
    if (since < ROWS || going) return;
    since = 0;
    going = true;
    // One that did not come to its end is done with the next.
    void thread.checkpoint(path).finally(() => {
      going = false;
    });
  };
}
