import { rename, rm } from 'node:fs/promises';
import {
  type Download,
  type DownloadNotification,
  type DownloadStatus,
  failureOf,
  guarded,
  LonghandError,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { newId } from '../../store/database/uuid.ts';
import {
  addDownload,
  type DownloadRow,
  listDownloads,
  orderDownloads,
  removeDownload,
  renewDownload,
  setDownloadFiles,
  setDownloadPaused,
  type WantedFile,
} from '../../store/models/downloads.ts';
import { codeOfFailed } from '../network/download-error.ts';
import type { Network } from '../network/http-request.ts';
import { sleepFor } from '../network/sleep.ts';
import type { Repository, Source } from '../sources/source.ts';
import type { BlobStore, Manifest } from '../storage/blob-store.ts';
import { type Space, whenRoom } from '../storage/disk-space.ts';
import { folderName, modelPath } from '../storage/folder-layout.ts';
import { exists } from '../storage/fs-probe.ts';
import { type DownloadOptions, discard, download } from './download.ts';
import { type Item, isGoing, isStuck, shown, statusOf, totalOf } from './download-item.ts';
import type { DownloadState } from './download-state.ts';
import { journalIn } from './journal.ts';
import { roomOn } from './part-file.ts';
import { resumeDamaged } from './resume-damaged.ts';
import { Throttle } from './throttle.ts';

/** The download queue: one download at a time, in order, surviving pause, restart and crash. */
export type DownloadQueue = {
  list(): Download[];
  /** @throws LonghandError `conflict` if the same repository is already queued */
  start(repository: Repository, files: readonly WantedFile[], name: string): Download;
  pause(id: string): void;
  resume(id: string): void;
  cancel(id: string): Promise<void>;
  /** Moves an item in the queue; 0 is next. */
  move(id: string, place: number): void;
  limit(bytesPerSecond: number | null): void;
  /** Network or library are available again: resumes what was waiting for them. */
  wake(): void;
  /** Whether an item waits for the library although it is mounted: its drive came back unnoticed. */
  waits(): boolean;
  /** Pauses downloads until the library is available again. */
  rest(): Promise<void>;
  /** The row of an item, to look up its newest version. @throws LonghandError `not-found` */
  row(id: string): Readonly<DownloadRow>;
  /** Discards the parts of an item and downloads this version of it. */
  renew(id: string, version: { commit: string; files: readonly WantedFile[] }): Promise<void>;
  /** Stops all work; downloaded parts stay. */
  close(): Promise<void>;
};

export type DownloadQueueOptions = {
  db: Database;
  blobs: BlobStore;
  source: (id: string) => Source | undefined;
  /** Why the library cannot be written now, if known. */
  barred?: () => 'moving' | 'unmounted' | null;
  /** The network to use for a model of this name. */
  net?: (name: string) => Network;
  changed: (list: Download[]) => void;
  /** Called once each time a download needs the user, or disk space. */
  stuck?: (news: DownloadNotification) => void;
  /** Called when a model is complete and in its folder. */
  finished: (model: { name: string; path: string }) => Promise<void>;
  now?: () => number;
  tuning?: Partial<Pick<DownloadOptions, 'connections' | 'net' | 'backOffMs' | 'sleep' | 'free'>>;
};

type Active = { id: string; stop: AbortController; ended: Promise<void> };

export function createDownloadQueue(options: DownloadQueueOptions): DownloadQueue {
  const { db, blobs, now = Date.now, barred = () => null } = options;
  const journal = journalIn(db);
  const throttle = new Throttle(null);
  const { free = roomOn, sleep = sleepFor } = options.tuning ?? {};
  let items: Item[] = listDownloads(db).map((row) => ({
    row,
    status: { phase: row.paused ? 'paused' : 'queued' },
    doneBefore: 0,
    doneNow: 0,
  }));
  let active: Active | null = null;
  /** Items whose old files are being deleted. */
  const renewing = new Set<string>();
  let closed = false;

  const list = () => items.map(shown);
  const tell = () => options.changed(list());
  const find = (id: string): Item => {
    const item = items.find((candidate) => candidate.row.id === id);
    if (!item) throw new LonghandError('not-found', `[downloads] no download ${id}`);
    return item;
  };
  const set = (item: Item, status: DownloadStatus) => {
    const before = item.status.phase;
    item.status = status;
    tell();
    if (status.phase !== before && isStuck(status.phase)) options.stuck?.({ name: item.row.name, kind: status.phase });
  };

  function runNext(): void {
    if (active || closed) return;
    const item = items.find((candidate) => candidate.status.phase === 'queued');
    if (!item) return;
    const stop = new AbortController();
    const ended = run(item, stop.signal)
      .catch(console.error)
      .finally(() => {
        active = null;
        // It was not stopped by the user.
        if (stop.signal.aborted && !closed && isGoing(item.status)) item.status = { phase: 'queued' };
        runNext();
      });
    active = { id: item.row.id, stop, ended };
  }

  /** Checks whether the library cannot be written now; if so, the item waits. */
  async function bar(item: Item): Promise<boolean> {
    await blobs.look();
    const reason = barred();
    if (reason && item.status.phase !== 'paused') set(item, { phase: 'waitingForLibrary', reason });
    return reason !== null;
  }

  /** Never rejects. After a full disk it resumes from the last complete file. */
  async function run(item: Item, signal: AbortSignal): Promise<void> {
    try {
      for await (const missing of whenRoom(() => fetchAll(item, signal), spaceFor(item, signal)))
        if (!signal.aborted) set(item, { phase: 'waitingForSpace', missing });
    } catch (error) {
      if (signal.aborted || (await bar(item))) return;
      set(item, { phase: 'failed', code: codeOfFailed(error), message: failureOf(error).message });
    }
  }

  const spaceFor = (item: Item, signal: AbortSignal): Space => ({
    left: () => Math.max(0, totalOf(item.row) - item.doneBefore - item.doneNow),
    room: () => free(blobs.folder()),
    sleep: (ms) => sleep(ms, signal),
  });

  async function fetchAll(item: Item, signal: AbortSignal): Promise<void> {
    const { row } = item;
    if (await bar(item)) return;
    item.doneBefore = 0;
    const files: Manifest['files'] = [];
    for (const [index, file] of row.files.entries()) {
      item.doneNow = 0;
      const sha256 = await fetchFile(item, index, signal);
      if (sha256 === null) return;
      files.push({ name: file.name, size: file.size, sha256, etag: file.etag });
      item.doneBefore += file.size;
    }
    item.doneNow = 0;
    if (signal.aborted) return;
    const { name, source, repository, commit } = row;
    const manifest = { name, source, repository, commit, files, checkedAt: now() };
    const path = await blobs.assemble(folderName(row), manifest);
    // Cancelled just now.
    if (!items.includes(item)) return void (await blobs.discard(path));
    await options.finished({ name, path: modelPath(path, row) });
    removeDownload(db, row.id);
    items = items.filter((candidate) => candidate !== item);
    tell();
  }

  /** The file's hash once it is in the blob store; null if it stopped or failed. */
  async function fetchFile(item: Item, index: number, signal: AbortSignal): Promise<string | null> {
    const { row } = item;
    const wanted = row.files[index];
    const source = options.source(row.source);
    if (!wanted || !source) {
      set(item, { phase: 'failed', code: 'no-source', message: `[downloads] the source ${row.source} is not set up` });
      return null;
    }
    if (await bar(item)) return null;
    const partPath = blobs.partPath(row.id, index);
    const target = wholePath(partPath);
    await blobs.acceptAgain(target, wanted.sha256, wanted.size);
    if (wanted.sha256 && (await blobs.has(wanted.sha256, wanted.size))) return wanted.sha256;
    // The app ended before the file was moved into the store: the journal still knows its blocks.
    if ((await exists(target)) && !(await exists(partPath))) await rename(target, partPath);
    const net = options.net && { net: options.net(row.name) };
    const there = blobs.look;
    const settings = { journal, partPath, targetPath: target, throttle, there, ...net, ...options.tuning };
    const file = source.file(row.repository, row.commit, wanted);
    const left = wanted.sha256 === null ? null : await blobs.damaged(wanted.sha256);
    if (left && !(await exists(partPath))) await resumeDamaged(file, left, settings, signal);
    for await (const state of download(file, settings, signal)) {
      if (state.phase === 'done') {
        // From now on it is identified by its content, even if its source publishes no hash.
        const files = row.files.with(index, { ...wanted, sha256: state.sha256 });
        await blobs.accept(target, state.sha256, state.bytes, state.blocks, () => {
          setDownloadFiles(db, row.id, files);
          journal.forget(file.key);
        });
        row.files = files;
        return state.sha256;
      }
      await apply(item, state);
    }
    return null;
  }

  async function apply(item: Item, state: DownloadState): Promise<void> {
    if ('done' in state) item.doneNow = state.done;
    // A removed drive is not a failure of the file.
    if (state.phase === 'failed' && (await bar(item))) return;
    const status = statusOf(state);
    if (status) set(item, status);
  }

  const halt = async (id: string) => {
    if (active?.id !== id) return;
    active.stop.abort();
    await active.ended;
  };

  /** Discards its incomplete files. */
  async function forget({ id, source, repository, commit, files }: DownloadRow): Promise<void> {
    const from = options.source(source);
    for (const [index, file] of files.entries()) {
      const partPath = blobs.partPath(id, index);
      if (from) await discard(from.file(repository, commit, file), { journal, partPath });
      await rm(wholePath(partPath), { force: true });
    }
  }

  queueMicrotask(guarded(console.error, runNext));
  return {
    list,
    start(repository, files, name) {
      if (
        items.some(
          ({ row }) =>
            row.repository === repository.name && row.commit === repository.commit && sameFiles(row.files, files),
        )
      ) {
        throw new LonghandError('conflict', `[downloads] ${repository.name} is already in the list`);
      }
      const row: DownloadRow = {
        id: newId(),
        name,
        source: repository.source,
        repository: repository.name,
        commit: repository.commit,
        files: files.map(({ name, size, sha256, etag }) => ({ name, size, sha256, etag })),
        paused: false,
      };
      addDownload(db, row, now());
      const item: Item = { row, status: { phase: 'queued' }, doneBefore: 0, doneNow: 0 };
      items.push(item);
      tell();
      runNext();
      return shown(item);
    },
    pause(id) {
      const item = find(id);
      setDownloadPaused(db, id, true);
      if (active?.id === id) active.stop.abort();
      set(item, { phase: 'paused' });
    },
    resume(id) {
      const item = find(id);
      if (renewing.has(id)) throw new LonghandError('conflict', `[downloads] ${id} is being downloaded again`);
      setDownloadPaused(db, id, false);
      const waits = active?.id === id ? active.ended : Promise.resolve();
      waits
        .then(() => {
          if (item.status.phase !== 'paused' && item.status.phase !== 'failed' && item.status.phase !== 'changed')
            return;
          if (renewing.has(id) || !items.includes(item)) return;
          set(item, { phase: 'queued' });
          runNext();
        })
        .catch(console.error);
    },
    async cancel(id) {
      const item = find(id);
      items = items.filter((candidate) => candidate !== item);
      removeDownload(db, id);
      tell();
      await halt(id);
      await forget(item.row);
      await blobs.sweep();
    },
    move(id, place) {
      const item = find(id);
      items = items.filter((candidate) => candidate !== item);
      items.splice(Math.max(0, Math.min(place, items.length)), 0, item);
      orderDownloads(
        db,
        items.map(({ row }) => row.id),
      );
      tell();
    },
    limit(bytesPerSecond) {
      throttle.bytesPerSecond = bytesPerSecond;
    },
    wake() {
      for (const item of items) {
        const { status } = item;
        const waits =
          (status.phase === 'waitingForLibrary' && barred() === null) ||
          (status.phase === 'failed' && status.code === 'off');
        if (waits) set(item, { phase: 'queued' });
      }
      runNext();
    },
    waits: () => barred() === null && items.some(({ status }) => status.phase === 'waitingForLibrary'),
    async rest() {
      if (active) await halt(active.id);
    },
    row: (id) => find(id).row,
    async renew(id, { commit, files }) {
      const item = find(id);
      // Another window did this first.
      if (item.status.phase !== 'changed' || renewing.has(id)) {
        throw new LonghandError('conflict', `[downloads] ${id} is being downloaded again`);
      }
      // It stays `changed` until the old files are deleted: a queued item may start at any moment.
      renewing.add(id);
      try {
        await forget(item.row);
        if (!items.includes(item)) return; // cancelled in the meantime
        const wanted = files.map(({ name, size, sha256, etag }) => ({ name, size, sha256, etag }));
        renewDownload(db, id, commit, wanted);
        item.row = { ...item.row, commit, files: wanted, paused: false };
        item.doneBefore = 0;
        item.doneNow = 0;
        set(item, { phase: 'queued' });
      } finally {
        renewing.delete(id);
      }
      runNext();
    },
    async close() {
      closed = true;
      active?.stop.abort();
      await active?.ended;
    },
  };
}

/** A verified file before it is moved into the store. */
const wholePath = (partPath: string): string => `${partPath}.whole`;

const sameFiles = (a: readonly WantedFile[], b: readonly WantedFile[]): boolean =>
  a.length === b.length && a.every((file, index) => file.name === b[index]?.name);
