import { backup, DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { getLoadablePath } from 'sqlite-vec';
import { type ErrorCode, LonghandError } from '../../protocol/index.ts';
import { fold } from './case-fold.ts';
import { createDatabaseThread } from './database-thread.ts';

export type Value = SQLInputValue;
export type Row = Record<string, SQLOutputValue>;

/** An open database. Every failure is a LonghandError: `disk-full`, `read-only`, `database-corrupt`, `conflict` (held by
 *  another process), `permission` or `internal`. */
export type Database = {
  readonly path: string;
  /** Why vectors cannot be compared here; null when they can (or were not asked for). */
  readonly vectorProblem: string | null;
  run(sql: string, ...values: Value[]): { changes: number };
  get<T = Row>(sql: string, ...values: Value[]): T | undefined;
  all<T = Row>(sql: string, ...values: Value[]): T[];
  /** The same on a thread, over a connection of its own, for what takes the longer the more there is: whoever asks something else
   *  meanwhile does not wait. It sees what is committed, and knows no functions but those of SQLite. */
  allOnThread<T = Row>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Several statements, without values. */
  script(sql: string): void;
  /** All or nothing; nested calls join the outer one. */
  transaction<T>(work: () => T): T;
  /** The same for what may be lost when the power is: it is not waited for the disk, which costs most of the time of a small
   *  transaction. What was committed otherwise is on the disk all the same, and so is this with the next of those. */
  passing<T>(work: () => T): T;
  /** A consistent copy, made a few pages at a time while others go on writing. */
  copyTo(path: string): Promise<void>;
  close(): void;
};

export type DatabaseOptions = {
  readOnly?: boolean;
  vectors?: boolean;
  /** Hears what was committed: about how many rows. */
  wrote?: (rows: number) => void;
};

export function openDatabase(path: string, options: DatabaseOptions = {}): Database {
  const { readOnly = false, vectors = false, wrote } = options;
  const raw = guarded(path, () => new DatabaseSync(path, { readOnly, timeout: 2000, allowExtension: vectors }));
  const vectorProblem = vectors ? loadVectors(raw) : null;
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const guard = <T>(work: () => T) => guarded(path, work);

  const thread = createDatabaseThread();
  let changed = 0;
  function committed() {
    const rows = changed + 1;
    changed = 0;
    wrote?.(rows);
  }

  function transaction<T>(work: () => T): T {
    if (raw.isTransaction) return work();
    guard(() => raw.exec('BEGIN IMMEDIATE'));
    try {
      const result = work();
      guard(() => raw.exec('COMMIT'));
      committed();
      return result;
    } catch (error) {
      // A full disk rolls back by itself.
      if (raw.isTransaction) raw.exec('ROLLBACK');
      throw error;
    }
  }

  guard(() => raw.function('fold', { deterministic: true }, (text) => fold(String(text ?? ''))));
  return {
    path,
    vectorProblem,
    run: (sql, ...values) =>
      guard(() => {
        const changes = Number(prepare(sql).run(...values).changes);
        changed += changes;
        if (!raw.isTransaction) committed();
        return { changes };
      }),
    get: <T>(sql: string, ...values: Value[]) => guard(() => prepare(sql).get(...values) as T | undefined),
    all: <T>(sql: string, ...values: Value[]) => guard(() => prepare(sql).all(...values) as T[]),
    async allOnThread<T>(sql: string, ...values: Value[]) {
      const { rows, problem, errcode } = await thread.read(path, sql, values);
      if (rows === null) throw new LonghandError(codeOf(errcode), `[database] ${path}: ${problem}`);
      return rows as T[];
    },
    script: (sql) => guard(() => raw.exec(sql)),
    transaction,
    passing(work) {
      if (raw.isTransaction) return work();
      raw.exec('PRAGMA synchronous = NORMAL');
      try {
        return transaction(work);
      } finally {
        raw.exec('PRAGMA synchronous = FULL');
      }
    },
    async copyTo(target) {
      await backup(raw, target, { rate: 256 });
    },
    close() {
      thread.close();
      if (raw.isOpen) raw.close();
    },
  };
}

/** sqlite-vec, and nothing else after it. In a package the library lies beside the archive. */
function loadVectors(raw: DatabaseSync): string | null {
  try {
    raw.loadExtension(getLoadablePath().replace(/\bapp\.asar\b/, 'app.asar.unpacked'));
    return null;
  } catch (error) {
    return `[vectors] sqlite-vec cannot be loaded: ${error instanceof Error ? error.message : error}`;
  } finally {
    raw.enableLoadExtension(false);
  }
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LonghandError || !(error instanceof Error)) throw error;
    const { errcode } = error as { errcode?: unknown };
    throw new LonghandError(codeOf(errcode), `[database] ${path}: ${error.message}`, { cause: error });
  }
}

/** Primary result codes of SQLite, https://sqlite.org/rescode.html. */
const codes: Record<number, ErrorCode> = {
  3: 'permission',
  5: 'conflict',
  6: 'conflict',
  8: 'read-only',
  11: 'database-corrupt',
  13: 'disk-full',
  14: 'permission',
  26: 'database-corrupt',
};

/** What an extended code of SQLite means for us. */
export const codeOf = (extended: unknown): ErrorCode =>
  typeof extended === 'number' ? (codes[extended & 0xff] ?? 'internal') : 'internal';
