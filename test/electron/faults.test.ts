import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { windowTest } from './fixture.ts';
import { answered, ask, atChat, isAnswered, opened, pressReturn, says, typed } from './page.ts';
import { newFolder, runs, type Shell } from './shell.ts';
import { waitFor } from './wait.ts';

//  Processes that die, and disks that do not take what is written.

/** Kills one of the shell's processes and waits for the one in its place. */
async function killed(shell: Shell, name: string): Promise<void> {
  const { [name]: pid } = await waitFor(`the ${name}`, async () => {
    const children = await shell.children();
    return children[name] === undefined ? null : children;
  });
  process.kill(pid as number, 'SIGKILL');
  await waitFor(`a new ${name}`, async () => {
    const { [name]: next } = await shell.children();
    return next !== undefined && next !== pid;
  });
}

async function crashed(shell: Shell): Promise<void> {
  await shell.main(`kept.loads = 0; window.webContents.on('did-finish-load', () => { kept.loads += 1; })`);
  process.kill(await shell.main<number>('return window.webContents.getOSProcessId()'), 'SIGKILL');
}
const loaded = (shell: Shell) => waitFor('the page again', () => shell.main('return kept.loads > 0'));

windowTest('core, engine and page are killed: each comes back, and no message is lost', async ({ start }) => {
  const shell = await start();
  await atChat(shell);
  await answered(shell, 'Hello there.');
  await killed(shell, 'core');
  await waitFor('the chat', () => says(shell, 'Hello there.'));
  await answered(shell, 'Once more.');
  await killed(shell, 'engine');
  await answered(shell, 'And again.');
  await crashed(shell);
  await loaded(shell);
  for (const question of ['Hello there.', 'Once more.', 'And again.'])
    await waitFor(question, () => says(shell, question));
  await answered(shell, 'The last one.');
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
});

windowTest(
  'a page that crashed four times is offered outside the window, and the app stays',
  async ({ start, desktop }) => {
    const shell = await start();
    await opened(shell);
    for (let crash = 0; crash < 3; ++crash) {
      await crashed(shell);
      await loaded(shell);
    }
    await crashed(shell);
    await waitFor('the question', () => desktop.titles().length > 1);
    // A core that restarts now has nobody to tell.
    await killed(shell, 'core');
    desktop.press('Return');
    await loaded(shell);
    await opened(shell);
    expect(await shell.quit()).toEqual({ code: 0, signal: null });
  },
);

windowTest('a core that cannot live says so with its own name and ends the app', async ({ start }) => {
  const shell = await start({
    // The real box would wait for its button.
    first: 'electron.dialog.showErrorBox = (title, text) => console.log(title, text)',
  });
  await opened(shell);
  await killed(shell, 'core');
  await killed(shell, 'core');
  const { core } = await waitFor('the core', async () => ((await shell.children()).core ? shell.children() : null));
  process.kill(core as number, 'SIGKILL');
  expect(await shell.ended).toEqual({ code: 1, signal: null });
  expect(shell.output()).toContain('[core]');
});

windowTest('chats of a folder that cannot be written can be read', async ({ start }) => {
  const data = newFolder();
  onTestFinished(() => {
    writable(data, 0o700);
    rmSync(data, { recursive: true, force: true });
  });
  const first = await start({ data });
  await atChat(first);
  await answered(first, 'What can be read later?');
  await first.quit();
  writable(data, 0o500);
  const second = await start({ data });
  await opened(second);
  await waitFor('the chat', () => says(second, 'What can be read later?'));
  const pids = second.pids();
  expect(await second.quit()).toEqual({ code: 0, signal: null });
  await waitFor('the end of every process', () => pids.every((pid) => !runs(pid)));
});

const writable = (data: string, mode: number) => {
  for (const folder of [data, join(data, 'shell')]) chmodSync(folder, mode);
};

windowTest('a window state that cannot be written is no reason to fail', async ({ start, desktop }) => {
  const shell = await start();
  await opened(shell);
  mkdirSync(join(shell.data, 'shell', 'window.json.part'));
  const titles = desktop.titles();
  await shell.main('window.setBounds({ x: 50, y: 60, width: 800, height: 600 })');
  await waitFor('a warning', () => shell.output().includes('[window] its place could not be written'));
  expect(desktop.titles().sort()).toEqual(titles.sort());
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
});

windowTest('a disk that is full: the app stays, says so, and answers again when there is room', async ({ start }) => {
  const shell = await start({ diskMegabytes: 48 });
  await atChat(shell);
  await answered(shell, 'Before the disk was full.');
  const fill = join(shell.data, 'filler');
  // Only the app sees its disk, so it is filled from there.
  await shell.main(`const fs = process.mainModule.require('fs'); const file = fs.openSync(${JSON.stringify(fill)}, 'w');
    try { for (;;) fs.writeSync(file, Buffer.alloc(1 << 16)); } catch (error) { if (error.code !== 'ENOSPC') throw error; } finally { fs.closeSync(file); }`);
  await shell.main('window.setBounds({ x: 50, y: 60, width: 800, height: 600 })');
  const complains = () =>
    shell.page<boolean>('return /disk is full|disk space|no space|free (up )?space/i.test(document.body.innerText)');
  expect(await complains()).toBe(false);
  // The log of the database still has room for some.
  for (let asked = 0; asked < 40 && !(await complains()); asked++) {
    const question = `While it is full, ${asked}.`;
    await typed(shell, question);
    await pressReturn(shell);
    await waitFor(
      'an answer, or a sentence about the disk',
      async () => (await complains()) || (await isAnswered(shell, question)),
    );
  }
  expect(await complains()).toBe(true);
  await shell.main(`process.mainModule.require('fs').unlinkSync(${JSON.stringify(fill)})`);
  await ask(shell, 'When there is room again.');
  await waitFor('an answer', () => isAnswered(shell, 'When there is room again.'));
  expect(await says(shell, 'Before the disk was full.')).toBe(true);
  expect(await shell.quit()).toEqual({ code: 0, signal: null });
});
