import { backup, DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { getLoadablePath } from 'sqlite-vec';
import { type ErrorCode, LonghandError } from '../../protocol/index.ts';
import { fold } from './case-fold.ts';
import { createDatabaseThread } from './database-thread.ts';
import { storedInteger } from './stored.ts';

export type Value = SQLInputValue;
export type Row = Record<string, SQLOutputValue>;

/** An open database. Every failure is a LonghandError: `disk-full`, `read-only`, `database-corrupt`, `conflict` (locked by
 *  another process), `permission` or `internal`. */
export type Database = {
  readonly path: string;
  /** Why vector search is unavailable; null if available or not requested. */
  readonly vectorProblem: string | null;
  run(sql: string, ...values: Value[]): { changes: number };
  get<T = Row>(sql: string, ...values: Value[]): T | undefined;
  all<T = Row>(sql: string, ...values: Value[]): T[];
  /** The same on the database thread, for queries whose duration grows with the data, so that other requests
   *  are not blocked. Sees committed data only, and has only SQLite's own functions. */
  allOnThread<T = Row>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Runs several statements without parameters. */
  script(sql: string): void;
  /** Atomic; nested calls join the outer transaction. */
  transaction<T>(work: () => T): T;
  /** A transaction that is not fsynced and may be lost on power failure: syncing takes most of the time of a small
   *  transaction. Other transactions are durable all the same, and the next one makes this durable too. */
  passing<T>(work: () => T): T;
  /** A consistent copy, made a few pages at a time while writes continue. */
  copyTo(path: string): Promise<void>;
  close(): void;
};

export type DatabaseOptions = {
  readOnly?: boolean;
  vectors?: boolean;
  /** Called after commits with the approximate number of rows. */
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
      // SQLite has already rolled back if the disk is full.
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
    get: <T>(sql: string, ...values: Value[]) =>
      guard(() => inNumbers(prepare(sql), (statement) => [statement.get(...values)])[0] as T | undefined),
    all: <T>(sql: string, ...values: Value[]) =>
      guard(() => inNumbers(prepare(sql), (statement) => statement.all(...values)) as T[]),
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

/** Node throws at an integer beyond 2^53, which only a damaged database has: then it is the nearest safe one. */
function inNumbers<T extends Row | undefined>(statement: StatementSync, read: (from: StatementSync) => T[]): T[] {
  try {
    return read(statement);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_OUT_OF_RANGE') throw error;
    statement.setReadBigInts(true);
    try {
      return read(statement).map((row) => row && withoutBigInts(row));
    } finally {
      statement.setReadBigInts(false);
    }
  }
}

const withoutBigInts = <T extends Row>(row: T): T =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? storedInteger(Number(value)) : value,
    ]),
  ) as T;

/** Loads sqlite-vec, then disables loading. In a package the library is unpacked beside the archive. */
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

/** Our code for an extended SQLite result code. */
export const codeOf = (extended: unknown): ErrorCode =>
  typeof extended === 'number' ? (codes[extended & 0xff] ?? 'internal') : 'internal';
