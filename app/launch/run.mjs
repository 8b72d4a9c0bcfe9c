// Runs other programs, showing their output as progress, and all of it if they fail.
import { spawn, spawnSync } from 'node:child_process';
import { progressLine, say, sayProblem } from './say.mjs';

const KEPT_LINES = 200;

/** `progress` selects lines that only report progress (default: all are shown as they come). The others are printed
 *  if the program fails.
 *  @returns {Promise<void>} rejects with a sentence that names the command and its exit code. */
export function run(command, args, { cwd, env, progress } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const line = progressLine();
    const lastLines = [];
    const take = (chunk) => {
      for (const text of String(chunk).split(/[\r\n]+/)) {
        if (text.trim() === '') continue;
        const shown = progress ? progress(text) : text;
        if (shown) line.show(shown);
        if (progress && shown) continue;
        lastLines.push(text);
        if (lastLines.length > KEPT_LINES) lastLines.shift();
      }
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => {
      line.end();
      reject(new Error(`[${command}] could not be started: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      line.end();
      if (code === 0) return resolve();
      for (const text of lastLines) say(`  ${text}`);
      reject(new Error(`[${[command, ...args].join(' ')}] ended with ${signal ?? code}`));
    });
  });
}

/** Runs a program in place of this one, with its terminal and exit code. */
export function become(command, args, { cwd, env } = {}) {
  const child = spawn(command, args, { cwd, env, stdio: 'inherit' });
  // Ctrl-C reaches the child through the terminal; this process only waits for it.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => {
    sayProblem(`[${command}] ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
  return child;
}

/** The first line a program prints, or null if there is no such program. */
export function firstLine(command, args) {
  const { status, stdout, error } = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
  return error || status !== 0 ? null : (stdout.trim().split('\n')[0] ?? '');
}

export const works = (command, args = ['--version']) => firstLine(command, args) !== null;
