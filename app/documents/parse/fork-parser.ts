import { fork } from 'node:child_process';
import type { Ending, Supervised } from '../../process/supervisor.ts';
import { pipeToChild } from '../../process/transport.ts';
import type { FromProcess, ReaderLimits } from './parser-process.ts';
import type { ToReader } from './parser-worker.ts';

export type ReaderProcess = Supervised<ToReader, FromProcess>;
export type StartReader = (limits: ReaderLimits) => Promise<ReaderProcess>;

/** Where the process that reads documents is: process.ts and worker.ts, or their bundles. */
export type ReaderFiles = { documentReader: string; documentWorker: string };

/** Starts it as a child process of Node. */
export function readerByFork({ documentReader, documentWorker }: ReaderFiles): StartReader {
  return async (limits) => {
    const child = fork(documentReader, [documentWorker, JSON.stringify(limits)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    });
    const ended = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve({ how: signal ? `signal ${signal}` : `code ${code}`, lastWords: '' }),
      );
      child.once('error', (error) => resolve({ how: error.message, lastWords: '' }));
    });
    return {
      pipe: pipeToChild<ToReader, FromProcess>(child),
      kill: () => void child.kill('SIGKILL'),
      ended,
    };
  };
}
