import { type ChildProcess, spawn } from 'node:child_process';

/** Reads until whoever holds the other end of its input is gone, then ends the group. */
const WATCH = 'read -r _; kill -s KILL -- "-$1"';

/** Ends a program's process group when this process ends, however that happens: a program that never looks at its input does not
 *  notice, and SIGKILL leaves nobody to end it. Returns what to call when the program has ended, before its number is given to
 *  another. */
export function endWithUs({ pid }: ChildProcess): () => void {
  if (pid === undefined) return () => {};
  // In a session of its own: what a terminal tells us does not reach it first.
  const watch = spawn('/bin/sh', ['-c', WATCH, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
    detached: true,
  });
  // Without a shell the program is ended when we end in good order.
  watch.on('error', () => {});
  watch.stdin?.on('error', () => {});
  watch.unref();
  return () => void watch.kill('SIGKILL');
}
