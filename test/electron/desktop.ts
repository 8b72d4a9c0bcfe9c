import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readScreen, type Screen } from './screen.ts';
import { waitFor } from './wait.ts';

//  A desktop of its own for one test file: an X server without a screen, a window manager, a bus and notifications.

export type Desktop = {
  env: Record<string, string>;
  /** Presses keys as the keyboard would: "ctrl+k". */
  press(...keys: string[]): void;
  /** The titles of all windows, with those of dialogs. */
  titles(): string[];
  /** Notifications: how many are shown, and the click on the one on top. */
  notifications(): number;
  clickNotification(): void;
  /** What is on the screen now. */
  screen(): Screen;
  /** Gives the focus to a window that is not ours. */
  lookAway(): Promise<void>;
  stop(): void;
};

export async function startDesktop(): Promise<Desktop> {
  const started: ChildProcess[] = [];
  const home = mkdtempSync(join(tmpdir(), 'longhand-desktop-'));
  const start = (program: string, args: string[], env: Record<string, string> = {}) => {
    const child = spawn(program, args, {
      env: { ...process.env, HOME: home, ...env },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    started.push(child);
    return child;
  };
  // Without -noreset it would start anew, and end its clients, whenever the last one has gone.
  const xvfb = start('Xvfb', [
    '-displayfd',
    '3',
    '-screen',
    '0',
    '1280x900x24',
    '-nolisten',
    'tcp',
    '-ac',
    '-noreset',
    '-fbdir',
    home,
  ]);
  const DISPLAY = `:${await firstLine(xvfb.stdio[3] as Readable)}`;
  const bus = start('dbus-daemon', ['--session', '--nofork', '--print-address=3'], { DISPLAY });
  const env = { DISPLAY, DBUS_SESSION_BUS_ADDRESS: await firstLine(bus.stdio[3] as Readable), HOME: home };
  start('openbox', [], env);
  start('dunst', ['-config', '/dev/null'], env);

  const call = (program: string, ...args: string[]) =>
    execFileSync(program, args, {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const quiet = (program: string, ...args: string[]) => {
    try {
      return call(program, ...args);
    } catch {
      return '';
    }
  };
  const windows = () => quiet('xprop', '-root', '_NET_CLIENT_LIST').match(/0x[0-9a-f]+/g) ?? [];
  const titles = () => windows().map((id) => quiet('xdotool', 'getwindowname', id));
  await waitFor('a window manager', () => quiet('xdotool', 'get_desktop') !== '');
  await waitFor('a notification daemon', () => quiet('dunstctl', 'count') !== '');
  return {
    env,
    press: (...keys) => void call('xdotool', 'key', ...keys),
    titles,
    notifications: () => Number(call('dunstctl', 'count', 'displayed')),
    clickNotification: () => void call('dunstctl', 'action', '0'),
    screen: () => readScreen(join(home, 'Xvfb_screen0')),
    async lookAway() {
      start('xmessage', ['-title', 'Something else', 'Something else'], env);
      await waitFor('another window', () => titles().includes('Something else'));
      call('xdotool', 'search', '--name', 'Something else', 'windowactivate', '--sync');
    },
    stop() {
      for (const child of started.reverse()) child.kill('SIGKILL');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const firstLine = (stream: Readable): Promise<string> =>
  new Promise((resolve) =>
    createInterface({ input: stream }).once('line', (line) => resolve(line.split(',guid=')[0] ?? line)),
  );
