import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ModelDescription, ModelId } from '../../../../app/protocol/index.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../../app/store/database/migrate.ts';
import {
  addModel,
  findModel,
  listModels,
  type ModelMetadata,
  modelsToInspect,
  setModelMetadata,
  setModelUsed,
} from '../../../../app/store/models/models.ts';
import { shapeOf } from '../../../support/fakes/models.ts';
import { migrations, newFolder } from '../support.ts';

function opened(upTo?: number) {
  const db = openDatabase(join(newFolder(), 'longhand.db'));
  onTestFinished(() => db.close());
  migrate(db, readMigrations(migrations).slice(0, upTo));
  return db;
}

const kinds = ['attention', 'gated-delta', 'lightning', 'sparse', 'short-conv', 'latent', 'encoder'] as const;
/** Every kind of layer, without and with experts. */
const layers: ModelDescription['layers'] = kinds.flatMap((kind) => [
  { kind, experts: false },
  { kind, experts: true },
]);
const memory: ModelDescription['memory'] = {
  weights: 2.8e9,
  contextPerToken: { f32: 4, f16: 2, q8: 1.0625, q4: 0.5625 },
  states: 5e7,
  snapshots: 3e8,
  pass: 0,
  passPerToken: 80_000,
  passTokens: 512,
  scratchPerToken: 0,
};
const factsOf = (more: Partial<ModelDescription>): ModelMetadata => ({
  description: { ...shapeOf('qwen3.5-4b', 2.7e9, 'Q4_K_M'), ...more },
  thinking: { able: true, byDefault: false },
});

test('what is known of a model comes back as it was, every kind of layer and none', () => {
  const db = opened();
  for (const [id, metadata] of Object.entries({
    all: factsOf({ layers }),
    none: factsOf({ layers: [] }),
    planned: factsOf({ memory }),
    unknown: null,
  })) {
    addModel(db, { id: id as ModelId, name: id, path: null, metadata }, 1);
    expect(findModel(db, id as ModelId)?.metadata).toEqual(metadata);
  }
});

test('models of an older version keep what was known of them', () => {
  const db = opened(10);
  const known = { ...factsOf({ layers }), later: 'kept' };
  const add = (id: string, metadata: string | null) =>
    db.run('INSERT INTO models (id, name, path, added_at, facts) VALUES (?, ?, NULL, 1, ?)', id, id, metadata);
  add('full', JSON.stringify(known));
  add('without', null);
  migrate(db, readMigrations(migrations).slice(10));
  expect(findModel(db, 'full' as ModelId)?.metadata).toMatchObject(factsOf({ layers }));
  expect(findModel(db, 'without' as ModelId)?.metadata).toBe(null);
  // What this version asks besides is found out once its files are there.
  expect(modelsToInspect(db)).toEqual([{ id: 'full', path: null }]);
  setModelMetadata(db, 'full' as ModelId, factsOf({ layers }));
  expect(modelsToInspect(db)).toEqual([]);
});

test('settings of an older version are completed', () => {
  const db = opened();
  addModel(db, { id: 'old' as ModelId, name: 'old', path: null, metadata: null }, 1);
  db.run(`UPDATE models SET settings = '{"contextLength":4096}'`);
  expect(findModel(db, 'old' as ModelId)?.settings).toEqual({
    sampling: {},
    template: null,
    contextLength: 4096,
    device: null,
    vision: null,
  });
});

test('last used first, then last added', () => {
  const db = opened();
  for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) {
    addModel(db, { id: id as ModelId, name: id, path: null, metadata: null }, at);
  }
  setModelUsed(db, 'b' as ModelId, 10);
  setModelUsed(db, 'a' as ModelId, 20);
  expect(listModels(db).map(({ id }) => id)).toEqual(['a', 'b', 'd', 'c']);
});
