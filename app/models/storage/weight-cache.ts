import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelId, Response } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { listModels, type ModelRow } from '../../store/models/models.ts';

//  packed/<id>.panels        weights packed by the CPU back end, for the next load
//  packed/<id>.panels.part   being written
//
//  Expendable: without it a load only takes longer. So a full, unmounted or read-only disk is never
//  an error.

/** The folder of packed weights. */
export type WeightCache = {
  /** The file of a model, shared by its presets. Null if it cannot have one. */
  fileOf(row: Pick<ModelRow, 'id' | 'presetOf'>): string | null;
  size(): Promise<Response<'weightCache.size'>>;
  /** Deletes everything. Returns the bytes freed. */
  clear(): Promise<Response<'weightCache.clear'>>;
  forget(modelId: ModelId): Promise<void>;
  /** Deletes files of removed models, and incomplete ones. */
  sweep(): Promise<void>;
};

const WHOLE = '.panels';
const PART = `${WHOLE}.part`;

export function createWeightCache(db: Database, folder: string): WeightCache {
  const startedAt = Date.now();
  const pathOf = (name: string) => join(folder, name);

  async function names(): Promise<string[]> {
    const found = await readdir(folder).catch((): string[] => []);
    return found.filter((name) => name.endsWith(WHOLE) || name.endsWith(PART));
  }

  const bytesOf = async (name: string) => (await stat(pathOf(name)).catch(() => null))?.size ?? 0;

  async function discard(name: string): Promise<number> {
    const bytes = await bytesOf(name);
    return rm(pathOf(name), { force: true }).then(
      () => bytes,
      () => 0,
    );
  }

  /** Whether a file is left over; one newer than this start is being written right now. */
  async function isLeftOver(name: string): Promise<boolean> {
    const found = await stat(pathOf(name)).catch(() => null);
    return found !== null && found.ctimeMs < startedAt;
  }

  return {
    fileOf({ id, presetOf }) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        return pathOf((presetOf ?? id) + WHOLE);
      } catch {
        return null;
      }
    },
    async size() {
      const whole = (await names()).filter((name) => name.endsWith(WHOLE));
      return { bytes: sum(await Promise.all(whole.map(bytesOf))), models: whole.length };
    },
    async clear() {
      return { freed: sum(await Promise.all((await names()).map(discard))) };
    },
    async forget(modelId) {
      await Promise.all([discard(modelId + WHOLE), discard(modelId + PART)]);
    },
    async sweep() {
      const all = await names();
      if (all.length === 0) return;
      const known = new Set(listModels(db).map(({ id }) => id + WHOLE));
      for (const name of all) {
        const unwanted = name.endsWith(PART) ? await isLeftOver(name) : !known.has(name);
        if (unwanted) await discard(name);
      }
    },
  };
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
