// Backups beside a database that is sound.
import { expect, test } from 'vitest';
import { backUp } from '../../../../app/store/database/backups.ts';
import { addExchange, newFolder, open } from '../support.ts';

test('a database that is there is opened as it is, whatever backups lie beside it', async () => {
  const folder = newFolder();
  const first = await open(folder);
  addExchange(first, 'before the backup', 'yes');
  await backUp(first, 'daily', Date.now());
  addExchange(first, 'after the backup', 'yes');
  first.close();
  const { db, notices } = await open(folder);
  expect(notices).toEqual([]);
  expect(db.get('SELECT COUNT(*) AS count FROM messages')).toEqual({ count: 4 });
});
