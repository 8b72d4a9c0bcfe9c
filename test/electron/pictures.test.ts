import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { windowTest } from './fixture.ts';
import { answered, atChat } from './page.ts';
import { waitFor } from './wait.ts';

//  The real window as a person sees it, with its frame. LONGHAND_PICTURES=1 keeps the pictures in screens/.

const folder = join(import.meta.dirname, 'screens');

windowTest('the window in light and dark, and a dialog of the system in front of it', async ({ start, desktop }) => {
  const shell = await start();
  await shell.main('window.setBounds({ x: 60, y: 60, width: 1160, height: 780 })');
  await atChat(shell);
  await answered(shell, 'Name an animal.');
  const seen = new Set<number>();
  /** Not one colour, nor what was there before: a window that draws nothing shows either. */
  const picture = (name: string) =>
    waitFor(`a picture: ${name}`, () => {
      const { png, colours } = desktop.screen();
      if (colours < 100 || seen.has(colours)) return false;
      seen.add(colours);
      if (process.env.LONGHAND_PICTURES === '1') {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, `${name}.png`), png);
      }
      return true;
    });
  for (const theme of ['dark', 'light'] as const) {
    await shell.page(`window.longhand.send({ id: 90003, call: 'settings.set', input: { theme: '${theme}' } })`);
    await waitFor(theme, () => shell.page(`return document.documentElement.dataset.theme === '${theme}'`));
    // The X server is told after the page has drawn, and colours fade.
    await new Promise((resolve) => setTimeout(resolve, 700));
    await picture(theme);
    const paper = await shell.page<string>('return getComputedStyle(document.body).backgroundColor');
    expect(Number(/\d+/.exec(paper)?.[0]) > 127).toBe(theme === 'light');
  }
  const windows = desktop.titles().length;
  void shell.page(`return window.longhand.choose('documents')`).catch(() => {});
  await waitFor('the dialog', () => desktop.titles().length > windows);
  await new Promise((resolve) => setTimeout(resolve, 700));
  await picture('dialog');
});
