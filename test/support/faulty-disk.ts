import { DatabaseSync, StatementSync } from 'node:sqlite';

//  A disk that is full from a chosen write on: SQLite itself refuses the n-th statement that would change the database.

export type Fault = {
  /** The first write that fails, counted from 1. */
  at: number;
  /** How many writes fail; by default all of them until `lift` is called. */
  times: number;
};

type Watched = Fault & { seen: number };
const watched = new Map<string, Watched>();
const pathOf = new WeakMap<object, string>();

const writes = /^\s*(insert|update|delete|replace|commit|begin|create|alter)/i;

function pass(path: string | undefined, sql: string): void {
  const fault = path === undefined ? undefined : watched.get(path);
  if (!fault || !writes.test(sql)) return;
  fault.seen++;
  if (fault.seen < fault.at || fault.seen >= fault.at + fault.times) return;
  throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
}

const { prepare, exec } = DatabaseSync.prototype;
const { run } = StatementSync.prototype;
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  pathOf.set(statement, this.location() ?? '');
  return statement;
};
DatabaseSync.prototype.exec = function (sql) {
  pass(this.location() ?? '', sql);
  // Waiting for the real disk would prove nothing here and take minutes.
  exec.call(this, sql.replace(/synchronous = (FULL|NORMAL)/, 'synchronous = OFF'));
};
StatementSync.prototype.run = function (...values) {
  pass(pathOf.get(this), this.sourceSQL);
  return Reflect.apply(run, this, values);
};

/** Makes the database at `path` fail like this from now on. */
export function breakDisk(path: string, fault: Fault) {
  const state: Watched = { ...fault, seen: 0 };
  watched.set(path, state);
  return { seen: () => state.seen, lift: () => void watched.delete(path) };
}
