import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { folder, windowTest } from './fixture.ts';
import { opened } from './page.ts';
import { waitFor } from './wait.ts';

//  Where windows come back.

windowTest('the window comes back where it was left, also right after it was moved', async ({ start }) => {
  const data = folder();
  const first = await start({ data });
  await opened(first);
  await first.main('window.setBounds({ x: 90, y: 110, width: 900, height: 700 })');
  await waitFor('the new size', () => first.main('return window.getBounds().width === 900'));
  await first.quit();
  const { bounds, maximized } = saved(data);
  expect([bounds.width, bounds.height, maximized]).toEqual([900, 700, false]);
  // The window manager adds its frame when it gets to it.
  expect(Math.abs(bounds.x - 90)).toBeLessThan(40);
  expect(Math.abs(bounds.y - 110)).toBeLessThan(40);

  const second = await start({ data });
  await opened(second);
  const found = await second.main<Electron.Rectangle>('return window.getBounds()');
  expect([found.width, found.height]).toEqual([900, 700]);
  await second.main('window.maximize()');
  await waitFor('a maximized window', () => second.main('return window.isMaximized()'));
  await second.quit();
  expect(saved(data).maximized).toBe(true);

  const seen = `electron.app.on('browser-window-created', (_, window) => {
    window.once('ready-to-show', () => { kept.drawn = true; });
    window.once('show', () => { kept.shownEmpty = !kept.drawn; });
  })`;
  const third = await start({ data, first: seen });
  await opened(third);
  await waitFor('a maximized window', () => third.main('return window.isMaximized()'));
  // Maximizing shows a window, so it has to wait for the page.
  expect(await third.main('return kept.shownEmpty')).toBe(false);
  await third.main('window.unmaximize()');
  await waitFor('the size before', () =>
    third.main('return !window.isMaximized() && window.getBounds().width === 900'),
  );
  await third.main('window.setFullScreen(true)');
  await waitFor('a full screen', () => third.main('return window.isFullScreen() && window.getBounds().width === 1280'));
  await third.quit();
  const fourth = await start({ data });
  await opened(fourth);
  await waitFor('a full screen again', () => fourth.main('return window.isFullScreen()'));
  await fourth.main('window.setFullScreen(false)');
  await waitFor('the size before', () => fourth.main('return window.getBounds().width === 900'));
});

const saved = (data: string) => JSON.parse(readFileSync(join(data, 'shell', 'window.json'), 'utf8'))[0];

const left = (bounds: object) =>
  JSON.stringify([{ displays: 'elsewhere', bounds, maximized: false, fullScreen: false }]);
const DAMAGED = {
  'on a display that is gone': left({ x: 9000, y: 9000, width: 900, height: 700 }),
  'of no size': left({ x: 100, y: 100, width: 0, height: -5 }),
  'in parts of a pixel': left({ x: 10.5, y: 20.5, width: 900.5, height: 700.5 }),
  'beyond every number': left({ x: 1e300, y: -1e300, width: 1e300, height: 1e300 }),
  'cut in the middle': left({ x: 1, y: 2, width: 900, height: 700 }).slice(0, 60),
};
for (const [what, text] of Object.entries(DAMAGED)) {
  windowTest(`a window state ${what} still opens a window that can be seen`, async ({ start }) => {
    const data = folder();
    mkdirSync(join(data, 'shell'));
    writeFileSync(join(data, 'shell', 'window.json'), text);
    const shell = await start({ data });
    await opened(shell);
    const { x, y, width, height } = await shell.main<Electron.Rectangle>('return window.getBounds()');
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(480);
    expect(x < 1280 - 120 && y < 900 - 40).toBe(true);
  });
}
