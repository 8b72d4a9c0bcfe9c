import { type ChildProcess, spawn } from 'node:child_process';

/** Reads until its input is closed, then kills the process group. */
const WATCH = 'read -r _; kill -s KILL -- "-$1"';

/** Kills a program's process group when this process ends, even by SIGKILL: a program that never reads its input does not
 *  notice, and after SIGKILL nobody is left to end it. Returns a function to call once the program has ended, before its pid is
 *  reused. */
export function endWithUs({ pid }: ChildProcess): () => void {
  if (pid === undefined) return () => {};
  // In its own session, so that signals from the terminal do not reach it first.
  const watch = spawn('/bin/sh', ['-c', WATCH, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
    detached: true,
  });
  // Without a shell, the program is ended only on orderly shutdown.
  watch.on('error', () => {});
  watch.stdin?.on('error', () => {});
  watch.unref();
  return () => void watch.kill('SIGKILL');
}
