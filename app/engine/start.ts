import { fork } from 'node:child_process';
import type { FromEngine, ToEngine } from './asks.ts';
import { pipeToChild } from './port.ts';
import type { EngineProcess, StartEngine } from './supervisor.ts';

/** Starts the engine as a child process of Node. `entry`: process.ts or its bundle. */
export function engineByFork(entry: string, { addon, worker }: { addon: string; worker: string }): StartEngine {
  return async () => {
    const child = fork(entry, [addon, worker], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    const engine: EngineProcess = {
      pipe: pipeToChild<ToEngine, FromEngine>(child),
      kill: () => void child.kill('SIGKILL'),
      ended,
    };
    return engine;
  };
}
