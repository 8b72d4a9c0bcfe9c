/** Output of commands. Results go to stdout, messages to stderr. */
export type Terminal = {
  readonly out: (text: string) => void;
  readonly note: (text: string) => void;
  /** Colours only on a terminal, and not under NO_COLOR. */
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  progress(title: string): Progress;
};
export type Progress = { show(done: number, total: number): void; end(): void };

type Stream = { write(text: string): unknown; isTTY?: boolean; columns?: number };
const WIDTH = 28;
const REDRAW_MS = 80;

export function createTerminal(
  stdout: Stream = process.stdout,
  stderr: Stream = process.stderr,
  env: NodeJS.ProcessEnv = process.env,
): Terminal {
  const coloured = stdout.isTTY === true && stderr.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint = (code: number) => (text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text);
  const shown = (stream: Stream, text: string) => stream.write(stream.isTTY ? harmless(text) : text);
  return {
    out: (text) => shown(stdout, text),
    note: (text) => shown(stderr, `${text}\n`),
    dim: paint(2),
    bold: paint(1),
    red: paint(31),
    green: paint(32),
    progress: (title) => (stderr.isTTY ? bar(stderr, title) : silent),
  };
}

/** Control characters other than tabs, line ends and our own colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /\x1b\[(?:0|1|2|31|32)m|\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Removes escape sequences from untrusted text, so that it cannot rewrite lines, fill the clipboard or query the terminal.
 *  Output to a file is left unchanged. */
const harmless = (text: string): string =>
  text.replace(CONTROL, (found) => {
    if (found.length > 1) return found;
    const code = found.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd';
  });

const silent: Progress = { show() {}, end() {} };

function bar(stream: Stream, title: string): Progress {
  let last = 0;
  let drawn = false;
  return {
    show(done, total) {
      const now = Date.now();
      if (now - last < REDRAW_MS || total <= 0) return;
      last = now;
      drawn = true;
      const filled = Math.round((WIDTH * Math.min(done, total)) / total);
      const percent = Math.floor((100 * Math.min(done, total)) / total);
      stream.write(`\r\x1b[K${title} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${percent} %`);
    },
    end() {
      if (drawn) stream.write('\r\x1b[K');
      drawn = false;
    },
  };
}

/** 20 GB and 20.5 GB, never 20.0 GB. */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`;
}

export const fixed = (value: number | null | undefined, digits = 1): string =>
  value === null || value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);
