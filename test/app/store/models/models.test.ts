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
  presetsOf,
  setModelMetadata,
  setModelSettings,
  setModelUsed,
  setRemoteModel,
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

test('pictures, thinking and all else that can be switched are kept as they are, each for itself', () => {
  const db = opened();
  const flags = ['supported', 'mtp', 'encoder', 'reranker'] as const;
  for (const on of flags) {
    const description = Object.fromEntries(flags.map((flag) => [flag, flag === on]));
    for (const [able, vision] of [
      [true, { token: 7, merge: 2 }],
      [false, null],
    ] as const) {
      const metadata = { ...factsOf({ ...description, vision }), thinking: { able, byDefault: !able } };
      const id = `${on} ${able}` as ModelId;
      addModel(db, { id, name: id, path: null, metadata }, 1);
      expect(findModel(db, id)?.metadata).toEqual(metadata);
    }
  }
});

test('a model elsewhere and one with settings of its own keep them; a damaged row costs what is damaged in it', () => {
  const db = opened();
  const remote = { engineId: 'e' as never, model: 'large', contextLength: null, pictures: true };
  const settings = { sampling: {}, template: null, contextLength: 512, device: null, vision: null };
  const add = (id: string, more = {}) =>
    addModel(db, { id: id as ModelId, name: id, path: null, metadata: null, ...more }, 1);
  add('plain');
  add('far', { remote });
  add('mine', { settings, presetOf: 'plain' as ModelId });
  const read = (id: string) => findModel(db, id as ModelId);
  expect(read('plain')).toMatchObject({ remote: null, presetOf: null, settings: { contextLength: null } });
  expect(read('far')?.remote).toEqual(remote);
  setRemoteModel(db, 'far' as ModelId, { ...remote, contextLength: 8 });
  expect(read('far')?.remote).toEqual({ ...remote, contextLength: 8 });
  expect(presetsOf(db, 'plain' as ModelId).map(({ id, settings }) => [id, settings])).toEqual([['mine', settings]]);
  setModelSettings(db, 'mine' as ModelId, { ...settings, contextLength: 256 });
  expect(read('mine')?.settings.contextLength).toBe(256);
  db.run(`UPDATE models SET remote = '{"model":1}' WHERE id = 'far'`);
  db.run(`UPDATE models SET settings = '{"contextLength":"long"}' WHERE id = 'mine'`);
  db.run(`UPDATE models SET metadata = '[1,2]' WHERE id = 'plain'`);
  const whole = [read('far')?.remote, read('mine')?.settings, read('plain')?.metadata];
  expect(whole).toEqual([null, { ...settings, contextLength: null }, null]);
  // What is no JSON at all takes no other model along.
  for (const broken of ['{', '1,2,3,4']) {
    db.run('UPDATE models SET settings = ? WHERE id = ?', broken, 'mine');
    expect(listModels(db).map(({ id, settings }) => [id, settings.contextLength])).toEqual([
      ['plain', null],
      ['far', null],
      ['mine', null],
    ]);
  }
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
