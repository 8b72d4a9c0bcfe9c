import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ToEngine } from '../../app/engine/asks.ts';
import type { StartEngine } from '../../app/engine/supervisor.ts';
import { newFolder, realEngine, root } from './core.ts';

/** An engine that the test can kill at any moment. */
export function killableEngine(): {
  startEngine: StartEngine;
  kill(): void;
  send(message: ToEngine): void;
  starts(): number;
} {
  const start = realEngine();
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

export type RunningApp = {
  process: ChildProcess;
  address: string;
  /** Process ids of its engines, as they were when asked. */
  engines(): number[];
  kill(): Promise<void>;
};

/** The browser host as a process of its own, as `npm start` runs it. */
export async function startApp(dataFolder = newFolder()): Promise<RunningApp> {
  const child = fork(join(root, 'app/server/main.ts'), ['--data', dataFolder, '--port', '0', '--no-open'], {
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
  return {
    process: child,
    address,
    engines: () => childrenOf(child.pid as number),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Linux and macOS: what `ps` lists as children. */
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
