import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Download, STARTER } from '../../app/protocol/index.ts';
import { progressOf } from '../../main/processes/core-news.ts';
import { words } from '../../main/strings.ts';
import { api, client, folder, startShell, until } from '../support/core/shell.ts';
import * as electron from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

//  What the desktop shows beside the page: recent chats, tray, keys of every program, progress, more windows.

const { app, done, world, BrowserWindow } = electron;

startShell();

type Item = { label?: string; enabled?: boolean; click?: () => void; submenu?: Item[] };
const item = (label: string): Item | undefined =>
  (done.menu.at(-1) as Item[]).flatMap(({ submenu = [] }) => submenu).find((one) => one.label === label);
const newest = () => BrowserWindow.all.at(-1) as InstanceType<typeof BrowserWindow>;

test('recent chats are in the menu, by their titles, and lead to their chat', async () => {
  expect(item(words.menu.recent)).toMatchObject({ enabled: false, submenu: [] });
  const titles = ['First', 'Salt & pepper', `Long ${'x'.repeat(100)}`];
  const chats = [];
  for (const title of titles) {
    const { id } = await client.call('chats.create', {});
    chats.push(await client.call('chats.update', { chatId: id, title }));
  }
  await client.call('chats.create', {});
  await until(() => item(words.menu.recent)?.submenu?.length === 3);
  const recent = item(words.menu.recent);
  expect(recent?.enabled).toBe(true);
  const labels = recent?.submenu?.map(({ label }) => label) ?? [];
  expect(labels).toContain('First');
  // A single & would be taken away, and underline the letter behind it.
  expect(labels).toContain(process.platform === 'darwin' ? 'Salt & pepper' : 'Salt && pepper');
  expect(labels.find((label) => label?.startsWith('Long'))).toHaveLength(60);
  const views: string[] = [];
  api.onView((view) => views.push(view));
  recent?.submenu?.find(({ label }) => label === 'First')?.click?.();
  expect(views).toEqual([`#/chat/${chats[0]?.id}`]);
  for (const { id } of chats) await client.call('chats.delete', { chatId: id });
  await until(() => item(words.menu.recent)?.submenu?.length === 0);
});

test('another window lies beside the first, is no second core, and closes alone', async () => {
  item(words.menu['new-window'])?.click?.();
  expect(BrowserWindow.all).toHaveLength(2);
  const second = newest();
  expect(second.loaded).toBe('longhand://app/#/chat');
  expect(second.options).toMatchObject({ x: 38, y: 48, width: 900, height: 700 });
  const closing = { preventDefault: vi.fn() };
  second.emit('close', closing);
  expect(closing.preventDefault).not.toHaveBeenCalled();
  second.close();
  expect(done.exits).toEqual([]);
  expect(BrowserWindow.all).toHaveLength(1);
});

test('keys of every program open a small window with an empty chat, and close it again', async () => {
  await client.call('settings.set', { quickKeys: 'Alt+ ', selectionKeys: 'Mod+Shift+ArrowUp' });
  await until(() => done.keys.size === 2);
  expect([...done.keys.keys()]).toEqual(['Alt+Space', 'CommandOrControl+Shift+Up']);
  done.keys.get('Alt+Space')?.();
  const quick = newest();
  expect(quick.loaded).toBe('longhand://app/#/chat');
  expect(quick.setAlwaysOnTop).toHaveBeenCalled();
  expect(BrowserWindow.all).toHaveLength(2);
  world.looking = true;
  done.keys.get('Alt+Space')?.();
  world.looking = false;
  expect(BrowserWindow.all).toHaveLength(1);

  world.selected = 'A sentence of another program.';
  done.keys.get('CommandOrControl+Shift+Up')?.();
  await until(() => BrowserWindow.all.length === 2);
  const asked = newest();
  // Only the window that was opened for it is told, once.
  expect(await api.takeAsked()).toBe(null);
  const take = electron.ipcMain.handlers.get('take-asked');
  const event = { sender: asked.webContents, senderFrame: asked.webContents.mainFrame };
  expect(await take?.(event, undefined)).toBe('A sentence of another program.');
  expect(await take?.(event, undefined)).toBe(null);
  asked.close();
});

test('the small window opens also where nobody says where the pointer is, as on Wayland', () => {
  world.pointer = null;
  done.keys.get('Alt+Space')?.();
  expect(newest().options).toMatchObject({ x: 480, y: 120, width: 640, height: 520 });
  newest().close();
  world.pointer = { x: 5, y: 5 };
});

test('keys that are taken, unknown to Electron, or of one letter are not to be had', async () => {
  world.takenKeys = ['CommandOrControl+G'];
  expect(await api.keysAreFree('Mod+G')).toBe(false);
  expect(await api.keysAreFree('Mod+Sign')).toBe(false);
  // Ours already.
  expect(await api.keysAreFree('Alt+ ')).toBe(false);
  expect(await api.keysAreFree('Mod+Shift+J')).toBe(true);
  expect(await api.keysAreFree('F8')).toBe(true);
  expect(done.keys.size).toBe(2);
  for (const keys of ['A', 'Shift+A', '', 'Mod+', 'Mod+A B', 'x'.repeat(80)]) {
    await expect(api.keysAreFree(keys), keys).rejects.toThrow();
    await expect(client.call('settings.set', { quickKeys: keys }), keys).rejects.toThrow();
  }
  await client.call('settings.set', { quickKeys: null, selectionKeys: null });
  await until(() => done.keys.size === 0);
});

test('an item beside the clock, for whoever wants it; the app then goes on without a window, and says so once', async () => {
  expect(done.trays).toEqual([]);
  await client.call('settings.set', { inTray: true });
  await until(() => done.trays.length === 1);
  expect(existsSync(done.trays[0]?.image.path ?? '')).toBe(true);
  const entries = done.trays[0]?.menu ?? [];
  expect(entries.map(({ label }) => label)).toEqual([
    words.tray.ask,
    words.tray.show,
    undefined,
    words.menu.roles.quit,
  ]);
  entries[0]?.click?.();
  expect(BrowserWindow.all).toHaveLength(2);
  newest().close();
  const first = BrowserWindow.all[0];
  done.notified.length = 0;
  item(words.menu['new-window'])?.click?.();
  newest().close();
  expect(done.notified).toEqual([]);
  const closed = BrowserWindow.all.splice(0);
  first?.emit('closed');
  expect(done.exits).toEqual([]);
  const { mac, tray } = words.goesOn;
  expect(done.notified).toEqual([process.platform === 'darwin' ? mac : tray]);
  entries[1]?.click?.();
  expect(BrowserWindow.all).toHaveLength(1);
  newest().close();
  expect(done.notified).toHaveLength(1);
  app.emit('activate');
  expect(BrowserWindow.all).toHaveLength(1);
  BrowserWindow.all.unshift(...closed);
  await client.call('settings.set', { inTray: false });
  await until(() => done.trays.length === 0);
});

test('documents that come in are seen on the icon and keep the machine awake, until they are there', async () => {
  done.progress.length = 0;
  done.awake.length = 0;
  const collection = await client.call('documents.createCollection', { name: 'Papers' });
  // Long enough to be seen coming: what is there at once shows nothing.
  const files = Array.from({ length: 6 }, (_, at) => ({ path: join(folder, `${at}.txt`), name: `${at}.txt` }));
  for (const { path, name } of files)
    writeFileSync(path, Array.from({ length: 1500 }, (_, line) => `Line ${line} of ${name}.`).join('\n\n'));
  await client.call('documents.add', { collectionId: collection.id, files });
  await until(() => done.progress.length > 0 && done.progress.at(-1) === -1);
  const shares = done.progress.filter((share) => share >= 0);
  expect(shares.length).toBeGreaterThan(0);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(done.awake).toEqual(['start', 'stop']);
});

test('the share of downloads is that of their bytes; those that wait for somebody have none', () => {
  const download = (done: number, total: number, phase: string) => ({ done, total, status: { phase } }) as Download;
  expect(progressOf([], new Map(), null)).toBe(null);
  expect(progressOf([download(10, 100, 'paused'), download(1, 2, 'failed')], new Map(), null)).toBe(null);
  expect(progressOf([download(10, 100, 'running'), download(90, 300, 'checking')], new Map(), null)).toBe(0.25);
  expect(progressOf([download(200, 100, 'running')], new Map(), null)).toBe(1);
  expect(progressOf([], new Map(Object.entries({ a: true, b: false, c: false })), null)).toBe(0.33);
  const shrinking = { status: 'running', modelId: STARTER, name: 'a', secondsLeft: null } as const;
  expect(progressOf([], new Map(), { ...shrinking, phase: 'writing', share: 0.5 })).toBe(0.55);
  expect(progressOf([download(1, 2, 'running')], new Map(), { ...shrinking, phase: 'checking', share: 1 })).toBe(1);
  expect(
    progressOf([], new Map(), { status: 'done', modelId: STARTER, name: 'a', madeId: STARTER, quality: null }),
  ).toBe(null);
});

test('what is being made is seen on the icon, keeps the machine awake, and quitting asks before it ends it', async () => {
  done.progress.length = 0;
  done.awake.length = 0;
  const form = { format: 'mlx', bits: 8, group: 64 } as const;
  await client.call('models.shrink', { modelId: STARTER, form, method: 'hqq', again: false });
  await until(() => done.progress.some((share) => share > 0));
  world.pressed = 1;
  electron.app.quit();
  await until(() => done.asked.at(-1) === words.quittingMaking.title);
  expect(done.exits).toEqual([]);
  expect(await client.call('models.shrinking')).toMatchObject({ status: 'running' });
  await client.call('models.cancelShrink');
  await until(() => done.awake.length === 2);
  expect(done.awake).toEqual(['start', 'stop']);
});
