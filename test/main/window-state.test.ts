import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readWindowState, writeWindowState } from '../../main/window-state.ts';

const display = { workArea: { x: 0, y: 0, width: 1600, height: 1000 } };
const second = { workArea: { x: 1600, y: 0, width: 1600, height: 1000 } };

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-window-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'window.json');
}

test('the window comes back where it was', () => {
  const file = newFile();
  const state = { bounds: { x: 40, y: 60, width: 900, height: 700 }, maximized: true };
  writeWindowState(file, state);
  expect(readWindowState(file, [display])).toEqual(state);
});

test('on a display that is gone it would be out of reach', () => {
  const file = newFile();
  writeWindowState(file, { bounds: { x: 1900, y: 60, width: 900, height: 700 }, maximized: false });
  expect(readWindowState(file, [display, second])).not.toBeNull();
  expect(readWindowState(file, [display])).toBeNull();
});

test.each(['', '{', '{"bounds":{"x":"a"}}', 'null'])('a damaged file (%j) is no file', (text) => {
  const file = newFile();
  writeFileSync(file, text);
  expect(readWindowState(file, [display])).toBeNull();
});

test.each([
  ['its title bar is above the screen', { x: 40, y: -500 }, false],
  ['its title bar is below the screen', { x: 40, y: 980 }, false],
  ['only its right edge is left', { x: -860, y: 60 }, false],
  ['enough of the title bar is left to take hold of it', { x: -700, y: 0 }, true],
])('%s', (_, corner, kept) => {
  const file = newFile();
  writeWindowState(file, { bounds: { ...corner, width: 900, height: 700 }, maximized: false });
  expect(readWindowState(file, [display]) !== null).toBe(kept);
});

test('a place that cannot be written costs nothing but the place', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const file = join(newFile(), 'in-a-folder-that-is-not-there.json');
  expect(() => writeWindowState(file, { bounds: { x: 0, y: 0, width: 9, height: 9 }, maximized: false })).not.toThrow();
  expect(warn).toHaveBeenCalledOnce();
  expect(readWindowState(file, [display])).toBeNull();
});
