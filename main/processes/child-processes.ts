import { join } from 'node:path';
import { MessageChannelMain, type MessagePortMain, utilityProcess } from 'electron';
import { ENGINE_V8_OPTIONS } from '../../app/engine/client/v8-options.ts';
import { type Ending, listenToErrors } from '../../app/process/supervisor.ts';
import type { Paths } from '../paths.ts';
import type { ChildWish } from './core-ipc.ts';

export type Children = {
  /** Starts one and returns our end of its pipe. */
  start(number: number, wish: ChildWish): MessagePortMain;
  kill(number: number): void;
  /** When the core ends, its processes end. */
  killAll(): void;
};

/** Owns the child processes of the core: a GPU fault ends only the engine, a hostile document only its parser. */
export function createChildren(paths: Paths, onEnd: (number: number, ending: Ending) => void): Children {
  const running = new Map<number, Electron.UtilityProcess>();
  const kill = (number: number) => {
    const child = running.get(number);
    if (child) endAtOnce(child);
  };
  return {
    start(number, wish) {
      const child = started(paths, wish);
      running.set(number, child);
      const lastWords = listenToErrors(child.stderr);
      child.once('exit', (code) => {
        // A child of the previous core: the next core numbers from one again and may have a child of the same number.
        if (running.get(number) !== child) return;
        running.delete(number);
        onEnd(number, { how: `code ${code}`, lastWords: lastWords() });
      });
      const { port1, port2 } = new MessageChannelMain();
      child.postMessage('port', [port1]);
      return port2;
    },
    kill,
    killAll() {
      const ended = [...running.values()];
      running.clear();
      for (const child of ended) endAtOnce(child);
    },
  };
}

/** Electron's kill() sends SIGTERM, which a process in a long computation does not handle. A process that is still starting
 *  has no pid yet and is killed as soon as it has one. */
export function endAtOnce(child: Electron.UtilityProcess): void {
  if (child.pid === undefined) return void child.once('spawn', () => endAtOnce(child));
  try {
    process.kill(child.pid, 'SIGKILL');
  } catch {
    // It has just exited by itself.
  }
}

function started(paths: Paths, wish: ChildWish): Electron.UtilityProcess {
  if (wish.run === 'engine') return engine(paths);
  return wish.run === 'converter' ? converter(paths) : parser(paths, wish);
}

const engine = (paths: Paths) =>
  utilityProcess.fork(paths.engine, [paths.addon, paths.worker, paths.pictureWorker], {
    serviceName: 'Longhand engine',
    stdio: ['ignore', 'inherit', 'pipe'],
    // A switch of Chromium; it hands them on to V8.
    execArgv: [`--js-flags=${ENGINE_V8_OPTIONS.join(' ')}`],
  });

const converter = (paths: Paths) =>
  utilityProcess.fork(paths.converter, [paths.addon, join(paths.resources, 'help'), paths.worker], {
    serviceName: 'Longhand conversion',
    stdio: ['ignore', 'ignore', 'pipe'],
  });

const parser = (paths: Paths, { limits }: Extract<ChildWish, { run: 'parser' }>) =>
  utilityProcess.fork(paths.documentParser, [paths.documentWorker, JSON.stringify(limits)], {
    serviceName: 'Longhand documents',
    stdio: 'ignore',
  });
