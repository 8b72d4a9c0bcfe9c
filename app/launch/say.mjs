// What setup and start print. Everything goes to stderr: stdout belongs to the command that was asked for.
const terminal = process.stderr.isTTY === true;
const paint = (code, text) => (terminal && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text);

export const say = (text) => process.stderr.write(`${text}\n`);
export const sayStep = (text) => say(`${paint('36', '›')} ${text}`);
export const sayDone = (text) => say(`${paint('32', '✓')} ${text}`);
export const sayProblem = (text) => say(`${paint('31', '✗')} ${text}`);

/** A line that is overwritten; without a terminal, a new line at most every ten seconds. */
export function progressLine() {
  let last = 0;
  let shown = false;
  return {
    show(text) {
      const now = Date.now();
      if (now - last < (terminal ? 80 : 10_000)) return;
      last = now;
      if (!terminal) return say(`  ${text}`);
      shown = true;
      const width = (process.stderr.columns || 80) - 4;
      process.stderr.write(`\r\x1b[K  ${paint('2', text.slice(0, width))}`);
    },
    end() {
      if (shown) process.stderr.write('\r\x1b[K');
      shown = false;
    },
  };
}
