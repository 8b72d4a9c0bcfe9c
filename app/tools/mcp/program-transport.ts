import { type ChildProcess, spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { guarded, LonghandError, parseJson } from '../../protocol/index.ts';
import { endWithUs } from './end-with-us.ts';
import { McpError } from './mcp-error.ts';

export type ProgramTransport = Transport & { readonly ended: McpError | null };

/** Bytes of one message, and of all messages within a second. */
const MAX_MESSAGE = 16 * 1024 * 1024;
const MAX_A_SECOND = 64 * 1024 * 1024;
const MAX_MESSAGES_A_SECOND = 20_000;
const PATIENCE_MS = 1500;
/** Characters beside the messages that are read at a time, and how long it is before the next. */
const MAX_NOTES = 16_384;
const NOTES_MS = 50;
/** How long what a program wrote last is waited for once it has ended. */
const LAST_WORDS_MS = 500;

/** Environment variables passed to a program: enough to find programs and files, and no secrets. */
const PASSED = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'USER',
  'XDG_RUNTIME_DIR',
  'TZ',
];
/** Common program directories on macOS and Linux; an app started outside a terminal lacks them in PATH. */
const MORE_PLACES = ['/usr/local/bin', '/opt/homebrew/bin', `${homedir()}/.local/bin`];

/** Messages over a program's standard input and output, one a line. It runs in a process group of its own, which ends as a
 *  whole. The SDK's transport leaves behind what the program has started, and reads lines of any length. */
export function createProgramTransport(
  { command, args, env }: { command: string; args: string[]; env: Record<string, string> },
  log: (line: string) => void,
): ProgramTransport {
  let child: ChildProcess | null = null;
  let ended: McpError | null = null;
  /** Of a line that has not ended, and how long they are. */
  let pieces: string[] = [];
  let held = 0;
  let flow = { since: 0, bytes: 0, messages: 0 };

  const transport: ProgramTransport = {
    get ended() {
      return ended;
    },
    start: () =>
      new Promise((resolve, reject) => {
        const started = spawn(atHome(command), args.map(atHome), {
          env: { ...passed(), ...env },
          cwd: homedir(),
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: true,
        });
        child = started;
        const release = endWithUs(started);
        started.once('spawn', () => resolve());
        started.once(
          'error',
          guarded(console.error, (error: NodeJS.ErrnoException) => {
            ended ??= new McpError('no-program', error.message);
            reject(ended);
            transport.onclose?.();
          }),
        );
        started.once(
          'exit',
          guarded(console.error, (code: number | null, signal: string | null) => {
            const why = new McpError('ended', signal === null ? `exit code ${code}` : `signal ${signal}`);
            killGroup(started, 'SIGKILL');
            release();
            afterLastWords(started, () => {
              ended ??= why;
              transport.onclose?.();
            });
          }),
        );
        started.stdin?.on('error', () => {}); // it has ended, which is told above
        started.stdout?.setEncoding('utf8').on('data', guarded(console.error, read));
        const { stderr } = started;
        stderr?.setEncoding('utf8').on(
          'data',
          guarded(console.error, (text: string) => {
            for (const line of text.slice(-MAX_NOTES).split('\n')) if (line.trim() !== '') log(line);
            if (text.length < MAX_NOTES) return;
            // What is written without end waits, and so does who writes it.
            stderr.pause();
            setTimeout(
              guarded(console.error, () => stderr.resume()),
              NOTES_MS,
            ).unref();
          }),
        );
      }),
    async send(message) {
      if (ended) throw ended;
      child?.stdin?.write(serializeMessage(message));
    },
    async close() {
      const one = child;
      if (!one || one.exitCode !== null || one.signalCode !== null) return;
      ended ??= new McpError('ended', 'it was stopped');
      const gone = new Promise<void>((resolve) => one.once('exit', () => resolve()));
      one.stdin?.end();
      killGroup(one, 'SIGTERM');
      await Promise.race([gone, wait(PATIENCE_MS)]);
      killGroup(one, 'SIGKILL');
      await gone;
    },
  };

  function read(text: string) {
    if (ended) return;
    const now = performance.now();
    if (now - flow.since > 1000) flow = { since: now, bytes: 0, messages: 0 };
    flow.bytes += text.length;
    const lines = linesIn(text);
    flow.messages += lines.length;
    if (held > MAX_MESSAGE || flow.bytes > MAX_A_SECOND || flow.messages > MAX_MESSAGES_A_SECOND) return flooded();
    for (const line of lines) {
      if (line.trim() === '') continue;
      try {
        transport.onmessage?.(JSONRPCMessageSchema.parse(parseJson(line, 'message')));
      } catch (error) {
        if (error instanceof LonghandError && error.code === 'too-large') return flooded();
        // Programs write greetings where only messages belong.
        log(line.slice(0, 500));
      }
    }
  }

  /** Lines that are whole now; what is left waits in its pieces, so that a long one is not gone through for each of them. */
  function linesIn(text: string): string[] {
    const [first = '', ...more] = text.split('\n');
    pieces.push(first);
    held += first.length;
    if (more.length === 0) return [];
    const last = more.pop() ?? '';
    const lines = [pieces.join(''), ...more];
    pieces = [last];
    held = last.length;
    return lines;
  }

  function flooded() {
    pieces = [];
    ended = new McpError('too-much', 'it sent more than a call can ask for');
    if (child) killGroup(child, 'SIGKILL');
  }

  return transport;
}

/** Calls `over` once everything a program wrote before it ended has been read, or after a while: what it has started may have left its
 *  group and hold on to its pipes. */
function afterLastWords(started: ChildProcess, over: () => void) {
  let late: NodeJS.Timeout | null = null;
  const once = guarded(console.error, () => {
    if (late === null) return;
    clearTimeout(late);
    late = null;
    over();
  });
  late = setTimeout(once, LAST_WORDS_MS);
  started.once('close', once);
}

/** No shell reads the command line, so `~` is put into words here. */
const atHome = (word: string): string => (word.startsWith('~/') ? homedir() + word.slice(1) : word);

function passed(): Record<string, string> {
  const known = Object.fromEntries(
    PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name] ?? '']] : [])),
  );
  const places = [...(known.PATH?.split(delimiter) ?? []), ...MORE_PLACES];
  return { ...known, PATH: [...new Set(places)].join(delimiter) };
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // None of it is left.
  }
}
