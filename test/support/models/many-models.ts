// A library of many models, all different, and what listing them needs.
import { join } from 'node:path';
import type { Engine } from '../../../app/engine/client/engine-client.ts';
import { createModelRegistry, type ModelRegistry } from '../../../app/models/registry/model-registry.ts';
import type { Availability } from '../../../app/models/storage/availability.ts';
import { createProbe, disk } from '../../../app/models/storage/fs-probe.ts';
import { defaultSettings, type ModelId, ModelSettings, STARTER } from '../../../app/protocol/index.ts';
import { type Database, openDatabase } from '../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../app/store/database/migrate.ts';
import { addModel, setModelUsed } from '../../../app/store/models/models.ts';
import { shapeOf } from '../fakes/models.ts';

const migrations = join(import.meta.dirname, '../../../app/store/database/migrations');
const shapes = ['qwen3.5-4b', 'qwen3.5-9b', 'qwen3.5-27b', 'lfm2-1.2b', 'minicpm-sala-9b'];

/** External files at no particular place. */
export const anywhere = { links: () => '', owns: () => false, there: () => true, look: async () => true };

/** Packed weights are not kept. */
export const unpacked = { fileOf: () => null };

/** Writes `folder`/longhand.db with this many models, whose files are `at(number)`; every third has been used. */
export function fillLibrary(folder: string, count: number, at: (file: number) => string): void {
  const db = openDatabase(join(folder, 'longhand.db'));
  migrate(db, readMigrations(migrations));
  db.transaction(() => {
    for (let file = 0; file < count; file++) {
      const description = shapeOf(shapes[file % shapes.length] as string, 2.7e9 + file, 'Q4_K_M');
      const metadata = { description, thinking: { able: true, byDefault: file % 2 === 0 } };
      const id = `model-${file}` as ModelId;
      const settings = ModelSettings.parse({ sampling: { temperature: 0.7 } });
      addModel(db, { id, name: `Model ${file}`, path: at(file), metadata, ...(file % 5 === 0 && { settings }) }, file);
      if (file % 3 === 0) setModelUsed(db, id, (file * 7919) % count);
    }
  });
  db.close();
}

export const aLibrary = (db: Database, availability: Availability): ModelRegistry =>
  createModelRegistry({
    db,
    engine: { target: () => null } as unknown as Engine,
    emit: () => {},
    settings: () => defaultSettings,
    memoryLimit: () => 1e12,
    location: anywhere,
    availability,
    weightCache: unpacked,
    promptDisk: () => null,
    disk,
    probe: createProbe(),
    addressInfo: () => null,
    builtIn: [{ id: STARTER, name: 'Starter', path: '/nowhere' }],
    now: () => 1,
  });
