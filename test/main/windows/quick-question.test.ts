import { beforeEach, expect, test, vi } from 'vitest';
import { acceleratorOf, createQuickQuestion } from '../../../main/windows/quick-question.ts';
import * as electron from '../../support/fakes/electron.ts';

vi.mock('electron', () => import('../../support/fakes/electron.ts'));

const { done, world, BrowserWindow } = electron;
const page = { preload: '/preload.js' };
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

beforeEach(() => {
  BrowserWindow.all.length = 0;
  done.keys.clear();
  world.looking = false;
  world.displays = [{ workArea: { x: 100, y: 50, width: 1600, height: 1000 } }];
  world.pointer = { x: 5, y: 5 };
});

test.each([
  ['Mod+Shift+K', 'CommandOrControl+Shift+K'],
  ['Ctrl+Alt+ArrowUp', 'Control+Alt+Up'],
  ['Meta+ ', 'Super+Space'],
  ['Mod++', 'CommandOrControl+Plus'],
  ['Enter', 'Return'],
])('the keys %s are called %s by the system', (keys, accelerator) => {
  expect(acceleratorOf(keys)).toBe(accelerator);
});

test.each([
  [
    { x: 100, y: 50, width: 1600, height: 1000 },
    { x: 580, y: 170, width: 640, height: 520 },
  ],
  [
    { x: 0, y: 0, width: 600, height: 400 },
    { x: 0, y: 0, width: 600, height: 400 },
  ],
])(
  'the window stands in the upper middle, in front of all others, and shows itself when it is drawn',
  async (workArea, place) => {
    world.displays = [{ workArea }];
    createQuickQuestion(page).ask();
    const [window] = BrowserWindow.all;
    expect(window?.options).toMatchObject(place);
    expect(window?.loaded).toBe('longhand://app/#/chat');
    expect(window?.setAlwaysOnTop).toHaveBeenCalledWith(true, 'floating');
    await settled();
    expect(window?.shown).toBe(true);
  },
);

test('asked again it comes to the front with an empty chat; the keys close it when it is in front', () => {
  world.pointer = null;
  const question = createQuickQuestion(page);
  question.ask();
  const [window] = BrowserWindow.all;
  const opened = vi.fn();
  window?.webContents.page.on('opened', opened);
  question.ask();
  expect(BrowserWindow.all).toHaveLength(1);
  expect([opened.mock.calls.length, window?.focus.mock.calls.length]).toEqual([1, 1]);
  world.looking = true;
  question.ask();
  expect(BrowserWindow.all).toHaveLength(0);
  world.looking = false;
  question.ask();
  expect(BrowserWindow.all).toHaveLength(1);
});

test('a selection is handed over once, to its own window, and not at a length that leaves no room', async () => {
  const question = createQuickQuestion(page);
  question.listen({ quickKeys: 'Mod+J', selectionKeys: 'Mod+K' });
  expect([...done.keys.keys()]).toEqual(['CommandOrControl+J', 'CommandOrControl+K']);
  world.selected = 'x'.repeat(20_001);
  done.keys.get('CommandOrControl+K')?.();
  await settled();
  const [window = null] = BrowserWindow.all;
  expect(question.takeAsked(null)).toBeNull();
  expect(question.takeAsked({} as never)).toBeNull();
  expect(question.takeAsked(window as never)).toBe('x'.repeat(20_000));
  expect(question.takeAsked(window as never)).toBeNull();
  world.selected = ' \n';
  done.keys.get('CommandOrControl+K')?.();
  await settled();
  expect(question.takeAsked(window as never)).toBeNull();
});

test('other keys replace those before; keys are free that neither we nor another program hold', () => {
  const question = createQuickQuestion(page);
  question.listen({ quickKeys: 'Mod+J', selectionKeys: null });
  question.listen({ quickKeys: 'Mod+L', selectionKeys: 'Mod+L' });
  expect([...done.keys.keys()]).toEqual(['CommandOrControl+L']);
  world.takenKeys = ['CommandOrControl+T'];
  expect(['Mod+L', 'Mod+T', 'Mod+Sign', 'Mod+U'].map(question.isFree)).toEqual([false, false, false, true]);
  expect([...done.keys.keys()], 'only asked about').toEqual(['CommandOrControl+L']);
});
