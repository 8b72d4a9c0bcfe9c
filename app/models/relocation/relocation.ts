import { rmdir } from 'node:fs/promises';
import {
  type Failure,
  failureOf,
  guarded,
  type Library,
  type LibraryMove,
  type LibraryPlan,
  LonghandError,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { beginMove, cancelMove, endCleanup, libraryRow, pauseMove } from '../../store/models/library-location.ts';
import { exists } from '../storage/fs-probe.ts';
import type { LibraryLocation } from '../storage/library-location.ts';
import { orAborted, type RwLock } from '../storage/rw-lock.ts';
import { clear, closeLibrary, filesOf, mirror, sizeOf } from './copy-tree.ts';
import { asMoveFailure, type PlanOptions, planMove, prepare, usually } from './relocation-plan.ts';

/** Moves the library. The state is in the database, so a move resumes after a restart; the old location stays complete until the
 *  new one is complete. */
export type Relocation = {
  state(): Library;
  plan(folder: string): Promise<LibraryPlan>;
  /** @throws LonghandError `disk-full` with the missing bytes, `permission`, `bad-request`, `conflict` */
  begin(folder: string): Promise<void>;
  pause(): void;
  resume(): void;
  /** Cancels the move. After the switch: leaves what is still at the old location. */
  cancel(): Promise<void>;
  /** Whether files are being copied: downloads have to wait. */
  copying(): boolean;
  /** Whether deferred deletions can be done now. */
  waits(): Promise<boolean>;
  /** Call when drives were mounted or unmounted. */
  look(): void;
  close(): Promise<void>;
};

export type RelocationOptions = {
  db: Database;
  location: LibraryLocation;
  lock: RwLock;
  changed: (state: Library) => void;
  /** Pauses downloads while files are copied. */
  rest: () => Promise<void>;
  wake: () => void;
  /** The paths of all models have changed. */
  switched: () => void;
  /** Resolves when nothing in `folder` is in use any more. */
  letGo: (folder: string) => Promise<void>;
  tuning?: Partial<PlanOptions>;
};

const REPORT_MS = 200;
const notThere = { slow: false, busy: () => false };

export function createRelocation(options: RelocationOptions): Relocation {
  const { db, location, lock } = options;
  const tuning = { ...usually, ...options.tuning };
  let run: { stop: AbortController; ended: Promise<void> } | null = null;
  let phase: 'copying' | 'switching' | 'clearing' = 'copying';
  let stopped: Failure | null = null;
  let done = 0;
  let total = 0;
  let told = 0;
  let closed = false;

  const tell = () => options.changed(state());
  const show = (next: typeof phase) => {
    phase = next;
    tell();
  };
  const count = (copied: number, checked: number) => {
    done = Math.min(total, done + (copied + checked) / 2);
    if (performance.now() - told < REPORT_MS) return;
    told = performance.now();
    tell();
  };

  function state(): Library {
    return { folder: location.folder(), home: location.home, unmounted: !location.there(), move: moveOf() };
  }

  function moveOf(): LibraryMove | null {
    const { movingTo, cleanupPath, paused } = libraryRow(db);
    const places =
      movingTo !== null ? { from: location.folder(), to: movingTo } : { from: cleanupPath, to: location.folder() };
    const { from, to } = places;
    return from === null ? null : { from, to, done, total, status: statusOf(movingTo !== null, paused) };
  }

  function statusOf(copies: boolean, paused: boolean): LibraryMove['status'] {
    if (!copies) return { phase: stopped ? 'clearingLater' : 'clearing' };
    if (stopped) return { phase: 'stopped', failure: stopped };
    return { phase: paused ? 'paused' : phase === 'switching' ? 'switching' : 'copying' };
  }

  function start(): void {
    const { movingTo, cleanupPath, paused } = libraryRow(db);
    if (run || closed || paused || (movingTo === null && cleanupPath === null)) return;
    const stop = new AbortController();
    stopped = null;
    const ended = Promise.resolve()
      .then(() => work(stop.signal))
      .catch((error) => {
        if (!stop.signal.aborted) stopped = failureOf(asMoveFailure(error));
      })
      .finally(() => {
        run = null;
        if (closed) return;
        options.wake();
        tell();
      });
    run = { stop, ended };
  }

  async function work(signal: AbortSignal): Promise<void> {
    const { movingTo } = libraryRow(db);
    if (movingTo !== null) await copyTo(movingTo, signal);
    const { cleanupPath } = libraryRow(db);
    if (cleanupPath === null) return;
    show('clearing');
    await orAborted(options.letGo(cleanupPath), signal);
    await clear(cleanupPath, cleanupPath === location.home);
    endCleanup(db);
  }

  async function copyTo(to: string, signal: AbortSignal): Promise<void> {
    show('copying');
    await options.rest();
    const hardLinks = await prepare(to, tuning);
    await closeLibrary(to);
    await needed();
    done = 0;
    total = sizeOf(await filesOf(location.folder()), hardLinks);
    const copy = { signal, mayLink: tuning.mayLink, hardLinks };
    await mirror(location.folder(), to, { ...copy, progress: count });
    signal.throwIfAborted();
    // Copy the few remaining changes under the lock.
    await lock.alone(async () => {
      show('switching');
      await mirror(location.folder(), to, { ...copy, progress: () => {} });
      await needed();
      signal.throwIfAborted();
      await location.switchTo(to);
    }, signal);
    options.switched();
  }

  /** An unmounted drive must not be mistaken for an empty library. */
  async function needed(): Promise<void> {
    if (!(await location.look())) {
      throw new LonghandError('not-found', `[move] ${location.folder()} is not there`, {
        details: { reason: 'unmounted' },
      });
    }
  }

  function needRest(): void {
    const { movingTo, cleanupPath } = libraryRow(db);
    if (movingTo === null && cleanupPath === null) return;
    throw new LonghandError('conflict', '[move] the library is already being moved');
  }

  const waits = async () => {
    if (!stopped) return false;
    const { movingTo, cleanupPath } = libraryRow(db);
    return (
      movingTo === null &&
      cleanupPath !== null &&
      (await tuning.probe(cleanupPath, () => exists(cleanupPath), notThere))
    );
  };
  const halt = async () => {
    run?.stop.abort();
    await run?.ended;
  };

  queueMicrotask(guarded(console.error, start));
  return {
    state,
    async plan(folder) {
      await needed();
      return planMove(location, folder, tuning);
    },
    async begin(given) {
      needRest();
      await needed();
      const { folder, copies, free } = await planMove(location, given, tuning);
      // The plan could not test it before the folder was writable.
      const hardLinks = await prepare(folder, tuning);
      const short = copies ? Math.max(0, sizeOf(await filesOf(location.folder()), hardLinks) - free) : 0;
      if (short > 0) {
        await rmdir(folder).catch(() => {}); // it existed before
        throw new LonghandError('disk-full', `[move] ${short} more bytes are needed in ${folder}`, {
          details: { missing: short },
        });
      }
      try {
        needRest(); // another window may have begun one in the meantime
      } catch (error) {
        await rmdir(folder).catch(() => {}); // in use by the other one
        throw error;
      }
      beginMove(db, folder);
      start();
    },
    pause() {
      if (libraryRow(db).movingTo === null) return;
      pauseMove(db, true);
      run?.stop.abort();
      tell();
    },
    resume() {
      pauseMove(db, false);
      stopped = null;
      void (run?.ended ?? Promise.resolve()).then(start).catch((error) => {
        stopped = failureOf(asMoveFailure(error));
      });
    },
    async cancel() {
      await halt();
      const { movingTo, cleanupPath } = libraryRow(db);
      if (movingTo !== null) cancelMove(db);
      else if (cleanupPath !== null) endCleanup(db);
      stopped = null;
      start();
      tell();
    },
    copying: () => run !== null && libraryRow(db).movingTo !== null,
    waits,
    look() {
      void waits()
        .then((again) => again && start())
        .catch(() => {}); // checked again when a drive is mounted
    },
    async close() {
      closed = true;
      await halt();
    },
  };
}
