import type { DatabaseThread } from './database-thread.ts';

//  Commits go to the write-ahead log (longhand.db-wal) until a checkpoint writes them into the database, which waits for the disk
//  twice. A thread does that, so that the core is not blocked.

/** If the log reaches this many pages of 4 KB because the thread lags behind, the core does a checkpoint itself. */
export const logPages = 16_384;
/** Rows between checkpoints of the thread: one or two megabytes. */
const ROWS = 200;

/** Returns a function to call with the number of rows written. One checkpoint at a time. */
export function keepLogShort(thread: DatabaseThread, path: string): (rows: number) => void {
  let since = 0;
  let going = false;
  return (rows) => {
    since += rows;
    if (since < ROWS || going) return;
    since = 0;
    going = true;
    // An incomplete checkpoint is completed by the next.
    void thread.checkpoint(path).finally(() => {
      going = false;
    });
  };
}
