import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openDatabase } from '../../app/store/database/database.ts';
import { lockFolder } from '../../app/store/lock.ts';
import { errors } from '../../main/strings.ts';
import { folder, windowTest } from './fixture.ts';
import { answered, atChat, opened } from './page.ts';
import { waitFor } from './wait.ts';

//  Profiles that somebody else has or had, and more files at once than anybody looks at.

/** The real box would wait for its button. */
const SAYS = 'electron.dialog.showErrorBox = (title, text) => console.log(title, text)';
const failed = { code: 1, signal: null };

windowTest('a profile of a newer version is left as it is, and that is said', async ({ start }) => {
  const data = folder();
  const first = await start({ data });
  await atChat(first);
  await answered(first, 'Written by a newer version.');
  await first.quit();
  const file = join(data, 'longhand.db');
  const newer = openDatabase(file);
  newer.run('PRAGMA user_version = 9999');
  newer.close();
  const second = await start({ data, first: SAYS });
  expect(await second.ended).toEqual(failed);
  expect(second.output()).toContain(errors['database-newer'].what);
  const db = openDatabase(file);
  onTestFinished(() => db.close());
  expect(Number(db.get('PRAGMA user_version')?.user_version)).toBe(9999);
  expect(db.all("select text from messages where role = 'user'")).toEqual([{ text: 'Written by a newer version.' }]);
});

windowTest('a profile that another program of ours has is left to it, and that is said', async ({ start }) => {
  const data = folder();
  const held = lockFolder(data);
  onTestFinished(() => held.release());
  const shell = await start({ data, first: SAYS });
  expect(await shell.ended).toEqual(failed);
  expect(shell.output()).toContain(errors['data-folder-held'].what);
});

windowTest('a thousand files at once: all are taken, and the window goes on meanwhile', async ({ start }) => {
  const files = folder();
  mkdirSync(join(files, 'papers'));
  const paths = Array.from({ length: 1000 }, (_, at) => join(files, 'papers', `Paper ${at}.txt`));
  for (const path of paths) writeFileSync(path, `This is ${path}.`);
  const shell = await start();
  await atChat(shell);
  await shell.main(`electron.dialog.showOpenDialog = async () => ({ filePaths: ${JSON.stringify(paths)} })`);
  await shell.page(`location.hash = '#/documents'`);
  await shell.click('Add files');
  let slowest = 0;
  await waitFor('a thousand documents', async () => {
    const before = performance.now();
    const count = await shell.page<number>(`return Number(/1[,.]?000/.test(document.body.innerText))`);
    slowest = Math.max(slowest, performance.now() - before);
    return count === 1;
  });
  // A page that hangs is another thing than one that is busy, also on a loaded machine.
  expect(slowest).toBeLessThan(5000);
  await opened(shell);
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
  const db = openDatabase(join(shell.data, 'longhand.db'));
  onTestFinished(() => db.close());
  expect(db.get("select count(*) as count from documents where name like 'Paper %'")).toEqual({ count: 1000 });
});
