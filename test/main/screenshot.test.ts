import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { BrowserWindow } from 'electron';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeCopies } from '../../main/open-copy.ts';
import { takeScreenshot } from '../../main/screenshot.ts';
import * as electron from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

//  What is offered and what is kept; test/electron takes one of a real screen.

const { done, world } = electron;
const ours = { getMediaSourceId: () => 'window:7:1' } as unknown as BrowserWindow;
const x11 = { XDG_SESSION_TYPE: 'x11' };

beforeEach(() => {
  done.popped.length = 0;
  done.looked.length = 0;
  world.picked = null;
  const display = { workArea: { x: 0, y: 0, width: 1600, height: 1000 } };
  world.displays = [{ ...display, size: { width: 1600, height: 1000 }, scaleFactor: 2 } as typeof display];
  world.sources = [
    ['screen:0:0', 'Entire screen'],
    ['window:7:1', 'Longhand'],
    ['window:8:0', 'Profit & loss: 2026/11'],
    ['window:9:0', '../../../etc/passwd'],
  ];
});
afterEach(removeCopies);

test('all windows but the one that asks are offered, and the chosen one is kept in all of its points', async () => {
  world.picked = 'Profit && loss: 2026/11';
  const [path = ''] = await takeScreenshot(ours, x11);
  expect(done.popped).toEqual([['Entire screen', '-', 'Profit && loss: 2026/11', '../../../etc/passwd']]);
  expect(basename(path)).toBe('Profit loss 2026 11.png');
  expect(readFileSync(path, 'utf8')).toBe('3200x2000');
  await removeCopies();
  expect(existsSync(path)).toBe(false);
});

test('a name of a window leads to no other folder, and one without letters has one', async () => {
  world.picked = '../../../etc/passwd';
  const [path = ''] = await takeScreenshot(ours, x11);
  expect(path).toMatch(/longhand-opened-\d+-\w+\/[^/]+$/);
  expect(basename(path)).toBe('etc passwd.png');
  world.sources = [['window:8:0', '…']];
  world.picked = '…';
  expect(basename((await takeScreenshot(ours, x11))[0] ?? '')).toBe('Screenshot.png');
});

test('a menu that is closed without a choice, and a desktop without windows, give nothing', async () => {
  expect(await takeScreenshot(ours, x11)).toEqual([]);
  world.sources = [];
  expect(await takeScreenshot(ours, x11)).toEqual([]);
});

test.runIf(process.platform === 'linux')('on Wayland the desktop asks, once, and what it gives is taken', async () => {
  world.sources = [['window:1:0', 'Notes']];
  const [path = ''] = await takeScreenshot(ours, { XDG_SESSION_TYPE: 'wayland' });
  expect(basename(path)).toBe('Notes.png');
  expect(done.popped).toEqual([]);
  expect(done.looked).toHaveLength(1);
});

test('where macOS does not let it look, it says what helps', async () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
  world.screenAccess = 'denied';
  try {
    expect(await takeScreenshot(ours, {})).toEqual([]);
    expect(done.asked.at(-1)).toBe('Longhand may not see other windows');
    expect(done.looked).toEqual([]);
  } finally {
    Object.defineProperty(process, 'platform', platform);
    world.screenAccess = 'granted';
  }
});

test('several screens have numbers; a picture is as large as the largest of them; long names are cut', async () => {
  const display = { workArea: { x: 0, y: 0, width: 800, height: 600 } };
  const sized = (width: number, height: number, scaleFactor: number) =>
    ({ ...display, size: { width, height }, scaleFactor }) as typeof display;
  world.displays = [sized(1600, 900, 1), sized(700, 800, 1.5)];
  world.sources = [
    ['screen:0:0', 'one'],
    ['screen:1:0', 'two'],
  ];
  world.picked = 'Screen 2';
  const [path = ''] = await takeScreenshot(null, x11);
  expect(done.popped).toEqual([['Screen 1', 'Screen 2']]);
  expect([basename(path), readFileSync(path, 'utf8')]).toEqual(['two.png', '1600x1200']);
  world.sources = [
    ['window:1:0', 'a'.repeat(60)],
    ['window:2:0', 'b'.repeat(61)],
  ];
  world.picked = null;
  expect(await takeScreenshot(null, x11)).toEqual([]);
  expect(done.popped[1]).toEqual(['-', 'a'.repeat(60), `${'b'.repeat(59)}…`]);
});
