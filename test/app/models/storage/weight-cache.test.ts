import { cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { StartEngine } from '../../../../app/engine/ipc-protocol.ts';
import { createWeightCache } from '../../../../app/models/storage/weight-cache.ts';
import type { Client, EngineStatus, ModelId } from '../../../../app/protocol/index.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../../app/store/database/migrate.ts';
import { addModel } from '../../../../app/store/models/models.ts';
import { newFolder, places, realEngine, startCore } from '../../../support/core/core.ts';
import { starter } from '../../../support/models/models.ts';
import { realModel } from '../../../support/models/real-models.mjs';

//  Packed weights that are kept for the next load: where, how much, and when they go.

const model = { id: 'model' as ModelId, presetOf: null };
const preset = { id: 'preset' as ModelId, presetOf: model.id };

function setUp() {
  const data = newFolder();
  const db = openDatabase(join(data, 'longhand.db'));
  migrate(db, readMigrations(places.migrations));
  onTestFinished(() => db.close());
  addModel(db, { id: model.id, name: 'Model', path: '/models/mine', metadata: null }, 1);
  const folder = join(data, 'packed');
  return { folder, db, packed: createWeightCache(db, folder) };
}

function put(folder: string, files: Record<string, number>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), Buffer.alloc(bytes));
}

/** A moment on the clock of the files, which is coarse. */
const later = () => new Promise((done) => setTimeout(done, 50));

test('a model and its presets have one file, in a folder that only the user can open', () => {
  const { folder, packed } = setUp();
  expect(packed.fileOf(model)).toBe(join(folder, 'model.panels'));
  expect(packed.fileOf(preset)).toBe(join(folder, 'model.panels'));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('where no folder can be made there is no file, nothing to count and nothing to delete', async () => {
  const { folder, packed } = setUp();
  writeFileSync(folder, 'in its place');
  expect(packed.fileOf(model)).toBe(null);
  expect(await packed.size()).toEqual({ bytes: 0, models: 0 });
  expect(await packed.clear()).toEqual({ freed: 0 });
  await packed.forget(model.id);
  await packed.sweep();
  expect(existsSync(folder)).toBe(true);
});

test('what is whole counts, nothing else does; what is being written is deleted with it', async () => {
  const { folder, packed } = setUp();
  expect(await packed.size()).toEqual({ bytes: 0, models: 0 });
  put(folder, { 'model.panels': 300, 'other.panels': 20, 'third.panels.part': 1, 'notes.txt': 5000 });
  expect(await packed.size()).toEqual({ bytes: 320, models: 2 });
  expect(await packed.clear()).toEqual({ freed: 321 });
  expect(await packed.size()).toEqual({ bytes: 0, models: 0 });
  expect(readdirSync(folder)).toEqual(['notes.txt']);
});

test('a model that is gone takes its own file along, a preset none', async () => {
  const { folder, packed } = setUp();
  put(folder, { 'model.panels': 1, 'model.panels.part': 1, 'other.panels': 1 });
  await packed.forget(preset.id);
  expect(readdirSync(folder)).toHaveLength(3);
  await packed.forget(model.id);
  expect(readdirSync(folder)).toEqual(['other.panels']);
});

test('a start deletes what is of no model and what an ended app was writing, not what is written now', async () => {
  const { folder, db } = setUp();
  put(folder, { 'model.panels': 1, 'gone.panels': 1, 'old.panels.part': 1 });
  await later();
  const packed = createWeightCache(db, folder);
  await later();
  put(folder, { 'model.panels.part': 1 });
  await packed.sweep();
  expect(readdirSync(folder).sort()).toEqual(['model.panels', 'model.panels.part']);
});

/** The real engine; `asked` has the files that loads are asked to keep packed weights in. */
const listening =
  (asked: (string | null)[]): StartEngine =>
  async () => {
    const engine = await realEngine()();
    const send: typeof engine.pipe.send = (message) => {
      if ('ask' in message && message.ask === 'load') asked.push(message.input.packed);
      engine.pipe.send(message);
    };
    return { ...engine, pipe: { ...engine.pipe, send } };
  };

/** A core with a model of somebody else's files, and the file of its packed weights. */
async function withModel() {
  const mine = join(newFolder(), 'mine');
  cpSync(starter, mine, { recursive: true });
  const asked: (string | null)[] = [];
  const core = await startCore({ startEngine: listening(asked) });
  const { id } = await core.client.call('models.import', { path: mine });
  const folder = join(core.dataFolder, 'packed');
  return { ...core, id, folder, file: join(folder, `${id}.panels`), asked };
}

async function heard(client: Client, work: () => Promise<unknown>): Promise<EngineStatus['phase'][]> {
  const states: EngineStatus['phase'][] = [];
  const stop = client.on('engine.status', ({ phase }) => states.push(phase));
  await work();
  stop();
  return states;
}

test('switching it on or off counts from the next load, and reloads nothing', async () => {
  const { client, id, folder, file, asked } = await withModel();
  const load = (modelId: ModelId) => client.call('models.load', { modelId });
  await load(id);
  expect(asked.at(-1)).toBe(null);
  expect(existsSync(folder)).toBe(false);
  await client.call('settings.set', { cachePackedWeights: true });
  expect(await heard(client, () => load(id))).not.toContain('loading');
  expect(asked.at(-1)).toBe(file);
  await client.call('settings.set', { cachePackedWeights: false });
  expect(await heard(client, () => load(id))).not.toContain('loading');
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', modelId: id });
}, 60_000);

test('a quantised model is prepared once, then read from its copy, also while that is deleted', async () => {
  const core = await startCore({ startEngine: realEngine() });
  const { client } = core;
  const file = await realModel('smollm2');
  const { id } = await client.call('models.import', { path: file });
  const copy = join(core.dataFolder, 'packed', `${id}.panels`);
  const load = async () => {
    await client.call('models.unload');
    await client.call('models.load', { modelId: id });
  };
  const written = () => vi.waitFor(() => expect(existsSync(copy)).toBe(true), { timeout: 30_000 });
  await load();
  expect(existsSync(copy)).toBe(false);
  await client.call('settings.set', { cachePackedWeights: true });
  await load();
  await written();
  const { ino, size } = statSync(copy);
  expect(size).toBeGreaterThan(0.5 * statSync(file).size);
  expect(await client.call('weightCache.size')).toEqual({ bytes: size, models: 1 });
  await load();
  expect(statSync(copy).ino).toBe(ino);
  // Linux and macOS keep what is mapped.
  expect(await client.call('weightCache.clear')).toEqual({ freed: size });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', modelId: id });
  await load();
  await written();
  expect(statSync(copy).size).toBe(size);
}, 120_000);

test('the built-in model and its presets keep nothing', async () => {
  const { client, dataFolder } = await startCore();
  await client.call('settings.set', { cachePackedWeights: true });
  const brief = await client.call('models.duplicate', { modelId: 'starter' as ModelId, name: 'Brief' });
  await client.call('models.load', { modelId: brief.id });
  expect(existsSync(join(dataFolder, 'packed'))).toBe(false);
}, 60_000);

test('the file stays while a removal can be taken back, and goes when it is final', async () => {
  const { client, host, id, folder, file } = await withModel();
  put(folder, { [`${id}.panels`]: 7 });
  await client.call('models.remove', { modelId: id });
  expect(existsSync(file)).toBe(true);
  await client.call('models.restore', { modelId: id });
  const brief = await client.call('models.duplicate', { modelId: id, name: 'Brief' });
  await client.call('models.remove', { modelId: brief.id });
  expect(await client.call('weightCache.size')).toEqual({ bytes: 7, models: 1 });
  await client.call('models.remove', { modelId: id });
  await host.close();
  expect(existsSync(file)).toBe(false);
}, 60_000);

test('the size is told and all is deleted by a call; what was left over is gone after a start', async () => {
  const { host, id, folder, dataFolder } = await withModel();
  await host.close();
  put(folder, { [`${id}.panels`]: 7, 'gone.panels': 1, 'gone.panels.part': 1 });
  await later();
  const again = await startCore({ dataFolder });
  await vi.waitFor(() => expect(readdirSync(folder)).toEqual([`${id}.panels`]));
  expect(await again.client.call('weightCache.clear')).toEqual({ freed: 7 });
  expect(await again.client.call('weightCache.size')).toEqual({ bytes: 0, models: 0 });
}, 60_000);
