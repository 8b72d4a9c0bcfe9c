// A database that was closed.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder, open } from '../support.ts';

test('what is asked of a closed database is refused, and makes no new file where the folder was emptied', async () => {
  const folder = newFolder();
  const { db, close } = await open(folder);
  const reading = db.allOnThread('SELECT 1 AS one');
  close();
  await expect(reading).rejects.toThrow('closed');
  const path = join(folder, 'longhand.db');
  rmSync(path);
  await expect(db.allOnThread('SELECT 1 AS one')).rejects.toThrow('closed');
  expect(existsSync(path)).toBe(false);
});
