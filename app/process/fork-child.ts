import { fork } from 'node:child_process';
import { type Ending, listenToErrors, type Supervised } from './supervisor.ts';
import { pipeToChild } from './transport.ts';

/** Where what a child process prints goes: ours, or nowhere. `errors`: kept as its last words, or nowhere. */
type Streams = { output: 'inherit' | 'ignore'; errors: 'pipe' | 'ignore' };

/** Starts a child process of Node for a supervisor. `entry`: its file or bundle; `v8`: options of its JavaScript engine. */
export function forkChild<Out, In>(
  entry: string,
  args: readonly string[],
  streams: Streams,
  v8: readonly string[] = [],
): Supervised<Out, In> {
  const child = fork(entry, [...args], {
    serialization: 'advanced',
    stdio: ['ignore', streams.output, streams.errors, 'ipc'],
    execArgv: [...v8],
  });
  const lastWords = listenToErrors(child.stderr);
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ how: signal ? `signal ${signal}` : `code ${code}`, lastWords: lastWords() }),
    );
    child.once('error', (error) => resolve({ how: error.message, lastWords: lastWords() }));
  });
  return { pipe: pipeToChild<Out, In>(child), kill: () => void child.kill('SIGKILL'), ended };
}
