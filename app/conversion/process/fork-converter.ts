import { fork } from 'node:child_process';
import { join } from 'node:path';
import { type Ending, listenToErrors } from '../../process/supervisor.ts';
import { pipeToChild } from '../../process/transport.ts';
import type { StartConverter, ToConverter } from './messages.ts';

/** Entry file of the process (main.ts or its bundle), the addon, and the folder with the manual. */
export type ConverterFiles = { converter: string; addon: string; resources: string };

/** Starts it as a child process of Node. */
export function converterByFork({ converter, addon, resources }: ConverterFiles): StartConverter {
  return async () => {
    const child = fork(converter, [addon, join(resources, 'help')], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    });
    const lastWords = listenToErrors(child.stderr);
    const ended = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve({ how: signal ? `signal ${signal}` : `code ${code}`, lastWords: lastWords() }),
      );
      child.once('error', (error) => resolve({ how: error.message, lastWords: lastWords() }));
    });
    return { pipe: pipeToChild<ToConverter, unknown>(child), kill: () => void child.kill('SIGKILL'), ended };
  };
}
