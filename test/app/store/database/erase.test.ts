// Erasing what was purged from the backups, on a disk that fails.
import { readFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { backUp, listBackups } from '../../../../app/store/database/backups.ts';
import { createEraser } from '../../../../app/store/database/erase.ts';
import { addExchange, open } from '../support.ts';

/** The disk says that it cannot keep what was written, as it does at fsync only. */
async function failingDisk(path: string) {
  const file = await openFile(path);
  const handle = Object.getPrototypeOf(file) as { sync(): Promise<void> };
  await file.close();
  const sync = vi.spyOn(handle, 'sync').mockRejectedValue(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }));
  onTestFinished(() => sync.mockRestore());
  return () => sync.mockRestore();
}

test('a backup is replaced by what is on the disk only; the next run erases', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'quxplum', 'yes');
  // Large enough that the copy takes its time.
  store.db.run(`INSERT INTO settings (key, value) SELECT 'x' || value, printf('%.*c', 1000000, 'x') FROM
    json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]')`);
  const path = await backUp(store, 'daily', Date.now());
  const before = readFileSync(path);
  store.db.run('DELETE FROM chats WHERE id = ?', chatId);
  const mend = await failingDisk(path);
  await expect(createEraser(store).run()).rejects.toThrow('EIO');
  expect(readFileSync(path).equals(before)).toBe(true);
  mend();
  await createEraser(store).run();
  expect(listBackups(store.folder)).toMatchObject([{ path }]);
  expect(readFileSync(path).includes('quxplum')).toBe(false);
});
