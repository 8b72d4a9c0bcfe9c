import { forkChild } from '../../process/fork-child.ts';
import type { Supervised } from '../../process/supervisor.ts';
import type { FromProcess, ParserLimits } from './parser-process.ts';
import type { ToParser } from './parser-worker.ts';

export type ParserProcess = Supervised<ToParser, FromProcess>;
export type StartParser = (limits: ParserLimits) => Promise<ParserProcess>;

/** Entry files of the parser: process.ts and worker.ts, or their bundles. */
export type ParserFiles = { documentParser: string; documentWorker: string };

/** Starts it as a child process of Node. */
export const parserByFork =
  ({ documentParser, documentWorker }: ParserFiles): StartParser =>
  async (limits) =>
    forkChild(documentParser, [documentWorker, JSON.stringify(limits)], { output: 'ignore', errors: 'ignore' });
