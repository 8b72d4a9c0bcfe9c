import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMigrations } from '../../app/store/database/migrate.ts';

//  Two changes that were made side by side have taken the same number, and then nothing starts.

test('migrations are numbered without a gap, and none twice', () => {
  const migrations = readMigrations(join(import.meta.dirname, '../../app/store/database/migrations'));
  expect(migrations.length).toBeGreaterThan(20);
});
