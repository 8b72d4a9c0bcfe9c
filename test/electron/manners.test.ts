import { expect } from 'vitest';
import { words } from '../../main/strings.ts';
import { windowTest } from './fixture.ts';
import { answered, ask, atChat, menu, opened, says } from './page.ts';
import type { Shell } from './shell.ts';
import { waitFor } from './wait.ts';

//  What a desktop app does beside its page: windows, keys of every program, the item beside the clock, paper, sleep.

const set = (shell: Shell, patch: object) =>
  shell.page(`window.longhand.send({ id: 90002, call: 'settings.set', input: ${JSON.stringify(patch)} })`);
const windows = (shell: Shell) => shell.main<number>('return electron.BrowserWindow.getAllWindows().length');
/** In the window that was opened last. */
const inNewest = <T = unknown>(shell: Shell, code: string) =>
  shell.main<T>(`const newest = electron.BrowserWindow.getAllWindows().sort((a, b) => b.id - a.id)[0];
    return newest.webContents.executeJavaScript(${JSON.stringify(`(async () => { ${code} })()`)}, true)`);

windowTest('two windows look at one core: what is asked in one is seen in the other', async ({ start }) => {
  const shell = await start();
  await atChat(shell);
  await shell.main('window.setBounds({ x: 40, y: 40, width: 900, height: 700 })');
  await menu(shell, words.menu['new-window']);
  await waitFor('a second window', async () => (await windows(shell)) === 2);
  await waitFor('its page', () => inNewest(shell, `return Boolean(document.querySelector('textarea'))`));
  const cores = Object.keys(await shell.children()).filter((name) => name === 'core');
  expect(cores).toHaveLength(1);
  await answered(shell, 'Name an animal.');
  await waitFor('the chat in the other window', () =>
    inNewest(shell, `return document.body.innerText.includes('Name an animal.')`),
  );
  const recent = () =>
    shell.main<string[]>(`return electron.Menu.getApplicationMenu().items.flatMap(({ submenu }) => submenu.items)
      .find(({ label }) => label === ${JSON.stringify(words.menu.recent)}).submenu.items.map(({ label }) => label)`);
  await waitFor('the chat among the recent ones', async () => (await recent()).length === 1);
  const places = await shell.main<number[]>(
    'return electron.BrowserWindow.getAllWindows().map((one) => one.getBounds().x)',
  );
  expect(places[0]).not.toBe(places[1]);
  await shell.main(`electron.BrowserWindow.getAllWindows().sort((a, b) => b.id - a.id)[0].close()`);
  await waitFor('one window', async () => (await windows(shell)) === 1);
  await answered(shell, 'And another one.');
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
});

windowTest(
  'the last chat comes back for whoever wants that, and an empty one for everybody else',
  async ({ start }) => {
    const shell = await start();
    await atChat(shell);
    await answered(shell, 'Which chat comes back?');
    await shell.main(`await window.loadURL('longhand://app/')`);
    await opened(shell);
    await waitFor('an empty chat', () => shell.page(`return !document.querySelector('article')`));
    await set(shell, { openTo: 'last' });
    await shell.main(`await window.loadURL('longhand://app/')`);
    await waitFor('the chat', () =>
      shell.page(
        `return [...document.querySelectorAll('article')].some(({ innerText }) => innerText.includes('Which chat comes back?'))`,
      ),
    );
    const paper = await shell.main<string>(`return (await window.webContents.printToPDF({})).toString('base64')`);
    const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs');
    const pdf = await getDocument({ data: new Uint8Array(Buffer.from(paper, 'base64')), verbosity: 0 }).promise;
    const { items } = await (await pdf.getPage(1)).getTextContent();
    const texts = items.map((item) => ('str' in item ? item.str : ''));
    expect(texts.join(' ')).toContain('Which chat comes back?');
    // The window around it is not on the paper, and is there again afterwards.
    expect(texts).not.toContain('New chat');
    expect(await shell.page(`return [document.querySelector('.printed'), document.documentElement.className]`)).toEqual(
      [null, ''],
    );
  },
);

windowTest(
  'keys of every program ask a quick question, also about what is selected there',
  async ({ start, desktop }) => {
    const shell = await start();
    await atChat(shell);
    await set(shell, { quickKeys: 'Mod+Alt+Q', selectionKeys: 'Mod+Alt+S' });
    await waitFor('the keys', () => shell.main(`return electron.globalShortcut.isRegistered('Control+Alt+S')`));
    expect(await shell.page(`return window.longhand.keysAreFree('Mod+Alt+Q')`)).toBe(false);
    expect(await shell.page(`return window.longhand.keysAreFree('Mod+Alt+W')`)).toBe(true);
    await desktop.lookAway();
    desktop.press('ctrl+alt+q');
    await waitFor('the small window', async () => (await windows(shell)) === 2);
    await waitFor('the caret in its message', () =>
      inNewest(shell, `return document.activeElement.tagName === 'TEXTAREA'`),
    );
    const small = await shell.main<Electron.Rectangle & { top: boolean }>(
      `const one = electron.BrowserWindow.getAllWindows().sort((a, b) => b.id - a.id)[0];
     return { ...one.getBounds(), top: one.isAlwaysOnTop() }`,
    );
    expect(small).toMatchObject({ width: 640, height: 520, top: true });
    await waitFor('the small window in front', () =>
      shell.main(`return Boolean(electron.BrowserWindow.getFocusedWindow())`),
    );
    desktop.press('ctrl+alt+q');
    await waitFor('its end', async () => (await windows(shell)) === 1);
    await shell.main(`electron.clipboard.writeText('What other programs\\nselected.', 'selection')`);
    desktop.press('ctrl+alt+s');
    await waitFor('the selection in a message', () =>
      inNewest(
        shell,
        `return document.querySelector('textarea').value === '> What other programs\\n> selected.\\n\\n'`,
      ),
    );
    expect(await shell.quit()).toEqual({ code: 0, signal: null });
  },
);

windowTest('with an item beside the clock the app goes on without a window', async ({ start, desktop }) => {
  const shell = await start();
  await atChat(shell);
  await set(shell, { inTray: true });
  const told = desktop.notifications();
  // What the setting does comes to the main process a moment later.
  await waitFor('an app that goes on', async () => {
    await shell.main(`if (window && !kept.closing) { kept.closing = setTimeout(() => window.close(), 500) }`);
    return (await windows(shell)) === 0;
  });
  await waitFor('a notification', () => desktop.notifications() > told);
  expect(Object.keys(await shell.children())).toContain('core');
  await shell.main(`electron.app.emit('activate')`);
  await opened(shell);
  expect(await says(shell, 'Start chatting')).toBe(false);
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
});

windowTest('the page grows by the keys of either plus, and stays so', async ({ start, desktop }) => {
  const shell = await start();
  await atChat(shell);
  const factor = () => shell.main<number>('return window.webContents.getZoomFactor()');
  await waitFor('the focus', async () => {
    await shell.main('window.focus(); window.webContents.focus()');
    return shell.main('return window.isFocused()');
  });
  let last = await factor();
  for (const keys of ['ctrl+equal', 'ctrl+KP_Add', 'ctrl+plus']) {
    desktop.press(keys);
    last = await waitFor(keys, async () => ((await factor()) > last ? factor() : null));
  }
  await shell.main(`await window.loadURL('longhand://app/')`);
  expect(await factor()).toBe(last);
  desktop.press('ctrl+0');
  await waitFor('the usual size', async () => (await factor()) === 1);
});

windowTest('an answer goes on where a machine that slept wakes up', async ({ start }) => {
  const shell = await start({ env: { LONGHAND_CPU_ISA: 'scalar' } });
  await atChat(shell);
  await ask(shell, 'Tell me a story about a river.');
  await waitFor('the first words', () => shell.page('return document.querySelectorAll("article").length > 1'));
  const { engine } = await shell.children();
  const asleep = shell.pids();
  for (const pid of asleep) process.kill(pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 2000));
  for (const pid of asleep) process.kill(pid, 'SIGCONT');
  await shell.main(`electron.powerMonitor.emit('resume')`);
  await waitFor('the whole answer', () => shell.page(`return /tok\\/s/.test(document.body.innerText)`));
  expect((await shell.children()).engine).toBe(engine);
});

windowTest(
  'the tree for screen readers is built where Chromium is told of one, and nowhere else',
  async ({ start }) => {
    const enabled = (shell: Shell) => shell.main<boolean>('return electron.app.accessibilitySupportEnabled');
    const without = await start();
    await opened(without);
    expect(await enabled(without)).toBe(false);
    await without.quit();
    const shell = await start({ flags: ['--force-renderer-accessibility'] });
    await opened(shell);
    await waitFor('the tree for screen readers', () => enabled(shell));
  },
);
