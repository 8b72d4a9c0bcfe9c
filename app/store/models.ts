import { type ModelDescription, type ModelEntry, type ModelId, ModelSettings } from '../protocol/index.ts';
import type { Database } from './database.ts';

/** What was found out about a model from its files. */
export type ModelFacts = { description: ModelDescription; thinking: NonNullable<ModelEntry['thinking']> };

export type ModelRow = {
  id: ModelId;
  name: string;
  path: string | null;
  lastUsedAt: number | null;
  facts: ModelFacts | null;
  settings: ModelSettings;
  presetOf: ModelId | null;
};

const noSettings: ModelSettings = ModelSettings.parse({});

type Stored = Omit<ModelRow, 'facts' | 'settings'> & { facts: string | null; settings: string | null };

const select = 'SELECT id, name, path, last_used_at AS lastUsedAt, facts, settings, preset_of AS presetOf FROM models';
const rowOf = (row: Stored): ModelRow => ({
  ...row,
  facts: row.facts === null ? null : JSON.parse(row.facts),
  settings: row.settings === null ? noSettings : ModelSettings.parse(JSON.parse(row.settings)),
});

/** Last used first, then last added. */
export const listModels = (db: Database): ModelRow[] =>
  db.all<Stored>(`${select} ORDER BY last_used_at DESC NULLS LAST, added_at DESC`).map(rowOf);

export function findModel(db: Database, id: ModelId): ModelRow | undefined {
  const row = db.get<Stored>(`${select} WHERE id = ?`, id);
  return row && rowOf(row);
}

export const findModelByPath = (db: Database, path: string): ModelRow | undefined => {
  const row = db.get<Stored>(`${select} WHERE path = ? AND preset_of IS NULL`, path);
  return row && rowOf(row);
};

export type NewModel = Pick<ModelRow, 'id' | 'name' | 'path' | 'facts'> &
  Partial<Pick<ModelRow, 'settings' | 'presetOf'>>;

export const addModel = (db: Database, { id, name, path, facts, settings, presetOf }: NewModel, now: number) =>
  db.run(
    'INSERT INTO models (id, name, path, added_at, facts, settings, preset_of) VALUES (?, ?, ?, ?, ?, ?, ?)',
    id,
    name,
    path,
    now,
    facts && JSON.stringify(facts),
    settings ? JSON.stringify(settings) : null,
    presetOf ?? null,
  );

/** Models that use the files of this one. */
export const presetsOf = (db: Database, id: ModelId): ModelRow[] =>
  db.all<Stored>(`${select} WHERE preset_of = ?`, id).map(rowOf);

export const setModelSettings = (db: Database, id: ModelId, settings: ModelSettings) =>
  db.run('UPDATE models SET settings = ? WHERE id = ?', JSON.stringify(settings), id);

export const setModelFacts = (db: Database, id: ModelId, facts: ModelFacts) =>
  db.run('UPDATE models SET facts = ? WHERE id = ?', JSON.stringify(facts), id);

export const setModelUsed = (db: Database, id: ModelId, now: number) =>
  db.run('UPDATE models SET last_used_at = ? WHERE id = ?', now, id);

export const removeModel = (db: Database, id: ModelId) => db.run('DELETE FROM models WHERE id = ?', id);
