import { fork } from 'node:child_process';
import type { Ending, Supervised } from '../../process/supervisor.ts';
import { pipeToChild } from '../../process/transport.ts';
import type { FromProcess, ParserLimits } from './parser-process.ts';
import type { ToParser } from './parser-worker.ts';

export type ParserProcess = Supervised<ToParser, FromProcess>;
export type StartParser = (limits: ParserLimits) => Promise<ParserProcess>;

/** Entry files of the parser: process.ts and worker.ts, or their bundles. */
export type ParserFiles = { documentParser: string; documentWorker: string };

/** Starts it as a child process of Node. */
export function parserByFork({ documentParser, documentWorker }: ParserFiles): StartParser {
  return async (limits) => {
    const child = fork(documentParser, [documentWorker, JSON.stringify(limits)], {
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
      pipe: pipeToChild<ToParser, FromProcess>(child),
      kill: () => void child.kill('SIGKILL'),
      ended,
    };
  };
}
