import { fork, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { StartEngine, ToEngine } from '../../../app/engine/ipc-protocol.ts';
import type { Client } from '../../../app/protocol/index.ts';
import { openSocket } from './browser.ts';
import { places, root } from './core.ts';

/** An engine that a test can kill at any moment. */
export function killableEngine(build: Build = source): {
  startEngine: StartEngine;
  kill(): void;
  send(message: ToEngine): void;
  starts(): number;
} {
  const start = engineByFork(build.engine, { ...places, worker: build.worker, pictureWorker: build.pictureWorker });
  let kill = () => {};
  let send = (_: ToEngine) => {};
  let starts = 0;
  return {
    async startEngine() {
      const engine = await start();
      starts++;
      kill = engine.kill;
      send = engine.pipe.send;
      return engine;
    },
    kill: () => kill(),
    send: (message) => send(message),
    starts: () => starts,
  };
}

/** Where the parts of the app are: in the source tree, or as bundled by `npm run build`. */
export type Build = {
  name: 'source' | 'bundle';
  server: string;
  core: string;
  engine: string;
  worker: string;
  pictureWorker: string;
  converter: string;
  documentParser: string;
  documentWorker: string;
  migrations: string;
  resources: string;
};

export { places };

export const source: Build = {
  ...places,
  name: 'source',
  server: join(root, 'app/server/main.ts'),
  core: join(root, 'main/processes/core-entry.ts'),
};

const bundled = (file: string) => join(root, 'dist/main', file);
export const bundle: Build = {
  name: 'bundle',
  server: bundled('server.js'),
  core: bundled('core.js'),
  engine: bundled('engine.js'),
  worker: bundled('template-worker.js'),
  pictureWorker: bundled('picture-worker.js'),
  converter: bundled('converter.js'),
  documentParser: bundled('document-parser.js'),
  documentWorker: bundled('document-worker.js'),
  migrations: bundled('migrations'),
  resources: places.resources,
};

/** `npm run build:shell`. */
export function buildBundle(): void {
  const { status, stderr } = spawnSync(join(root, 'node_modules/.bin/electron-vite'), ['build'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`[build:shell] ended with ${status}: ${stderr}`);
}

/** An app that can be called, and killed. */
export type RunningApp = {
  client: Client;
  /** The process ids of its engines at the time of the call. */
  engines(): number[];
  kill(): Promise<void>;
};

/** The browser host in a process of its own, as `npm start` runs it, and a page connected to it. */
export async function startHost(dataFolder: string, build: Build): Promise<RunningApp & { quit(): Promise<void> }> {
  const child = fork(build.server, ['--data', dataFolder, '--port', '0', '--no-open'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const address = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
      const found = said.match(/http:\S+/);
      if (found) resolve(found[0]);
    });
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}: ${said}`)));
  });
  const { client } = await openSocket(address);
  return {
    client,
    engines: () => childrenOf(child.pid as number),
    kill: () => end('SIGKILL'),
    quit: () => end('SIGTERM'),
  };

  async function end(signal: 'SIGKILL' | 'SIGTERM') {
    child.kill(signal);
    await ended;
  }
}

/** The child processes that `ps` lists, on Linux and macOS. */
function childrenOf(pid: number): number[] {
  const listed = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout;
  return listed
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
