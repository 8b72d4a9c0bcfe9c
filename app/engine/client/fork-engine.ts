import { fork } from 'node:child_process';
import { type Ending, listenToErrors } from '../../process/supervisor.ts';
import { pipeToChild } from '../../process/transport.ts';
import type { EngineProcess, FromEngine, StartEngine, ToEngine } from '../ipc-protocol.ts';

/** Paths passed to the engine process. */
export type EngineFiles = { addon: string; worker: string; pictureWorker: string };

/** Starts the engine as a child process of Node. `entry`: main.ts or its bundle. */
export function engineByFork(entry: string, { addon, worker, pictureWorker }: EngineFiles): StartEngine {
  return async () => {
    const child = fork(entry, [addon, worker, pictureWorker], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      execArgv: [],
    });
    const lastWords = listenToErrors(child.stderr);
    const ended = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve({ how: signal ? `signal ${signal}` : `code ${code}`, lastWords: lastWords() }),
      );
      child.once('error', (error) => resolve({ how: error.message, lastWords: lastWords() }));
    });
    const engine: EngineProcess = {
      pipe: pipeToChild<ToEngine, FromEngine>(child),
      kill: () => void child.kill('SIGKILL'),
      ended,
    };
    return engine;
  };
}
