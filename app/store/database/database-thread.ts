import { Worker } from 'node:worker_threads';
import { guarded } from '../../protocol/index.ts';

//  What takes as long as a database is large is done on a thread of its own, over a connection of its own: checking a whole file,
//  and writing the log into the database. The thread starts with the first of it.

export type Check = 'quick_check' | 'integrity_check';

/** `errcode`: of SQLite, when the file could not be looked at. */
export type Checked = { problem: string | null; errcode?: number };

export type DatabaseThread = {
  check(path: string, check: Check): Promise<Checked>;
  /** Writes what is in the log into the database, as far as nobody reads or writes there; `truncate`: and empties the log. */
  checkpoint(path: string, truncate?: boolean): Promise<Checked>;
  close(): void;
};

type Task = { path: string; sql: string };

export function createDatabaseThread(): DatabaseThread {
  let worker: Worker | null = null;
  let closed = false;
  const waiting = new Map<number, (checked: Checked) => void>();
  let last = 0;

  function ended(reason: string) {
    worker = null;
    for (const answer of waiting.values()) answer({ problem: reason });
    waiting.clear();
  }

  function started(): Worker {
    const made = new Worker(`(${work})()`, { eval: true, name: 'database' });
    made.unref();
    made.on(
      'message',
      guarded(console.error, ({ id, ...checked }: Checked & { id: number }) => {
        waiting.get(id)?.(checked);
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

  const ask = (task: Task): Promise<Checked> =>
    new Promise((answer) => {
      if (closed) return answer({ problem: 'closed' });
      worker ??= started();
      waiting.set(++last, answer);
      worker.postMessage({ id: last, ...task });
    });

  return {
    check: (path, check) => ask({ path, sql: `PRAGMA ${check}(1)` }),
    checkpoint: (path, truncate = false) =>
      ask({ path, sql: `PRAGMA wal_checkpoint(${truncate ? 'TRUNCATE' : 'PASSIVE'})` }),
    close() {
      closed = true;
      void worker?.terminate();
      ended('closed');
    },
  };
}

/** The thread. Its text is handed over, so it may name nothing from outside. */
function work() {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  parentPort?.on('message', ({ id, path, sql }: Task & { id: number }) => {
    let db: InstanceType<typeof DatabaseSync> | null = null;
    try {
      db = new DatabaseSync(path, { timeout: 2000 });
      const [first = 'no answer'] = Object.values(db.prepare(sql).get() ?? {});
      parentPort.postMessage({ id, problem: first === 'ok' || first === 0 ? null : String(first) });
    } catch (error) {
      const { message, errcode } = error as Error & { errcode?: number };
      parentPort.postMessage({ id, problem: message, errcode });
    } finally {
      db?.close();
    }
  });
}
