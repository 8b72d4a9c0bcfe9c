import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Download, type DownloadStatus, LonghandError } from '../protocol/index.ts';
import type { Database } from '../store/database.ts';
import {
  addDownload,
  type DownloadRow,
  listDownloads,
  orderDownloads,
  removeDownload,
  setDownloadFiles,
  setDownloadPaused,
  type WantedFile,
} from '../store/downloads.ts';
import { newId } from '../store/identity.ts';
import { type DownloadOptions, discard, download } from './download/download.ts';
import { journalIn } from './download/journal.ts';
import { Throttle } from './download/rate.ts';
import type { Network } from './download/request.ts';
import { takeUp } from './download/salvage.ts';
import type { DownloadState } from './download/state.ts';
import type { Manifest, Shelf } from './shelf.ts';
import type { Repository, Source } from './source.ts';
import { labelOf } from './variants.ts';

/** The list of downloads: one at a time in the order of the list, each surviving pause, restart and crash. */
export type Downloads = {
  list(): Download[];
  /** @throws LonghandError `conflict` when the same repository is in the list already */
  start(repository: Repository, files: readonly WantedFile[], name: string): Download;
  pause(id: string): void;
  resume(id: string): void;
  cancel(id: string): Promise<void>;
  /** Moves an item to a place in the list, 0 is next. */
  move(id: string, place: number): void;
  limit(bytesPerSecond: number | null): void;
  /** The network is allowed again: what was stopped for it goes on. */
  wake(): void;
  /** Stops all work; what was fetched stays. */
  close(): Promise<void>;
};

export type DownloadsOptions = {
  db: Database;
  shelf: Shelf;
  source: (id: string) => Source | undefined;
  /** The network for the download of a model with this name. */
  net?: (name: string) => Network;
  changed: (list: Download[]) => void;
  /** A model is whole and in its folder. */
  finished: (model: { name: string; path: string }) => Promise<void>;
  now?: () => number;
  tuning?: Partial<Pick<DownloadOptions, 'connections' | 'net' | 'backOffMs' | 'sleep' | 'free'>>;
};

type Item = {
  row: DownloadRow;
  status: DownloadStatus;
  doneBefore: number;
  doneNow: number;
  restarted: boolean;
};
type Active = { id: string; stop: AbortController; ended: Promise<void> };

export function createDownloads(options: DownloadsOptions): Downloads {
  const { db, shelf, now = Date.now } = options;
  const journal = journalIn(db);
  const throttle = new Throttle(null);
  let items: Item[] = listDownloads(db).map((row) => ({
    row,
    status: { at: row.paused ? 'paused' : 'queued' },
    doneBefore: 0,
    doneNow: 0,
    restarted: false,
  }));
  let active: Active | null = null;
  let closed = false;

  const list = () => items.map(shown);
  const tell = () => options.changed(list());
  const find = (id: string): Item => {
    const item = items.find((candidate) => candidate.row.id === id);
    if (!item) throw new LonghandError('not-found', `[downloads] no download ${id}`);
    return item;
  };
  const set = (item: Item, status: DownloadStatus) => {
    item.status = status;
    tell();
  };

  function runNext(): void {
    if (active || closed) return;
    const item = items.find((candidate) => candidate.status.at === 'queued');
    if (!item) return;
    const stop = new AbortController();
    const ended = run(item, stop.signal).finally(() => {
      active = null;
      runNext();
    });
    active = { id: item.row.id, stop, ended };
  }

  async function run(item: Item, signal: AbortSignal): Promise<void> {
    const { row } = item;
    item.doneBefore = 0;
    const kept: Manifest['files'] = [];
    for (const [index, file] of row.files.entries()) {
      item.doneNow = 0;
      const sha256 = await fetchFile(item, index, signal);
      if (sha256 === null) return;
      kept.push({ name: file.name, size: file.size, sha256, etag: file.etag });
      item.doneBefore += file.size;
    }
    item.doneNow = 0;
    try {
      const { name, source, repository, commit } = row;
      const manifest = { name, source, repository, commit, files: kept, checkedAt: now() };
      const path = await shelf.assemble(folderName(row), manifest);
      await options.finished({ name, path: modelPath(path, row) });
      removeDownload(db, row.id);
      items = items.filter((candidate) => candidate !== item);
      tell();
    } catch (error) {
      set(item, { at: 'failed', code: 'disk', message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** The file's hash when it is on the shelf; null when it stopped or failed. */
  async function fetchFile(item: Item, index: number, signal: AbortSignal): Promise<string | null> {
    const { row } = item;
    const wanted = row.files[index];
    const source = options.source(row.source);
    if (!wanted || !source) {
      set(item, { at: 'failed', code: 'not-found', message: `[downloads] the source ${row.source} is not set up` });
      return null;
    }
    if (wanted.sha256 && (await shelf.has(wanted.sha256, wanted.size))) return wanted.sha256;
    const partPath = shelf.partPath(row.id, index);
    const target = `${partPath}.whole`;
    const net = options.net && { net: options.net(row.name) };
    const settings = { journal, partPath, targetPath: target, throttle, ...net, ...options.tuning };
    const file = source.file(row.repository, row.commit, wanted);
    const left = wanted.sha256 === null ? null : shelf.damaged(wanted.sha256);
    if (left && !existsSync(partPath)) await takeUp(file, left, settings, signal);
    for await (const state of download(file, settings, signal)) {
      if (state.at === 'done') {
        await shelf.accept(target, state.sha256, state.bytes, state.blocks);
        // From now on it is known by its content, also when its source publishes no hash.
        row.files[index] = { ...wanted, sha256: state.sha256 };
        setDownloadFiles(db, row.id, row.files);
        return state.sha256;
      }
      apply(item, state);
    }
    return null;
  }

  function apply(item: Item, state: DownloadState): void {
    if ('done' in state) item.doneNow = state.done;
    if (state.at === 'restarted') item.restarted = true;
    const status = statusOf(state);
    if (status) set(item, status);
  }

  const halt = async (id: string) => {
    if (active?.id !== id) return;
    active.stop.abort();
    await active.ended;
  };

  queueMicrotask(runNext);
  return {
    list,
    start(repository, files, name) {
      if (
        items.some(
          ({ row }) =>
            row.repository === repository.name && row.commit === repository.commit && sameFiles(row.files, files),
        )
      ) {
        throw new LonghandError('conflict', `[downloads] ${repository.name} is in the list already`);
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
      const item: Item = { row, status: { at: 'queued' }, doneBefore: 0, doneNow: 0, restarted: false };
      items.push(item);
      tell();
      runNext();
      return shown(item);
    },
    pause(id) {
      const item = find(id);
      setDownloadPaused(db, id, true);
      if (active?.id === id) active.stop.abort();
      set(item, { at: 'paused' });
    },
    resume(id) {
      const item = find(id);
      setDownloadPaused(db, id, false);
      const waits = active?.id === id ? active.ended : Promise.resolve();
      void waits.then(() => {
        if (item.status.at !== 'paused' && item.status.at !== 'failed') return;
        set(item, { at: 'queued' });
        runNext();
      });
    },
    async cancel(id) {
      const item = find(id);
      items = items.filter((candidate) => candidate !== item);
      removeDownload(db, id);
      tell();
      await halt(id);
      const source = options.source(item.row.source);
      for (const [index, file] of item.row.files.entries()) {
        if (source)
          await discard(source.file(item.row.repository, item.row.commit, file), {
            journal,
            partPath: shelf.partPath(id, index),
          });
      }
      await shelf.sweep();
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
      for (const item of items)
        if (item.status.at === 'failed' && item.status.code === 'off') set(item, { at: 'queued' });
      runNext();
    },
    async close() {
      closed = true;
      active?.stop.abort();
      await active?.ended;
    },
  };
}

function statusOf(state: DownloadState): DownloadStatus | null {
  switch (state.at) {
    case 'transferring':
      return { at: 'running', rate: state.rate, secondsLeft: state.secondsLeft };
    case 'waitingForSpace':
      return { at: 'waitingForSpace', missing: state.missing };
    case 'waitingForNetwork':
      return { at: 'waitingForNetwork', attempt: state.attempt, reason: state.reason };
    case 'verifying':
      return { at: 'checking', checked: state.checked };
    case 'repairing':
      return { at: 'repairing', damaged: state.damaged };
    case 'failed':
      return { at: 'failed', code: state.code, message: state.message };
    default:
      return null;
  }
}

const shown = ({ row, status, doneBefore, doneNow, restarted }: Item): Download => ({
  id: row.id,
  name: row.name,
  source: row.source,
  repository: row.repository,
  variant: labelOf(ggufOf(row) ?? ''),
  done: doneBefore + doneNow,
  total: row.files.reduce((sum, file) => sum + file.size, 0),
  status,
  restarted,
});

const sameFiles = (a: readonly WantedFile[], b: readonly WantedFile[]): boolean =>
  a.length === b.length && a.every((file, index) => file.name === b[index]?.name);

/** `org--name@commit` and the quantisation, readable and free of anything a file system minds. */
const folderName = (row: DownloadRow): string => {
  const gguf = ggufOf(row);
  const name = `${row.repository.replace(/^https?:\/\//, '').replaceAll('/', '--')}@${row.commit.slice(0, 12)}`;
  return `${name}${gguf ? `-${labelOf(gguf)}` : ''}`.replace(/[^\w.@-]/g, '_');
};

const ggufOf = (row: Pick<DownloadRow, 'files'>): string | undefined =>
  row.files.find((file) => file.name.endsWith('.gguf'))?.name;

/** What the engine opens: the folder, or the (first) GGUF file in it. */
const modelPath = (folder: string, row: DownloadRow): string => {
  const gguf = ggufOf(row);
  return gguf ? join(folder, gguf) : folder;
};
