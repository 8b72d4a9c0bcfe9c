import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { words } from '../../main/strings.ts';
import { folder, windowTest } from './fixture.ts';
import { answered, answers, ask, atChat, menu, opened, says } from './page.ts';
import { root } from './runtime.ts';
import { holds, runs, type Shell, spawnShell } from './shell.ts';
import { waitFor } from './wait.ts';

//  How the app starts, starts again and ends.

const clean = { code: 0, signal: null };
const allGone = (pids: number[]) => waitFor('the end of every process', () => pids.every((pid) => !runs(pid)));

windowTest('a second start ends at once and brings the first window to the front', async ({ start, desktop }) => {
  const shell = await start();
  await opened(shell);
  await shell.main('window.minimize()');
  await waitFor('a minimised window', () => shell.main('return window.isMinimized()'));
  const second = spawnShell(desktop, join(folder(), 'socket'), { data: shell.data });
  expect(await second.ended).toEqual(clean);
  await waitFor('the window in front', () => shell.main('return !window.isMinimized() && window.isFocused()'));
  expect(await shell.main('return electron.BrowserWindow.getAllWindows().length')).toBe(1);
});

const WAYS: Record<string, (shell: Shell) => unknown> = {
  'by the menu': (shell) => menu(shell, words.menu.roles.quit),
  'by closing its window': (shell) => shell.main('window.close()').catch(() => {}),
  'by a signal': (shell) => shell.process.kill('SIGTERM'),
};
for (const [way, quit] of Object.entries(WAYS)) {
  windowTest(`quits ${way} and leaves no process and no lock`, async ({ start }) => {
    const shell = await start();
    await opened(shell);
    await waitFor('the core', async () => (await shell.children()).core);
    const pids = shell.pids();
    expect(pids.length).toBeGreaterThan(3);
    await quit(shell);
    expect(await shell.ended, shell.output()).toEqual(clean);
    await allGone(pids);
    expect(holds(shell)).toBe(false);
  });
}

/** The app in the middle of an answer, computed in the slowest way. */
async function writing(
  start: (options: { data: string; env: Record<string, string> }) => Promise<Shell>,
  data: string,
) {
  const shell = await start({ data, env: { LONGHAND_CPU_ISA: 'scalar' } });
  await atChat(shell);
  await ask(shell, 'Tell me a long story about the sea.');
  await waitFor('the first words', () => shell.page('return document.querySelectorAll("article").length > 1'));
  return shell;
}

windowTest(
  'asks once when it is left in the middle of an answer, keeps what was written, and goes on with it',
  async ({ start, desktop }) => {
    const data = folder();
    const first = await writing(start, data);
    const pids = first.pids();
    // Nothing is written while the questions are open: a short answer would be whole by then.
    const { engine } = await first.children();
    process.kill(engine as number, 'SIGSTOP');
    const windows = desktop.titles().length;
    for (const leave of ['window.close()', 'electron.app.quit()']) await first.main(leave);
    await waitFor('the question', () => desktop.titles().length > windows);
    desktop.press('Escape');
    await waitFor('the end of the question', () => desktop.titles().length === windows);
    expect(await first.main('return window.isVisible()')).toBe(true);
    await first.main('window.close()');
    await waitFor('the question again', () => desktop.titles().length > windows);
    desktop.press('Return');
    process.kill(engine as number, 'SIGCONT');
    expect(await first.ended).toEqual(clean);
    await allGone(pids);
    const second = await start({ data });
    await opened(second);
    await waitFor('the way back to the chat', () =>
      second.page(`const found = [...document.querySelectorAll('button')].find(({ innerText }) => innerText.includes('Continue “'));
        if (found) found.click();
        return Boolean(found);`),
    );
    await second.click('Continue');
    await waitFor('a whole answer', async () => (await answers(second)) > 0);
    await answered(second, 'Name an animal.');
  },
);

windowTest(
  'whoever ends the app with a signal is asked nothing, also in the middle of an answer',
  async ({ start }) => {
    const data = folder();
    const shell = await writing(start, data);
    const pids = shell.pids();
    shell.process.kill('SIGTERM');
    expect(await shell.ended, shell.output()).toEqual(clean);
    await allGone(pids);
    expect(holds(shell)).toBe(false);
  },
);

windowTest(
  'model files that are opened with the app are used where they are, also while it writes',
  async ({ start, desktop }) => {
    const data = folder();
    const models = folder();
    const golden = join(root, 'test', 'golden');
    copyFileSync(join(golden, 'gguf_models', 'llama', 'model-f32.gguf'), join(models, 'Otter.gguf'));
    copyFileSync(join(golden, 'containers', 'malformed_gguf', 'bad_magic.gguf'), join(models, 'Broken.GGUF'));
    const shell = await writing(start, data);
    const args = ['Otter.gguf', 'Broken.GGUF'];
    const second = spawnShell(desktop, join(folder(), 'socket'), { data, cwd: models, args });
    expect(await second.ended).toEqual(clean);
    await waitFor('the sound model', () => says(shell, 'Tiny Llama'));
    await waitFor('a sentence about the other', () => says(shell, 'Broken.GGUF'));
    expect(existsSync(join(models, 'Otter.gguf'))).toBe(true);
    shell.process.kill('SIGTERM');
    expect(await shell.ended).toEqual(clean);

    copyFileSync(join(models, 'Otter.gguf'), join(models, 'Heron.gguf'));
    const third = await start({ data, cwd: models, args: ['Heron.gguf'] });
    await waitFor('the model of a first start', () => says(third, 'Used in place.'));
  },
);

windowTest('what is left of an app that was killed ends with it, and the next one starts', async ({ start }) => {
  const data = folder();
  const first = await start({ data });
  await opened(first);
  await waitFor('the engine', async () => (await first.children()).engine);
  const pids = first.pids();
  first.process.kill('SIGKILL');
  await allGone(pids);
  const second = await start({ data });
  await opened(second);
  expect(await second.quit()).toEqual(clean);
});

windowTest('--data may be relative, and its folder need not be there', async ({ start }) => {
  const cwd = folder();
  // Named twice: the last one counts.
  const shell = await start({ cwd, args: ['--data', 'not/yet/there'] });
  await opened(shell);
  await waitFor('the core', async () => (await shell.children()).core);
  await waitFor('the database', () => existsSync(join(cwd, 'not', 'yet', 'there', 'longhand.db')));
});
