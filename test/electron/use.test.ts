import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { words } from '../../main/strings.ts';
import { windowTest } from './fixture.ts';
import { answered, atChat, menu, opened, says } from './page.ts';
import { root } from './runtime.ts';
import { waitFor } from './wait.ts';

//  What a person does with the app on an ordinary day, in a real window with the real core, engine and built-in model.

windowTest('opens, answers with the built-in model, keeps the machine awake only meanwhile', async ({ start }) => {
  const shell = await start();
  await atChat(shell);
  // Every blocker that was ever asked for: [id, still on].
  await shell.main(`const { powerSaveBlocker } = electron; kept.awake = [];
    const start = powerSaveBlocker.start.bind(powerSaveBlocker);
    powerSaveBlocker.start = (kind) => { const id = start(kind); kept.awake.push([kind, id]); return id; };`);
  await answered(shell, 'Name an animal.');
  expect(await shell.page(`return [...document.querySelectorAll('article')].length`)).toBeGreaterThanOrEqual(2);
  const awake = await waitFor('the end of the blocker', () =>
    shell.main<[string, number][] | null>(
      'return kept.awake.some(([, id]) => electron.powerSaveBlocker.isStarted(id)) ? null : kept.awake',
    ),
  );
  expect(awake.map(([kind]) => kind)).toEqual(['prevent-app-suspension']);
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
});

windowTest('the menu bar and the keys reach the page', async ({ start, desktop }) => {
  const shell = await start();
  await atChat(shell);
  const dialog = () => shell.page<boolean>(`return Boolean(document.querySelector('[role=dialog]'))`);
  await waitFor('the focus', async () => {
    await shell.main('window.focus(); window.webContents.focus()');
    return shell.main('return window.isFocused()');
  });
  const labels = await shell.main<string[]>(
    'return electron.Menu.getApplicationMenu().items.map(({ label }) => label)',
  );
  expect(labels).toEqual(['File', 'Edit', 'View', 'Window', 'Help']);
  await menu(shell, words.menu.palette);
  await waitFor('the palette by the menu', dialog);
  desktop.press('Escape');
  await waitFor('the end of the palette', async () => !(await dialog()));
  desktop.press('ctrl+k');
  await waitFor('the palette by its key', dialog);
  desktop.press('Escape');
  await waitFor('the end of the palette', async () => !(await dialog()));
  await menu(shell, words.menu.settings);
  await waitFor('the settings', () => says(shell, 'Appearance'));
  desktop.press('ctrl+n');
  await waitFor('a new chat by its key', async () => !(await says(shell, 'Appearance')));
  expect(await shell.main('return window.isMenuBarVisible()')).toBe(false);
  desktop.press('alt');
  await waitFor('the menu bar by Alt', () => shell.main('return window.isMenuBarVisible()'));
  await menu(shell, words.menu.roles.quit);
  expect(await shell.ended).toEqual({ code: 0, signal: null });
});

windowTest(
  'a notification brings the window back when it is clicked, also long after it was shown',
  async ({ start, desktop }) => {
    const shell = await start({ flags: ['--js-flags=--expose-gc'] });
    await atChat(shell);
    await desktop.lookAway();
    await waitFor('somebody who looks away', () => shell.main('return !window.isFocused()'));
    await shell.page(`window.longhand.send({ id: 90001, call: 'downloads.start', input: {
    reference: ${JSON.stringify(join(root, 'resources', 'starter-model'))}, name: 'Otter' } })`);
    await waitFor('a notification', () => desktop.notifications() === 1);
    // What nobody holds is collected, and a click on it would be lost.
    await shell.main('for (let round = 0; round < 5; ++round) { global.gc(); await new Promise(setImmediate); }');
    expect(await shell.main('return window.isFocused()')).toBe(false);
    desktop.clickNotification();
    await waitFor('the window in front', () => shell.main('return window.isFocused()'));
  },
);

windowTest('a screenshot is of what is chosen: a file of its own, and none where nothing is', async ({ start }) => {
  const shell = await start();
  await opened(shell);
  const menu = (pick: string) =>
    shell.main(`electron.Menu.prototype.popup = function ({ callback }) {
      kept.offered = this.items.map(({ label }) => label); callback(); (${pick})?.click(); }`);
  await menu('this.items[0]');
  const [path = ''] = await shell.page<string[]>('return window.longhand.screenshot()');
  expect(await shell.main('return kept.offered')).toContain('Entire screen');
  expect(statSync(path).mode & 0o077).toBe(0);
  const png = readFileSync(path);
  // A PNG tells its width and height after sixteen bytes.
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1280, 900]);
  // The window is on it: one colour would take a few hundred bytes.
  expect(png.length).toBeGreaterThan(10_000);
  await menu('undefined');
  expect(await shell.page('return window.longhand.screenshot()')).toEqual([]);
});

windowTest("the system's own dialog is asked for files, and may be left without any", async ({ start, desktop }) => {
  const shell = await start();
  await opened(shell);
  const windows = desktop.titles().length;
  let answer: { files: unknown } | null = null;
  void shell.page(`return window.longhand.choose('documents')`).then((files) => {
    answer = { files };
  });
  await waitFor('the dialog', () => desktop.titles().length > windows);
  const left = await waitFor('the end of the dialog', () => {
    if (!answer) desktop.press('Escape');
    return answer;
  });
  expect(left.files).toEqual([]);
  const given = shell.main(`const real = electron.dialog.showOpenDialog; return new Promise((asked) => {
    electron.dialog.showOpenDialog = async (owner, options) => { asked([owner.id, options.properties]); electron.dialog.showOpenDialog = real; return { filePaths: ['/a', '/b'] }; };
  })`);
  expect(await shell.page(`return window.longhand.choose('documents')`)).toEqual(['/a', '/b']);
  expect(await given).toEqual([1, ['openFile', 'multiSelections']]);
});
