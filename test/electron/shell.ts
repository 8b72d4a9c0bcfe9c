import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { lockFolder } from '../../app/store/lock.ts';
import type { Desktop } from './desktop.ts';
import { findRuntime } from './runtime.ts';
import { waitFor } from './wait.ts';

//  The shell in a real Electron, and what a test asks of it.

export type Ended = { code: number | null; signal: NodeJS.Signals | null };
export type Shell = {
  data: string;
  process: ChildProcess;
  ended: Promise<Ended>;
  /** Evaluates in Electron's main process, with `electron`, `window` and what the test `kept`. */
  main<T = unknown>(code: string): Promise<T>;
  /** Evaluates in the page. */
  page<T = unknown>(code: string): Promise<T>;
  /** The processes of the shell that do the work, by their name. */
  children(): Promise<Record<string, number>>;
  click(label: string): Promise<void>;
  /** Every process that the app is made of. */
  pids(): number[];
  output(): string;
  /** Quits as the user would, and gives how it ended. */
  quit(): Promise<Ended>;
  /** Ends what is left, whatever state it is in, and removes what the test did not bring. */
  kill(): void;
};

export type StartOptions = {
  data?: string;
  args?: string[];
  env?: Record<string, string>;
  /** Of Chromium. */
  flags?: string[];
  /** Evaluated in the main process before the app starts. */
  first?: string;
  cwd?: string;
  /** A packaged app in the place of the built one. */
  program?: string;
  /** The data folder is a disk of this size, which nobody else sees. */
  diskMegabytes?: number;
};

const preload = (file: string) => ['--require', join(import.meta.dirname, file)];
/** Its filter of system calls is older than this machine's C library; the sandbox of namespaces stays on. */
const OLD_FLAGS = ['--disable-seccomp-filter-sandbox'];
/** No user of the machine's has this number; nothing outside belongs to it but what is ours. */
const SOMEBODY = ['--user', '--map-user=1000', '--map-group=1000'];

/** A file system in memory, mounted in a namespace of its own. */
const onDisk = ({ data, diskMegabytes }: StartOptions): string[] =>
  diskMegabytes === undefined
    ? []
    : [
        ...['--user', '--map-root-user', '--mount', 'sh', '-c'],
        `mount -t tmpfs -o size=${diskMegabytes}m,mode=777 none '${data}' && exec unshare "$@"`,
        'sh',
      ];

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'longhand-window-'));

const LAST_WORDS_MS = 1000;

/** Starts the program and waits for nothing. */
export function spawnShell(
  desktop: Desktop,
  socket: string,
  options: StartOptions,
): { process: ChildProcess; ended: Promise<Ended>; output: () => string } {
  const { data, args = [], env = {}, flags = [], first = '', cwd = '/', program } = options;
  const { runtime } = findRuntime();
  if (!runtime) throw new Error('[electron] a shell was to be started where there is none');
  const old = runtime.old ? [...OLD_FLAGS, ...preload('old/preload-main.cjs')] : [];
  const electron = program
    ? [program, '--disable-gpu', ...(runtime.old ? OLD_FLAGS : []), ...flags]
    : [runtime.program, '--disable-gpu', ...old, ...flags, ...preload('driver.cjs'), runtime.app];
  const own = data === undefined ? [] : ['--data', data];
  const all = {
    ...process.env,
    ...desktop.env,
    LONGHAND_TEST_SOCKET: socket,
    LONGHAND_TEST_NODE: process.execPath,
    LONGHAND_TEST_FIRST: first,
    ...env,
  };
  const child = spawn('unshare', [...onDisk(options), ...SOMEBODY, ...electron, ...own, ...args], {
    cwd,
    env: all,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  const ended = new Promise<Ended>((resolve) =>
    child.once('exit', (code, signal) => {
      const end = () => resolve((runtime.old && quitIn(text, signal)) || { code, signal });
      // 'close' comes after the last words, and never while a process that is left holds the pipe.
      child.once('close', end);
      setTimeout(end, LAST_WORDS_MS);
    }),
  );
  return { process: child, ended, output: () => text };
}

/** How an Electron 9 had ended that crashed in its own end: about one of two thousand does, on a machine with much to do. */
function quitIn(output: string, signal: NodeJS.Signals | null): Ended | null {
  const code = signal === 'SIGSEGV' ? /^\[quit (\d+)\]$/m.exec(output)?.[1] : undefined;
  return code === undefined ? null : { code: Number(code), signal: null };
}

/** Starts the app and waits until it can be talked to. A data folder of its own goes with it. */
export async function startShell(desktop: Desktop, options: StartOptions = {}): Promise<Shell> {
  const data = options.data ?? newFolder();
  const socketFolder = newFolder();
  const path = join(socketFolder, 'socket');
  const { process: child, ended, output } = spawnShell(desktop, path, { ...options, data });
  let gone: Ended | null = null;
  void ended.then((end) => {
    gone = end;
  });
  const socket = await waitFor('the main process', async () => {
    if (gone) throw new Error(`[electron] ended with ${JSON.stringify(gone)}: ${output()}`);
    return connected(path);
  });
  const main = asking(socket);
  const withWindow = <T>(code: string) =>
    main<T>(`const [window] = electron.BrowserWindow.getAllWindows().sort((a, b) => a.id - b.id); ${code}`);
  const everyPid = () => (child.pid === undefined ? [] : [child.pid, ...descendantsOf(child.pid)]).filter(runs);
  const page = <T>(code: string) =>
    withWindow<T>(
      `return window.webContents.executeJavaScript(${JSON.stringify(`(async () => { ${code} })()`)}, true)`,
    );
  return {
    data,
    process: child,
    ended,
    main: withWindow,
    page,
    output,
    click: async (label) =>
      void (await waitFor(`the button "${label}"`, () =>
        page(`const found = [...document.querySelectorAll('button, [role=menuitem], a')].find((each) =>
          each.textContent.trim() === ${JSON.stringify(label)} || each.getAttribute('aria-label') === ${JSON.stringify(label)});
          if (found) found.click();
          return Boolean(found);`),
      )),
    pids: everyPid,
    async children() {
      const found = await withWindow<[string, number][]>(`return electron.app.getAppMetrics()
        .filter(({ name }) => /^Longhand/.test(name || '')).map(({ name, pid }) => [name.replace('Longhand ', ''), pid])`);
      return Object.fromEntries(found);
    },
    async quit() {
      if (!gone) await withWindow('electron.app.quit()').catch(() => {});
      return ended;
    },
    kill() {
      for (const pid of everyPid()) killed(pid);
      rmSync(socketFolder, { recursive: true, force: true });
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

const connected = (path: string): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });

/** Questions to driver.cjs and their answers. */
function asking(socket: Socket): <T>(code: string) => Promise<T> {
  const waiting = new Map<number, (reply: { value?: unknown; error?: string }) => void>();
  let last = 0;
  createInterface({ input: socket }).on('line', (line) => {
    const { id, ...reply } = JSON.parse(line);
    waiting.get(id)?.(reply);
    waiting.delete(id);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const reply of waiting.values()) reply({ error: 'the main process has ended' });
  });
  return <T>(code: string) =>
    new Promise<T>((resolve, reject) => {
      if (socket.destroyed) return reject(new Error('the main process has ended'));
      const id = ++last;
      waiting.set(id, ({ value, error }) => (error === undefined ? resolve(value as T) : reject(new Error(error))));
      socket.write(`${JSON.stringify({ id, code })}\n`);
    });
}

/** The processes that a process started, and those that they started. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(name);
    parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const below = (of: number): number[] => (parents.get(of) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

function parentOf(pid: string): number {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 0);
  } catch {
    // It has just ended.
    return 0;
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** Whether a process still runs; one that only waits to be counted by its parent does not. */
export function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The lock itself: the note beside it stays when a core is ended that has not closed within four seconds, as happens on a
 *  machine with ten times more work than processors. */
export function holds(shell: Shell): boolean {
  try {
    lockFolder(shell.data).release();
    return false;
  } catch {
    return true;
  }
}
