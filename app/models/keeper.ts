import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '../engine/client.ts';
import {
  type Checked,
  type Emit,
  LonghandError,
  type ModelDetails,
  type ModelEntry,
  type ModelId,
} from '../protocol/index.ts';
import type { ModelRow } from '../store/models.ts';
import { removeLink } from './adoption.ts';
import { checkFiles, rememberCheck } from './check.ts';
import type { Library } from './library.ts';
import { entryOf } from './library.ts';
import { type Manifest, readManifest, type Shelf } from './shelf.ts';

//  What happens to a model after it is here: told about, checked, removed, taken back.

export type Keeper = {
  details(modelId: ModelId): Promise<ModelDetails>;
  verify(modelId: ModelId): Promise<Checked>;
  /** Takes damaged files off the shelf. Returns what has to be fetched again. */
  dropDamaged(modelId: ModelId): Promise<Manifest>;
  remove(modelId: ModelId): Promise<{ model: ModelEntry; freed: number }>;
  restore(modelId: ModelId): Promise<ModelEntry>;
  /** Removals become final. */
  close(): Promise<void>;
};

type Removed = {
  row: ModelRow;
  presets: ModelRow[];
  aside: string | null;
  folder: string | null;
  timer: NodeJS.Timeout;
};

/** Longer than the undo is on screen. */
const UNDO_MS = 60_000;

export type KeeperOptions = { library: Library; shelf: Shelf; engine: Engine; emit: Emit; now: () => number };

export function createKeeper({ library, shelf, engine, emit, now }: KeeperOptions): Keeper {
  const removed = new Map<ModelId, Removed>();
  const stop = new AbortController();

  /** The model's own folder on the shelf; null for files that belong to somebody else. */
  const folderOf = async ({ path, presetOf }: ModelRow): Promise<{ folder: string; manifest: Manifest } | null> => {
    if (path === null || presetOf !== null || !shelf.owns(path)) return null;
    const rest = path.slice(shelf.folder.length + 1);
    const folder = `${shelf.folder}/${rest.split(/[/\\]/)[0]}`;
    const manifest = await readManifest(folder);
    return manifest && { folder, manifest };
  };

  async function needed(modelId: ModelId) {
    const own = await folderOf(library.find(modelId));
    if (own) return own;
    throw new LonghandError(
      'bad-request',
      '[models] these files were not fetched by Longhand: nothing is known to check them against',
      { details: { reason: 'not-ours' } },
    );
  }

  async function check(modelId: ModelId) {
    const { folder, manifest } = await needed(modelId);
    const tell = (checked: number, total: number) => emit('model.checking', { modelId, checked, total });
    const damaged = await checkFiles(folder, manifest, shelf.blocksOf, tell, stop.signal);
    if (damaged.length === 0) await rememberCheck(folder, now());
    return { folder, manifest, damaged };
  }

  async function finish(modelId: ModelId): Promise<void> {
    const entry = removed.get(modelId);
    if (!entry) return;
    removed.delete(modelId);
    clearTimeout(entry.timer);
    if (entry.aside) await shelf.discard(entry.aside);
    else if (entry.row.path && entry.row.presetOf === null) await unlinkIfOurs(entry.row.path);
  }

  const unlinkIfOurs = async (path: string) => {
    if (shelf.owns(path)) await removeLink(path);
  };

  return {
    async details(modelId) {
      const row = library.find(modelId);
      const own = await folderOf(row);
      const bytes = own
        ? own.manifest.files.reduce((sum, file) => sum + file.size, 0)
        : (row.facts?.description.weightBytes ??
          (row.path ? ((await stat(row.path).catch(() => null))?.size ?? 0) : 0));
      return {
        modelId,
        kept: row.presetOf !== null ? 'preset' : row.path === null ? 'built-in' : own ? 'downloaded' : 'linked',
        origin: own && {
          source: own.manifest.source,
          repository: own.manifest.repository,
          commit: own.manifest.commit,
        },
        bytes,
        frees: own ? await shelf.frees(own.folder) : 0,
        checkedAt: own?.manifest.checkedAt ?? null,
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
      for (const { file } of damaged) await shelf.drop(file.sha256, join(folder, file.name));
      return manifest;
    },
    async remove(modelId) {
      const row = library.find(modelId);
      const own = await folderOf(row);
      const freed = own ? await shelf.frees(own.folder) : 0;
      if (engine.target()?.modelId === modelId) await engine.unload();
      const aside = own ? await shelf.setAside(own.folder, modelId) : null;
      // Presets have no files of their own: they go, and come back, with the model.
      const presets = library.presetsOf(modelId).map((preset) => library.forget(preset.id));
      library.forget(modelId);
      const timer = setTimeout(() => void finish(modelId).catch(() => {}), UNDO_MS);
      timer.unref();
      removed.set(modelId, { row, presets, aside, folder: own?.folder ?? null, timer });
      return { model: entryOf(row), freed };
    },
    async restore(modelId) {
      const entry = removed.get(modelId);
      if (!entry) throw new LonghandError('not-found', `[models] ${modelId} cannot be taken back any more`);
      removed.delete(modelId);
      clearTimeout(entry.timer);
      if (entry.aside && entry.folder) {
        // The same model may have been fetched again in the meantime.
        if (existsSync(entry.folder)) await shelf.discard(entry.aside);
        else await shelf.takeBack(entry.aside, entry.folder);
      }
      const restored = library.put(entry.row);
      for (const preset of entry.presets) library.put(preset);
      return restored;
    },
    async close() {
      stop.abort();
      await Promise.all([...removed.keys()].map(finish));
    },
  };
}
