import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { besides, readWindowState, writeWindowState } from '../../../main/windows/window-state.ts';

const display = { workArea: { x: 0, y: 0, width: 1600, height: 1000 } };
const second = { workArea: { x: 1600, y: 0, width: 1600, height: 1000 } };

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-window-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'window.json');
}

test('the window comes back where it was', () => {
  const file = newFile();
  const state = { bounds: { x: 40, y: 60, width: 900, height: 700 }, maximized: true, fullScreen: false };
  writeWindowState(file, state, [display]);
  expect(readWindowState(file, [display])).toEqual(state);
});

test('on a display that is gone it would be out of reach: it keeps its size, in the middle of the one that is there', () => {
  const file = newFile();
  const left = { bounds: { x: 1900, y: 60, width: 900, height: 1200 }, maximized: false, fullScreen: true };
  writeWindowState(file, left, [display, second]);
  expect(readWindowState(file, [display])).toEqual({ ...left, bounds: { x: 350, y: 0, width: 900, height: 1000 } });
  expect(readWindowState(file, [])).toBeNull();
});

test('each arrangement of displays has its own place, in whatever order the system names them', () => {
  const file = newFile();
  const both = { bounds: { x: 1900, y: 60, width: 900, height: 700 }, maximized: true, fullScreen: false };
  const one = { bounds: { x: 30, y: 40, width: 800, height: 600 }, maximized: false, fullScreen: false };
  writeWindowState(file, both, [display, second]);
  writeWindowState(file, one, [display]);
  expect(readWindowState(file, [second, display])).toEqual(both);
  expect(readWindowState(file, [display])).toEqual(one);
});

test('only so many arrangements are remembered, the last ones', () => {
  const file = newFile();
  const state = (x: number) => ({ bounds: { x, y: 0, width: 800, height: 600 }, maximized: false, fullScreen: false });
  const area = (width: number) => [{ workArea: { x: 0, y: 0, width, height: 1000 } }];
  for (let at = 0; at < 40; ++at) writeWindowState(file, state(at), area(1600 + at));
  expect(readWindowState(file, area(1639))).toEqual(state(39));
  expect(readWindowState(file, area(1624))).toEqual(state(24));
  // Forgotten: the last place that is known.
  expect(readWindowState(file, area(1600))).toEqual(state(39));
});

test.each(['', '{', '[{"bounds":{"x":"a"}}]', 'null', '[]', '{"bounds":{},"maximized":false}'])(
  'a damaged file (%j) is no file',
  (text) => {
    const file = newFile();
    writeFileSync(file, text);
    expect(readWindowState(file, [display])).toBeNull();
  },
);

test.each([
  ['its title bar is above the screen', { x: 40, y: -500 }, false],
  ['its title bar is below the screen', { x: 40, y: 980 }, false],
  ['only its right edge is left', { x: -860, y: 60 }, false],
  ['enough of the title bar is left to take hold of it', { x: -700, y: 0 }, true],
])('%s', (_, corner, kept) => {
  const file = newFile();
  const bounds = { ...corner, width: 900, height: 700 };
  writeWindowState(file, { bounds, maximized: false, fullScreen: false }, [display]);
  const found = readWindowState(file, [display])?.bounds;
  expect(found).toEqual(kept ? bounds : { x: 350, y: 150, width: 900, height: 700 });
});

test('a place that cannot be written costs nothing but the place', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const file = join(newFile(), 'in-a-folder-that-is-not-there.json');
  const state = { bounds: { x: 0, y: 0, width: 9, height: 9 }, maximized: false, fullScreen: false };
  expect(() => writeWindowState(file, state, [display])).not.toThrow();
  expect(warn).toHaveBeenCalledOnce();
  expect(readWindowState(file, [display])).toBeNull();
});

test.each([
  ['a step to the right and down', { x: 40, y: 60, width: 900, height: 700 }, { x: 68, y: 88 }],
  ['as far as the edge', { x: 672, y: 272, width: 900, height: 700 }, { x: 700, y: 300 }],
  ['one further to the right', { x: 673, y: 272, width: 900, height: 700 }, { x: 0, y: 20 }],
  ['one further down', { x: 672, y: 273, width: 900, height: 700 }, { x: 0, y: 20 }],
  ['onto the display from its left', { x: -28, y: -8, width: 900, height: 700 }, { x: 0, y: 20 }],
  ['not onto it', { x: -29, y: 0, width: 900, height: 700 }, { x: 0, y: 20 }],
  ['above it', { x: 0, y: -9, width: 900, height: 700 }, { x: 0, y: 20 }],
  ['on the second display', { x: 1700, y: 60, width: 900, height: 700 }, { x: 1728, y: 88 }],
])('a window beside another stands %s', (_, bounds, place) => {
  const area = { x: 0, y: 20, width: 1600, height: 980 };
  expect(besides(bounds, [{ workArea: area }, second])).toEqual({ ...bounds, ...place });
});

test('without any display a window beside another stands where that one does', () => {
  const bounds = { x: 5, y: 6, width: 900, height: 700 };
  expect(besides(bounds, [])).toEqual(bounds);
});

test.each([
  [1480, 100, true],
  [1481, 100, false],
  [-780, 100, true],
  [-781, 100, false],
  [100, -8, true],
  [100, -9, false],
  [100, 960, true],
  [100, 961, false],
])('a title bar at %i, %i can be dragged: %s', (x, y, kept) => {
  const file = newFile();
  const bounds = { x, y, width: 900, height: 700 };
  writeWindowState(file, { bounds, maximized: false, fullScreen: false }, [display]);
  expect(readWindowState(file, [display])?.bounds).toEqual(kept ? bounds : { ...bounds, x: 350, y: 150 });
});
