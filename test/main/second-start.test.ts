// The app is started while it runs already.
import { expect, test, vi } from 'vitest';
import { BrowserWindow, done, world } from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

test('a second start leaves everything to the first, and ends', async () => {
  world.firstInstance = false;
  await import('../../main/index.ts');
  expect(done.exits).toEqual([0]);
  expect(BrowserWindow.all).toEqual([]);
});
