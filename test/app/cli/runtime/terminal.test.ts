import { afterEach, expect, test, vi } from 'vitest';
import { bytes, createTerminal, fixed } from '../../../../app/cli/runtime/terminal.ts';
import { tallyOf } from '../../../attack/tally.ts';

afterEach(() => void vi.useRealTimers());

const tally = tallyOf('terminal');

function written(isTTY: boolean) {
  const said = { out: '', note: '' };
  const stream = (name: 'out' | 'note') => ({ isTTY, write: (text: string) => (said[name] += text) });
  return { terminal: createTerminal(stream('out'), stream('note'), { TERM: 'xterm' }), said };
}

const SEQUENCES: Readonly<Record<string, string>> = {
  'a clipboard that is filled': '\x1b]52;c;ZXZpbA==\x07',
  'the same by one sign': '\x9d52;c;ZXZpbA==\x9c',
  'a title': '\x1b]0;evil\x1b\\',
  'a link that says something else': '\x1b]8;;http://evil.example\x1b\\safe\x1b]8;;\x1b\\',
  'a screen that is cleared': '\x1b[2J\x1b[H',
  'a line that is written over': 'refused\rallowed',
  'a line that is taken back': 'rm -rf\b\b\b\b\b\bls',
  'a question to the terminal': '\x1b[6n\x1b[c\x05',
  'a device control string': '\x1bP$q"p\x1b\\',
  'keys that are given a meaning': '\x1b[0;59;"ls";13p',
  'another screen': '\x1b[?1049h\x1bc',
  'a bell without end': '\x07'.repeat(1000),
  'hidden letters': '\x1b[8msecret\x1b[0m',
  'a colour that is not ours': '\x1b[38;5;1m',
  'another alphabet': '\x0e\x1b(0',
  'a pause that looks like a hang': '\x13\x7f',
};

test('what a model writes, or a file says, gives a terminal no orders', async () => {
  for (const [what, text] of Object.entries(SEQUENCES)) {
    await tally.refused(what, () => {
      const { terminal, said } = written(true);
      terminal.out(text);
      terminal.note(text);
      // In two pieces, as tokens come.
      for (const half of [text.slice(0, 1), text.slice(1)]) terminal.out(half);
      for (const shown of [said.out, said.note]) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
        expect(shown.replaceAll(/\x1b\[0m/g, '')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      }
    });
  }
  tally.settle();
});

test('our own colours, ends of lines and tabs stay; a file gets every byte', () => {
  const tty = written(true);
  tty.terminal.out(`${tty.terminal.dim('a')}\tb\r\n${tty.terminal.red('c')}é\n`);
  expect(tty.said.out).toBe('\x1b[2ma\x1b[0m\tb\r\n\x1b[31mc\x1b[0mé\n');
  tty.terminal.out('\x1b[2J');
  expect(tty.said.out.endsWith('\u241b[2J'), 'what was there is to be seen').toBe(true);
  const file = written(false);
  const all = Object.values(SEQUENCES).join('');
  file.terminal.out(all);
  expect(file.said.out).toBe(all);
});

test('a size has a decimal where it says something, and a unit however large it is', () => {
  expect([0, 999, 1000, 2_540_000, 20e9, 20.46e9, 999.6e6, 2.5e15].map(bytes)).toEqual([
    '0 B',
    '999 B',
    '1 kB',
    '2.5 MB',
    '20 GB',
    '20.5 GB',
    '1 GB',
    '2500 TB',
  ]);
});

test('from 999.5 on the next unit is said, and from 100 on no decimal', () => {
  const said = { 999.4: '999 B', 999.5: '1 kB', 99940: '99.9 kB', 100400: '100 kB', 999499: '999 kB' };
  for (const [count, text] of Object.entries(said)) expect(bytes(Number(count))).toBe(text);
  expect([bytes(999_500), bytes(1.26e12), bytes(999.5e12)]).toEqual(['1 MB', '1.3 TB', '1000 TB']);
});

test('a figure that is not known is a dash', () => {
  expect([1.25, 0, -1.06, null, undefined, Number.NaN, Number.POSITIVE_INFINITY].map((one) => fixed(one))).toEqual([
    '1.3',
    '0.0',
    '-1.1',
    ...Array(4).fill('–'),
  ]);
  expect(fixed(1.25, 0)).toBe('1');
});

test('a bar is drawn as far as it is, never further than its end, not oftener than somebody can see', () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const { terminal, said } = written(true);
  const bar = terminal.progress('reading');
  const drawn = (done: number, total: number, afterMs = 80) => {
    said.note = '';
    vi.advanceTimersByTime(afterMs);
    bar.show(done, total);
    return said.note.replace('\r\x1b[K', '');
  };
  expect(drawn(0, 0)).toBe('');
  expect(drawn(0, -1)).toBe('');
  bar.end();
  expect(said.note, 'nothing was drawn').toBe('');
  expect(drawn(1, 4)).toBe(`reading ${'█'.repeat(7)}${'░'.repeat(21)} 25 %`);
  expect(drawn(3, 4, 79)).toBe('');
  expect(drawn(199, 200, 1)).toBe(`reading ${'█'.repeat(28)} 99 %`);
  expect(drawn(5, 4)).toBe(`reading ${'█'.repeat(28)} 100 %`);
  said.note = '';
  bar.end();
  bar.end();
  expect(said.note).toBe('\r\x1b[K');
});

test.each([
  [true, true, {}, true],
  [true, false, {}, false],
  [false, true, {}, false],
  [true, true, { NO_COLOR: '1' }, false],
  [true, true, { NO_COLOR: '' }, true],
  [true, true, { TERM: 'dumb' }, false],
])('stdout %s, stderr %s, %o: coloured %s', (out, note, env, coloured) => {
  const stream = (isTTY: boolean) => ({ isTTY, write: () => true });
  const { dim, bold, red, green } = createTerminal(stream(out), stream(note), env);
  const paint = (code: number) => (coloured ? `\x1b[${code}mx\x1b[0m` : 'x');
  expect([dim, bold, red, green].map((colour) => colour('x'))).toEqual([2, 1, 31, 32].map(paint));
});
