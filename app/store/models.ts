import type { ModelDescription, ModelEntry, ModelId } from '../protocol/index.ts';
import type { Database } from './database.ts';

/** What was found out about a model from its files. */
export type ModelFacts = { description: ModelDescription; thinking: NonNullable<ModelEntry['thinking']> };

export type ModelRow = {
  id: ModelId;
  name: string;
  path: string | null;
  lastUsedAt: number | null;
  facts: ModelFacts | null;
};

type Stored = Omit<ModelRow, 'facts'> & { facts: string | null };

const select = 'SELECT id, name, path, last_used_at AS lastUsedAt, facts FROM models';
const rowOf = (row: Stored): ModelRow => ({ ...row, facts: row.facts === null ? null : JSON.parse(row.facts) });

/** Last used first, then last added. */
export const listModels = (db: Database): ModelRow[] =>
  db.all<Stored>(`${select} ORDER BY last_used_at DESC NULLS LAST, added_at DESC`).map(rowOf);

export function findModel(db: Database, id: ModelId): ModelRow | undefined {
  const row = db.get<Stored>(`${select} WHERE id = ?`, id);
  return row && rowOf(row);
}

export const findModelByPath = (db: Database, path: string): ModelRow | undefined => {
  const row = db.get<Stored>(`${select} WHERE path = ?`, path);
  return row && rowOf(row);
};

export const addModel = (db: Database, model: Omit<ModelRow, 'lastUsedAt'>, now: number) =>
  db.run(
    'INSERT INTO models (id, name, path, added_at, facts) VALUES (?, ?, ?, ?, ?)',
    model.id,
    model.name,
    model.path,
    now,
    model.facts && JSON.stringify(model.facts),
  );

export const setModelFacts = (db: Database, id: ModelId, facts: ModelFacts) =>
  db.run('UPDATE models SET facts = ? WHERE id = ?', JSON.stringify(facts), id);

export const setModelUsed = (db: Database, id: ModelId, now: number) =>
  db.run('UPDATE models SET last_used_at = ? WHERE id = ?', now, id);

export const removeModel = (db: Database, id: ModelId) => db.run('DELETE FROM models WHERE id = ?', id);
