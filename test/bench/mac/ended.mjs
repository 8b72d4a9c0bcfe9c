import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program to its end: its output and exit code. Never throws; a program that runs too long is killed. */
export function ended(command, args, { cwd, env, minutes = 10 } = {}) {
  const options = {
    cwd,
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
    timeout: minutes * 60_000,
    killSignal: 'SIGKILL',
  };
  return promisify(execFile)(command, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    (error) => ({
      code: error.killed ? 'too long' : (error.code ?? 1),
      said: `${error.stdout ?? ''}${error.stderr ?? ''}` || String(error.message),
    }),
  );
}
