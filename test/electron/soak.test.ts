import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openDatabase } from '../../app/store/database/database.ts';
import { folder, windowTest } from './fixture.ts';
import { ask, atChat, opened, says } from './page.ts';
import { holds, runs, type Shell } from './shell.ts';
import { waitFor } from './wait.ts';

//  Starts, quits and kills in a row on one data folder: a few here, many with --soak.

const soak = process.env.LONGHAND_SOAK === '1';
const STARTS = soak ? 100 : 2;
const KILLS = soak ? 20 : 1;
const ROUND_MS = 60_000;
/** From the start to the first words in the window; half of the starts in a row, on a machine that does nothing else. */
const FIRST_WINDOW_MS = 1500;

const clean = { code: 0, signal: null };
const allGone = (pids: number[]) => waitFor('the end of every process', () => pids.every((pid) => !runs(pid)));

/** At once, with the first words on the screen, by the window, by a signal. */
const ENDS: ((shell: Shell) => Promise<unknown>)[] = [
  (shell) => shell.quit(),
  (shell) => opened(shell).then(shell.quit),
  (shell) => opened(shell).then(() => shell.main('window.close()').catch(() => {})),
  (shell) => opened(shell).then(() => shell.process.kill('SIGTERM')),
];

windowTest(
  `${STARTS} starts and quits leave no process and no lock`,
  async ({ start }) => {
    const data = folder();
    const firsts: number[] = [];
    for (let round = 0; round < STARTS; ++round) {
      const begun = Date.now();
      const shell = await start({ data });
      await waitFor('a window', () => shell.main('return Boolean(window)'));
      if (round % ENDS.length !== 0) {
        await opened(shell);
        firsts.push(Date.now() - begun);
      }
      const pids = shell.pids();
      await ENDS[round % ENDS.length]?.(shell);
      expect(await shell.ended, `start ${round}: ${shell.output()}`).toEqual(clean);
      await allGone(pids);
      expect(holds(shell), `start ${round}`).toBe(false);
    }
    const half = firsts.sort((a, b) => a - b)[Math.floor(firsts.length / 2)] ?? 0;
    if (soak) console.log(`first window: ${half} ms`);
    if (soak) expect(half).toBeLessThanOrEqual(FIRST_WINDOW_MS);
  },
  STARTS * ROUND_MS,
);

async function processOf(shell: Shell, name: string): Promise<number> {
  if (name === 'page') return shell.main<number>('return window.webContents.getOSProcessId()');
  return waitFor(`the ${name}`, async () => (await shell.children())[name]);
}

windowTest(
  `${KILLS} kills of each process in the middle of an answer lose no message`,
  async ({ start }) => {
    const data = folder();
    const asked: string[] = [];
    for (let round = 0; round < KILLS; ++round) {
      // The slowest way to compute, so that the answer is still being written.
      const shell = await start({ data, env: { LONGHAND_CPU_ISA: 'scalar' } });
      if (round === 0) await atChat(shell);
      for (const name of ['engine', 'core', 'page', 'app']) {
        const question = `Round ${round}, before the ${name}: tell a long story.`;
        await opened(shell);
        await ask(shell, question);
        await waitFor('the question', () => says(shell, question));
        asked.push(question);
        const pids = shell.pids();
        const pid = name === 'app' ? shell.process.pid : await processOf(shell, name);
        process.kill(pid as number, 'SIGKILL');
        if (name === 'app') await allGone(pids);
        else await waitFor(`another ${name}`, async () => (await processOf(shell, name)) !== pid);
      }
    }
    const db = openDatabase(join(data, 'longhand.db'));
    onTestFinished(() => db.close());
    const kept = db.all<{ text: string }>("select text from messages where role = 'user'");
    expect(kept.map(({ text }) => text).sort()).toEqual(asked.sort());
  },
  KILLS * 4 * ROUND_MS,
);
