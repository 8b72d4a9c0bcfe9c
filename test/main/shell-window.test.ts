import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { MenuCommand, menuKeys } from '../../app/protocol/index.ts';
import { words } from '../../main/strings.ts';
import { next, places } from '../support/core/core.ts';
import { api, client, collectGarbage, startShell, until, window } from '../support/core/shell.ts';
import * as electron from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

const { app, done, world, BrowserWindow } = electron;

startShell();

test('a model that was fetched is told through the desktop to somebody who looks elsewhere', async () => {
  const copy = async (name: string) => {
    const finished = next(client, 'download.finished');
    await client.call('downloads.start', { reference: join(places.resources, 'starter-model'), name });
    await finished;
  };
  await copy('Otter');
  await until(() => done.notified.length > 0);
  expect(done.notified).toEqual(['Otter is ready to use']);
  world.looking = true;
  await client.call('models.remove', {
    modelId: (await client.call('models.list')).find(({ name }) => name === 'Otter')?.id as never,
  });
  await copy('Heron');
  expect(done.notified).toHaveLength(1);
  // A minimised window can still have the focus.
  window().minimized = true;
  await copy('Ibis');
  await until(() => done.notified.length > 1);
  window().minimized = false;
});

test('what keeps a download from going on is told in a sentence, and only to somebody who looks elsewhere', async () => {
  const { notify } = await import('../../main/notifications.ts');
  done.notified.length = 0;
  for (const at of ['failed', 'waitingForSpace', 'changed'] as const) {
    notify({ name: 'Otter', kind: at }, { looking: true, show: () => {} });
    notify({ name: 'Otter', kind: at }, { looking: false, show: () => {} });
  }
  expect(done.notified).toEqual([
    'Otter could not be downloaded. You can resume the download at any time.',
    'Otter is waiting for disk space',
    'Otter has changed on its server. Keep the old version or get the new one?',
  ]);
});

test('a notification is held until it is clicked, so that its click is not lost', async () => {
  const { notify } = await import('../../main/notifications.ts');
  const show = vi.fn();
  done.notifications.length = 0;
  notify({ name: 'Otter', kind: 'arrived' }, { looking: false, show });
  const held = new WeakRef(done.notifications.pop() as electron.Notification);
  await collectGarbage();
  held.deref()?.emit('click');
  expect(show).toHaveBeenCalledOnce();
  await collectGarbage();
  expect(held.deref()).toBeUndefined();
});

test('menu commands reach the page; a second start shows the first window', async () => {
  const heard: string[] = [];
  api.onMenu((command) => heard.push(command));
  const clicks = JSON.stringify(done.menu[0]);
  expect(clicks).toContain('New Chat');
  const items = (done.menu[0] as { submenu?: { label?: string; click?: () => void }[] }[]).flatMap(
    (one) => one.submenu ?? [],
  );
  const commands = MenuCommand.options.map((name) => words.menu[name]);
  for (const item of items) if (commands.includes(item.label as never)) item.click?.();
  for (const name of MenuCommand.options)
    expect(items).toContainEqual(
      expect.objectContaining({ label: words.menu[name], accelerator: menuKeys[name].replace('Mod', 'CmdOrCtrl') }),
    );
  expect(heard.sort()).toEqual([...MenuCommand.options].sort());
  app.emit('second-instance', {}, ['electron', '.'], '/');
  expect(window().focus).toHaveBeenCalled();
  expect(BrowserWindow.all).toHaveLength(1);
});

test('model files that the desktop opens reach the page, each once, and nothing else does', async () => {
  const told = vi.fn();
  const preventDefault = vi.fn();
  api.onOpened(told);
  for (const path of ['/models/a.gguf', '/etc/passwd']) app.emit('open-file', { preventDefault }, path);
  app.emit('second-instance', {}, ['electron', '.', 'b.GGUF', 'c.txt', '--data', 'd.gguf'], '/models');
  expect(preventDefault).toHaveBeenCalledTimes(2);
  expect(told).toHaveBeenCalledTimes(2);
  expect(await api.takeOpened()).toEqual(['/models/a.gguf', '/models/b.GGUF']);
  expect(await api.takeOpened()).toEqual([]);
});

test('a page that crashes is loaded again, three times in a minute; then the user is asked', async () => {
  const { reload } = window().webContents;
  /** Nothing is loaded while Electron is still telling of the crash. */
  const crash = async () => {
    const before = reload.mock.calls.length;
    window().webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(reload).toHaveBeenCalledTimes(before);
    await new Promise((resolve) => setImmediate(resolve));
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    reload.mockClear();
    world.pressed = 0;
    for (let times = 0; times < 3; times++) await crash();
    expect(reload).toHaveBeenCalledTimes(3);
    const crashes = () => done.asked.filter((question) => question === words.crashed.title);
    expect(crashes()).toEqual([]);
    window().visible = false;
    await crash();
    expect(crashes()).toHaveLength(1);
    // It is asked on a window that is seen, also when the page never got as far as its first picture.
    expect(window().visible).toBe(true);
    expect(reload).toHaveBeenCalledTimes(4);
    // A page that held for a minute may crash three times again.
    vi.setSystemTime(Date.now() + 61_000);
    for (let times = 0; times < 3; times++) await crash();
    expect(reload).toHaveBeenCalledTimes(7);
    expect(crashes()).toHaveLength(1);
    // One that ended by itself is not loaded again.
    vi.setSystemTime(Date.now() + 61_000);
    window().webContents.emit('render-process-gone', {}, { reason: 'clean-exit' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(reload).toHaveBeenCalledTimes(7);
    expect(crashes()).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test('a native dialog says what is chosen in it', async () => {
  world.chosen = [];
  await api.choose('model-folder');
  expect(done.choosing.at(-1)).toMatchObject({ title: words.choose['model-folder'], properties: ['openDirectory'] });
  await api.choose('model-file');
  expect(done.choosing.at(-1)).toMatchObject({ filters: [{ name: words.modelFiles, extensions: ['gguf'] }] });
});

test('a second start brings back a window whose page is dead', () => {
  const { webContents } = window();
  webContents.reload.mockClear();
  webContents.crashed = true;
  app.emit('second-instance', {}, ['electron', '.'], '/');
  webContents.crashed = false;
  app.emit('second-instance', {}, ['electron', '.'], '/');
  expect(webContents.reload).toHaveBeenCalledOnce();
});

test('a window that was maximized is shown when its page has something to show, not before', async () => {
  const { createWindow } = await import('../../main/windows/window.ts');
  writeFileSync(
    join(world.userData, 'window.json'),
    JSON.stringify([
      { displays: '', bounds: { x: 10, y: 20, width: 900, height: 700 }, maximized: true, fullScreen: false },
    ]),
  );
  world.draws = false;
  const other = createWindow(
    { preload: '' },
    { view: '', beside: null, holds: () => false },
  ) as unknown as InstanceType<typeof BrowserWindow>;
  world.draws = true;
  expect([other.visible, other.maximize.mock.calls.length]).toEqual([false, 0]);
  other.emit('ready-to-show');
  expect([other.visible, other.maximize.mock.calls.length]).toEqual([true, 1]);
  other.emit('closed');
  BrowserWindow.all.splice(BrowserWindow.all.indexOf(other), 1);
});

test('where the window was is kept', async () => {
  window().emit('close');
  expect(JSON.parse(readFileSync(join(world.userData, 'window.json'), 'utf8'))[0]).toMatchObject({
    bounds: { x: 10, y: 20, width: 900, height: 700 },
  });
});
