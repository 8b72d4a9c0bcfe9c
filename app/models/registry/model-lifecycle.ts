import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Engine } from '../../engine/client/engine-client.ts';
import {
  type Checked,
  type Emit,
  guarded,
  LonghandError,
  type ModelDetails,
  type ModelEntry,
  type ModelId,
  type ModelQuality,
} from '../../protocol/index.ts';
import type { ModelRow } from '../../store/models/models.ts';
import { type BlobStore, MADE, type Manifest, readManifest } from '../storage/blob-store.ts';
import { exists } from '../storage/fs-probe.ts';
import type { LibraryLocation } from '../storage/library-location.ts';
import { removeLink } from '../storage/remove-link.ts';
import type { RwLock } from '../storage/rw-lock.ts';
import { unmountedError } from './model-errors.ts';
import type { ModelRegistry } from './model-registry.ts';
import { checkFiles, type Damage, rememberCheck } from './verify-files.ts';

//  The lifecycle of an installed model: details, verification, removal, restoration.

export type ModelLifecycle = {
  details(modelId: ModelId): Promise<ModelDetails>;
  verify(modelId: ModelId): Promise<Checked>;
  /** Removes damaged files from the blob store. Returns what has to be downloaded again. */
  dropDamaged(modelId: ModelId): Promise<Manifest>;
  remove(modelId: ModelId): Promise<{ model: ModelEntry; freed: number }>;
  restore(modelId: ModelId): Promise<ModelEntry>;
  /** Makes pending removals final. */
  close(): Promise<void>;
};

type Check = Promise<{ folder: string; manifest: Manifest; damaged: Damage[] }>;

type Removed = {
  /** The model, then its presets. */
  rows: ModelRow[];
  /** Paths in the library, which may move in the meantime: its folder, if the files are ours, and what the engine opens. */
  folder: string | null;
  path: string | null;
  timer: NodeJS.Timeout;
  /** It is being restored. */
  busy: boolean;
};

/** Longer than the undo notification is visible. */
const UNDO_MS = 60_000;

export type ModelLifecycleOptions = {
  library: ModelRegistry;
  blobs: BlobStore;
  location: LibraryLocation;
  /** Removes what was kept of a model beside its files. */
  forgotten: (modelId: ModelId) => Promise<void>;
  lock: RwLock;
  engine: Engine;
  emit: Emit;
  now: () => number;
  /** The card beside a model, if there is one. */
  qualityOf: (path: string) => Promise<ModelQuality | null>;
};

export function createModelLifecycle({
  library,
  blobs,
  location,
  forgotten,
  lock,
  engine,
  emit,
  now,
  qualityOf,
}: ModelLifecycleOptions): ModelLifecycle {
  const removed = new Map<ModelId, Removed>();
  const checks = new Map<ModelId, { stop: AbortController; result: Check }>();

  /** The model's own folder in the blob store; null for external files. */
  const folderOf = async ({ path, presetOf }: ModelRow): Promise<{ folder: string; manifest: Manifest } | null> => {
    if (path === null || presetOf !== null || !blobs.owns(path)) return null;
    if (!(await blobs.look())) throw unmountedError(path);
    const [name = ''] = relative(blobs.folder(), path).split('/');
    const folder = join(blobs.folder(), name);
    const manifest = await readManifest(folder);
    return manifest && { folder, manifest };
  };

  async function needed(modelId: ModelId) {
    const own = await folderOf(library.find(modelId));
    if (own) return own;
    throw new LonghandError(
      'bad-request',
      '[models] Longhand did not download these files, so there is nothing to verify them against',
      { details: { reason: 'not-ours' } },
    );
  }

  /** Two windows that ask for the same are told the same. */
  function check(modelId: ModelId): Check {
    const known = checks.get(modelId);
    if (known) return known.result;
    const stop = new AbortController();
    const result = checkOnce(modelId, stop.signal).finally(() => checks.delete(modelId));
    checks.set(modelId, { stop, result });
    return result;
  }

  async function checkOnce(modelId: ModelId, signal: AbortSignal): Check {
    const { folder, manifest } = await needed(modelId);
    const tell = (checked: number, total: number) => emit('model.checking', { modelId, checked, total });
    const damaged = await checkFiles(folder, manifest, blobs.blocksOf, tell, signal);
    signal.throwIfAborted();
    // A file that is unreadable because its drive was removed is not damaged.
    if (!(await blobs.look())) throw unmountedError(folder);
    if (damaged.length === 0) await rememberCheck(folder, now());
    return { folder, manifest, damaged };
  }

  /** Stops verifying files that are being removed. */
  async function stopCheck(modelId: ModelId): Promise<void> {
    const known = checks.get(modelId);
    known?.stop.abort(new LonghandError('cancelled', '[models] the model was removed while its files were checked'));
    await known?.result.catch(() => {});
  }

  async function finish(modelId: ModelId): Promise<void> {
    const entry = removed.get(modelId);
    const [row] = entry?.rows ?? [];
    if (!entry || !row || entry.busy) return;
    removed.delete(modelId);
    clearTimeout(entry.timer);
    for (const { id } of entry.rows) await forgotten(id);
    const { path, presetOf } = row;
    if (entry.folder !== null) await lock.shared(() => blobs.discardAside(modelId));
    else if (path && presetOf === null && location.ownsLink(path)) await removeLink(path);
  }

  function finishLater(modelId: ModelId): NodeJS.Timeout {
    const timer = setTimeout(
      guarded(console.error, () => finish(modelId)), // retried at the next start
      UNDO_MS,
    );
    timer.unref();
    return timer;
  }

  /** Restores files first, then the list; a failure in between leaves both unchanged. */
  async function takeBack(modelId: ModelId, { rows, folder, path }: Removed): Promise<ModelEntry> {
    const target = folder === null ? null : join(blobs.folder(), folder);
    // The same model may have been downloaded again in the meantime.
    const fetchedAgain = target !== null && (await exists(target));
    if (target !== null && !fetchedAgain) await blobs.takeBack(modelId, target);
    try {
      const whole = path === null ? null : join(blobs.folder(), path);
      return library.put(rows.map((row) => (whole === null ? row : { ...row, path: whole })));
    } catch (error) {
      if (target !== null && !fetchedAgain) await blobs.setAside(target, modelId);
      throw error;
    } finally {
      if (fetchedAgain) await blobs.discardAside(modelId);
    }
  }

  return {
    async details(modelId) {
      const row = library.find(modelId);
      const own = await folderOf(row).catch(() => null); // its drive is not mounted
      const ours = row.path !== null && blobs.owns(row.path);
      const bytes = own
        ? own.manifest.files.reduce((sum, file) => sum + file.size, 0)
        : (row.metadata?.description.weightBytes ??
          (row.path ? ((await stat(row.path).catch(() => null))?.size ?? 0) : 0));
      return {
        modelId,
        ownership: ownershipOf(row, ours, own?.manifest.source),
        origin: own && {
          source: own.manifest.source,
          repository: own.manifest.repository,
          commit: own.manifest.commit,
        },
        bytes,
        frees: own ? await blobs.frees(own.folder) : 0,
        checkedAt: own?.manifest.checkedAt ?? null,
        quality: row.path === null ? null : await qualityOf(row.path),
      };
    },
    async verify(modelId) {
      const { manifest, damaged } = await check(modelId);
      const bytes = manifest.files.reduce((sum, file) => sum + file.size, 0);
      const again = damaged.reduce((sum, one) => sum + one.bytes, 0);
      return {
        modelId,
        bytes,
        damaged: damaged.map(({ file }) => file.name),
        again,
      };
    },
    async dropDamaged(modelId) {
      const { folder, manifest, damaged } = await check(modelId);
      if (manifest.source === MADE) {
        throw new LonghandError('bad-request', '[models] this model was made here; nobody else has its files', {
          details: { reason: 'made-here' },
        });
      }
      for (const { file } of damaged) await blobs.drop(file.sha256, join(folder, file.name));
      return manifest;
    },
    async remove(modelId) {
      const row = library.find(modelId);
      const own = await folderOf(row);
      const freed = own ? await blobs.frees(own.folder) : 0;
      if (engine.target()?.modelId === modelId) await engine.unload();
      await stopCheck(modelId);
      library.find(modelId); // another window may have removed it first
      if (own) await blobs.setAside(own.folder, modelId);
      const inside = (path: string) => relative(blobs.folder(), path);
      const folder = own && inside(own.folder);
      const path = row.path !== null && blobs.owns(row.path) ? inside(row.path) : null;
      let rows: ModelRow[];
      try {
        // Presets have no files of their own: they are removed and restored with their model.
        rows = library.forget(modelId);
      } catch (error) {
        // It stays in the list, so its files stay too.
        if (own) await blobs.takeBack(modelId, own.folder);
        throw error;
      }
      removed.set(modelId, { rows, folder, path, timer: finishLater(modelId), busy: false });
      return { model: library.entryOf(row), freed };
    },
    async restore(modelId) {
      const entry = removed.get(modelId);
      if (!entry || entry.busy) {
        throw new LonghandError('not-found', `[models] ${modelId} can no longer be restored`);
      }
      clearTimeout(entry.timer);
      entry.busy = true;
      try {
        const model = await takeBack(modelId, entry);
        removed.delete(modelId);
        return model;
      } catch (error) {
        // The restore can be retried.
        entry.busy = false;
        entry.timer = finishLater(modelId);
        throw error;
      }
    },
    async close() {
      for (const { stop } of checks.values()) stop.abort();
      await Promise.allSettled([...checks.values()].map(({ result }) => result));
      await Promise.all([...removed.keys()].map(finish));
    },
  };
}

function ownershipOf({ presetOf, path }: ModelRow, ours: boolean, source = ''): ModelDetails['ownership'] {
  if (presetOf !== null) return 'preset';
  if (path === null) return 'built-in';
  if (!ours) return 'external';
  return source === MADE ? 'made' : 'downloaded';
}
