import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Engine } from '../../../app/engine/client/engine-client.ts';
import { memoryLimit } from '../../../app/models/hardware/hardware.ts';
import { createModelRegistry } from '../../../app/models/registry/model-registry.ts';
import { createProbe, disk } from '../../../app/models/storage/fs-probe.ts';
import {
  defaultSettings,
  LonghandError,
  type ModelId,
  ModelSettings,
  type Settings,
} from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../app/store/database/migrate.ts';
import { newFolder, places } from '../../support/core/core.ts';
import { shapeOf } from '../../support/fakes/models.ts';
import { anywhere, unpacked } from '../../support/models/many-models.ts';

//  The guard before every load, with memory of a known size.

const GB = 1e9;

function libraryWith(
  limitBytes: number,
  contextLength: number | null,
  loaded: string | null = null,
  kvType: Settings['kvType'] = 'f16',
) {
  const folder = newFolder();
  const db = openDatabase(join(folder, 'longhand.db'));
  migrate(db, readMigrations(places.migrations));
  onTestFinished(() => db.close());
  const metadata = {
    description: shapeOf('qwen3.5-4b', 2.7 * GB, 'Q4_K_M'),
    thinking: { able: true, byDefault: true },
  };
  const engine = { target: () => (loaded ? { modelId: loaded } : null) } as unknown as Engine;
  const library = createModelRegistry({
    db,
    engine,
    emit: () => {},
    settings: () => ({ ...defaultSettings, contextLength, kvType }),
    memoryLimit: () => limitBytes,
    location: anywhere,
    availability: { of: () => 'here', look: async () => {}, turns: () => 0 },
    weightCache: unpacked,
    promptDisk: () => null,
    disk,
    probe: createProbe(),
    addressInfo: () => null,
    builtIn: [],
    now: () => 1,
  });
  const id = 'model' as ModelId;
  library.put([
    {
      id,
      name: 'Qwen3.5 4B',
      path: folder,
      lastUsedAt: null,
      metadata,
      settings: ModelSettings.parse({}),
      presetOf: null,
      remote: null,
    },
  ]);
  return { target: () => library.target(id) };
}

const failureOf = (work: () => unknown): LonghandError => {
  try {
    work();
  } catch (error) {
    if (error instanceof LonghandError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

test('a load that cannot end well is not begun, and the longest context that fits is named', () => {
  const failure = failureOf(libraryWith(4 * GB, 131_072).target);
  expect(failure).toMatchObject({ code: 'out-of-memory', details: { limit: 4 * GB, contextLength: 131_072 } });
  const longest = failure.details?.longestContext as number;
  expect(longest).toBeGreaterThan(512);
  expect(failure.message).toContain(String(longest));
  expect(libraryWith(4 * GB, longest).target().target.contextLength).toBe(longest);
  expect(failureOf(libraryWith(4 * GB, longest + 1000).target).code).toBe('out-of-memory');
});

test('without a chosen context only a model that fits with none is refused', () => {
  expect(libraryWith(3.6 * GB, null).target().name).toBe('Qwen3.5 4B');
  expect(failureOf(libraryWith(2 * GB, null).target)).toMatchObject({
    code: 'out-of-memory',
    details: { longestContext: 0 },
  });
});

test('what is in memory already is not asked again', () => {
  expect(libraryWith(1, 131_072, 'model').target().name).toBe('Qwen3.5 4B');
});

test('the limit is what the container leaves, with its file cache counted as free', () => {
  const files: Record<string, string> = {
    '/proc/meminfo': 'MemTotal: 99 kB\nMemAvailable:   20000000 kB\n',
    '/proc/self/cgroup': '0::/box\n',
    '/sys/fs/cgroup/box/memory.max': '8000000000\n',
    '/sys/fs/cgroup/box/memory.current': '7000000000\n',
    '/sys/fs/cgroup/box/memory.stat': 'anon 1\ninactive_file 2000000000\nactive_file 500000000\n',
  };
  const read = (path: string) => files[path] ?? '';
  expect(memoryLimit(null, 0, read)).toBe(3_500_000_000);
  expect(memoryLimit(null, 1_000_000_000, read)).toBe(4_500_000_000);
  files['/sys/fs/cgroup/box/memory.max'] = 'max\n';
  expect(memoryLimit(null, 0, read)).toBe(20_480_000_000);
});

test('a GPU has its own limit', () => {
  const gpu = {
    id: 'metal',
    backEnd: 'metal',
    available: true,
    name: '',
    detail: '',
    memoryBytes: 13,
    unified: true,
  } as const;
  expect(memoryLimit(gpu, 5)).toBe(13);
  expect(memoryLimit({ ...gpu, memoryBytes: 0 }, 0), 'one that does not say what it has').toBeGreaterThan(0);
});

test('keys and values in 8 bits are what is loaded, and what the forecast counts', () => {
  const longest = (kvType: Settings['kvType']) =>
    failureOf(libraryWith(4 * GB, 131_072, null, kvType).target).details?.longestContext as number;
  expect(longest('q8')).toBeGreaterThan(1.7 * longest('f16'));
  expect(libraryWith(4 * GB, longest('q8'), null, 'q8').target().target.kvType).toBe('q8');
});
