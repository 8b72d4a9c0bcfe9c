import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { guarded } from '../../protocol/index.ts';

//  Work whose duration grows with the database runs on a separate thread with its own connection: integrity checks,
//  checkpoints, ranking all passages with a word. The thread starts on first use.

export type Check = 'quick_check' | 'integrity_check';

/** `errcode`: SQLite's, if the file could not be checked. */
export type Checked = { problem: string | null; errcode?: number };

/** `rows`: null if there was a problem. */
export type ReadRows = Checked & { rows: unknown[] | null };

export type DatabaseThread = {
  check(path: string, check: Check): Promise<Checked>;
  /** Checkpoints the log as far as readers and writers allow; `truncate`: also empties the log. */
  checkpoint(path: string, truncate?: boolean): Promise<Checked>;
  /** Runs a query on committed data. */
  read(path: string, sql: string, values: readonly SQLInputValue[]): Promise<ReadRows>;
  close(): void;
};

type Task = { path: string; sql: string; values: readonly SQLInputValue[] };

export function createDatabaseThread(): DatabaseThread {
  let worker: Worker | null = null;
  let closed = false;
  const waiting = new Map<number, (answer: ReadRows) => void>();
  let last = 0;

  function ended(reason: string) {
    worker = null;
    for (const answer of waiting.values()) answer({ problem: reason, rows: null });
    waiting.clear();
  }

  function started(): Worker {
    const made = new Worker(`(${work})()`, { eval: true, name: 'database' });
    made.unref();
    made.on(
      'message',
      guarded(console.error, ({ id, ...answer }: ReadRows & { id: number }) => {
        waiting.get(id)?.(answer);
        waiting.delete(id);
      }),
    );
    made.on(
      'error',
      guarded(console.error, (error: Error) => {
        if (worker === made) ended(error.message);
      }),
    );
    made.on(
      'exit',
      guarded(console.error, () => {
        if (worker === made) ended('the thread ended');
      }),
    );
    return made;
  }

  const ask = (task: Task): Promise<ReadRows> =>
    new Promise((answer) => {
      if (closed) return answer({ problem: 'closed', rows: null });
      worker ??= started();
      waiting.set(++last, answer);
      worker.postMessage({ id: last, ...task });
    });

  /** The first value a pragma returns is `ok`, 0, or the problem. */
  async function pragma(path: string, sql: string): Promise<Checked> {
    const { rows, ...checked } = await ask({ path, sql, values: [] });
    if (rows === null) return checked;
    const [first = 'no answer'] = Object.values(rows[0] ?? {});
    return { problem: first === 'ok' || first === 0 ? null : String(first) };
  }

  return {
    check: (path, check) => pragma(path, `PRAGMA ${check}(1)`),
    checkpoint: (path, truncate = false) => pragma(path, `PRAGMA wal_checkpoint(${truncate ? 'TRUNCATE' : 'PASSIVE'})`),
    read: (path, sql, values) => ask({ path, sql, values }),
    close() {
      closed = true;
      void worker?.terminate();
      ended('closed');
    },
  };
}

/** The code of the thread. It is passed as text, so it must not refer to anything outside. */
function work() {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  parentPort?.on('message', ({ id, path, sql, values }: Task & { id: number }) => {
    let db: InstanceType<typeof DatabaseSync> | null = null;
    try {
      db = new DatabaseSync(path, { timeout: 2000 });
      const statement = db.prepare(sql);
      let rows: Record<string, unknown>[];
      try {
        rows = statement.all(...values);
      } catch (error) {
        // As in database.ts: an integer of a damaged database.
        if ((error as { code?: unknown }).code !== 'ERR_OUT_OF_RANGE') throw error;
        statement.setReadBigInts(true);
        rows = statement.all(...values);
        for (const row of rows)
          for (const [name, value] of Object.entries(row))
            if (typeof value === 'bigint')
              row[name] = Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
      }
      parentPort.postMessage({ id, problem: null, rows });
    } catch (error) {
      const { message, errcode } = error as Error & { errcode?: number };
      parentPort.postMessage({ id, problem: message, errcode, rows: null });
    } finally {
      db?.close();
    }
  });
}
