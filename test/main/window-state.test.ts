import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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
