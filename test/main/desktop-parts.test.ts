import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { sayThatItGoesOn } from '../../main/background.ts';
import { notify } from '../../main/notifications.ts';
import { openKeychain } from '../../main/secret-storage.ts';
import { keepAwake } from '../../main/sleep-blocker.ts';
import { fill, words } from '../../main/strings.ts';
import { createTray } from '../../main/tray.ts';
import { createWindows } from '../../main/windows/windows.ts';
import * as electron from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

const { done, world, BrowserWindow } = electron;

beforeEach(() => {
  for (const list of [done.awake, done.notified, done.notifications, done.progress, done.trays, BrowserWindow.all])
    list.length = 0;
  world.looking = false;
  const folder = mkdtempSync(join(tmpdir(), 'longhand-desktop-'));
  world.userData = folder;
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

test('the machine stays awake from the first work to the end of the last', () => {
  const awake = keepAwake();
  awake('answer', false);
  awake('answer', true);
  awake('coming', true);
  awake('answer', false);
  expect(done.awake).toEqual(['start']);
  awake('coming', false);
  awake('coming', false);
  expect(done.awake).toEqual(['start', 'stop']);
  awake('answer', true);
  expect(done.awake).toEqual(['start', 'stop', 'start']);
});

test('a download is told of where no window is looked at, and a click shows one', () => {
  const show = vi.fn();
  notify({ name: 'Qwen', kind: 'arrived' } as never, { looking: true, show });
  expect(done.notified).toEqual([]);
  notify({ name: 'Qwen', kind: 'arrived' } as never, { looking: false, show });
  expect(done.notified).toEqual([fill(words.download.arrived, { name: 'Qwen' })]);
  expect(done.notified[0]).toContain('Qwen');
  done.notifications[0]?.emit('click');
  expect(show).toHaveBeenCalledOnce();
});

test('a word in braces that nobody knows stays as it is', () => {
  expect(fill('{{name}} of {{other}}, {{name}}', { name: 'Ada' })).toBe('Ada of {{other}}, Ada');
});

test('that the app goes on without a window is said once for all', () => {
  sayThatItGoesOn();
  sayThatItGoesOn();
  expect(done.notified).toHaveLength(1);
  expect(readdirSync(world.userData)).toEqual(['goes-on-was-said']);
});

test('what is sealed can be opened again; a key that everybody knows is none', async () => {
  const keychain = await openKeychain('darwin');
  const sealed = (await keychain?.seal('secret')) ?? '';
  expect(Buffer.from(sealed, 'base64').toString()).toBe('terces');
  expect(await keychain?.open(sealed)).toBe('secret');
  const backend = vi.spyOn(electron.safeStorage, 'getSelectedStorageBackend').mockReturnValue('basic_text');
  onTestFinished(() => void backend.mockRestore());
  expect(await openKeychain('linux')).toBeNull();
  expect(await openKeychain('win32')).not.toBeNull();
});

test('there is one tray icon as long as it is wanted, and what its menu says happens', () => {
  const [ask, show, quit] = [vi.fn(), vi.fn(), vi.fn()];
  const tray = createTray('/resources', { ask, show, quit });
  tray(false);
  tray(true);
  tray(true);
  expect(done.trays).toHaveLength(1);
  const [icon] = done.trays;
  expect(icon?.setToolTip).toHaveBeenCalledWith('Longhand');
  expect(icon?.menu.map(({ label }) => label)).toEqual([
    words.tray.ask,
    words.tray.show,
    undefined,
    words.menu.roles.quit,
  ]);
  for (const item of icon?.menu ?? []) item.click?.();
  expect([ask, show, quit].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  tray(false);
  expect(done.trays).toEqual([]);
});

test('the window used last is the one that is shown, told and asked; each has the progress', () => {
  const onLast = vi.fn();
  const windows = createWindows({ preload: '/preload.js' }, { holds: () => false, onLast });
  windows.show('#/models');
  windows.progress(0.5);
  windows.open();
  expect(done.progress).toEqual([0.5, 0.5]);
  const [first, second] = [...BrowserWindow.all];
  expect(first?.loaded).toBe('longhand://app/#/models');
  expect(second?.options).toMatchObject({ x: 38, y: 48, width: 900, height: 700 });
  const heard: unknown[] = [];
  for (const [at, window] of [first, second].entries())
    for (const channel of ['view', 'opened'])
      window?.webContents.page.on(channel, (_, ...given) => heard.push([at, channel, ...given]));
  windows.tell('opened');
  first?.emit('focus');
  windows.tell('opened', 7);
  if (first) first.minimized = true;
  if (first) first.webContents.crashed = true;
  windows.show('#/chat');
  windows.show();
  expect(heard).toEqual([
    [1, 'opened'],
    [0, 'opened', 7],
    [0, 'view', '#/chat'],
  ]);
  expect([first?.restore, first?.focus, first?.webContents.reload].map((one) => one?.mock.calls.length)).toEqual([
    2, 2, 2,
  ]);
  expect(second?.restore).not.toHaveBeenCalled();
  world.looking = true;
  expect(windows.isLookedAt(), 'the second').toBe(true);
  second?.close();
  expect(windows.isLookedAt(), 'only a minimised one').toBe(false);
  expect(onLast).not.toHaveBeenCalled();
  windows.progress(null);
  expect(done.progress.slice(2)).toEqual([-1]);
  first?.close();
  expect(onLast).toHaveBeenCalledOnce();
  expect(windows.front()).toBeNull();
});
