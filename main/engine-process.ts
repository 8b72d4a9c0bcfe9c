import { MessageChannelMain, type MessagePortMain, utilityProcess } from 'electron';
import { type Ending, listenToErrors } from '../app/engine/supervisor.ts';
import type { Paths } from './paths.ts';

export type EngineProcesses = {
  /** Starts one and gives the other end of its pipe. */
  start(number: number): MessagePortMain;
  kill(number: number): void;
  /** When the core ends, its engine ends. */
  killAll(): void;
};

/** Owns the engine process for the core: a fault of a GPU ends this process and no other. */
export function createEngineProcesses(paths: Paths, onEnd: (number: number, ending: Ending) => void): EngineProcesses {
  const running = new Map<number, Electron.UtilityProcess>();
  const kill = (number: number) => {
    const { pid } = running.get(number) ?? {};
    // kill() of Electron asks; an engine inside a long computation would not hear it.
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  };
  return {
    start(number) {
      const child = utilityProcess.fork(paths.engine, [paths.addon, paths.worker], {
        serviceName: 'Longhand engine',
        stdio: ['ignore', 'inherit', 'pipe'],
      });
      running.set(number, child);
      const lastWords = listenToErrors(child.stderr);
      child.once('exit', (code) => {
        running.delete(number);
        onEnd(number, { how: `code ${code}`, lastWords: lastWords() });
      });
      const { port1, port2 } = new MessageChannelMain();
      child.postMessage('port', [port1]);
      return port2;
    },
    kill,
    killAll() {
      for (const number of running.keys()) kill(number);
    },
  };
}
