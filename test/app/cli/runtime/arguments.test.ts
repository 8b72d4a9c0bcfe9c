import { describe, expect, test } from 'vitest';
import { generate } from '../../../../app/cli/commands/generate.ts';
import { inspect } from '../../../../app/cli/commands/inspect.ts';
import { helpOf, parse, table } from '../../../../app/cli/runtime/arguments.ts';
import { createTerminal } from '../../../../app/cli/runtime/terminal.ts';

const asked = (...argv: string[]) => parse(generate, argv);

test('every kind of flag', () => {
  const line = [
    '--model',
    'm',
    '--tokens',
    '1, 2,3',
    '--temperature',
    '0.5',
    '--seed=7',
    '--stop',
    'a',
    '--stop',
    'b',
    '--think',
    '--json',
  ];
  expect(asked(...line)).toEqual({
    values: { model: 'm', tokens: [1, 2, 3], temperature: 0.5, seed: 7, stop: ['a', 'b'], think: true },
    words: [],
    json: true,
    help: false,
  });
});

describe('is refused with what is allowed', () => {
  test.each([
    [['--tokens', '1,x'], '[--tokens] got "1,x", expected a list of token ids'],
    [['--tokens', ''], '[--tokens] got ""'],
    [['--tokens', '-1'], '[--tokens] got "-1"'],
    [['--temperature', 'hot'], '[--temperature] got "hot", expected a number'],
    [['--temperature', ' '], 'expected a number'],
    [['--seed', '-1'], '[--seed] got "-1", expected a whole number, 0 or more'],
    [['--max-tokens', '1.5'], 'expected a whole number'],
    [['--precision', 'slow'], '[--precision] got "slow", expected exact or fast'],
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['--model'], "'--model <value>' argument missing"],
    [['word'], '[generate] expected 0 arguments, got 1: word'],
  ])('%j', (argv, message) => {
    expect(() => asked(...argv)).toThrow(message);
  });
  test('a missing word', () => {
    expect(() => parse(inspect, [])).toThrow('usage: longhand inspect PATH');
  });
});

test('help names every flag', () => {
  const help = helpOf(generate);
  for (const flag of Object.keys(generate.flags)) expect(help).toContain(`--${flag}`);
});

test('flags of older versions are understood, and help names only those of today', () => {
  expect(parse(generate, ['--prompt', 'x', '--path', 'fast', '--standin']).values).toEqual({
    prompt: 'x',
    precision: 'fast',
    'metal-emulator': true,
  });
  expect(() => parse(generate, ['--path', 'slow'])).toThrow('[--path] got "slow", expected exact or fast');
  expect(helpOf(generate)).not.toMatch(/--(path|standin)\b/);
});

test('the columns of a table begin at the same place, whichever row is the longest', () => {
  const rows = [
    ['model', 'size'],
    ['a model with a long name', '4 GB'],
    ['b', '12 GB'],
  ];
  const begins = table(rows)
    .split('\n')
    .map((line, at) => line.indexOf(rows[at]?.[1] ?? ''));
  expect(begins).toEqual([26, 26, 26]);
});

describe('a terminal', () => {
  const stream = (isTTY: boolean) => {
    const written: string[] = [];
    return { written, isTTY, write: (text: string) => written.push(text) };
  };
  test('is coloured, a pipe and NO_COLOR are not', () => {
    expect(createTerminal(stream(true), stream(true), {}).red('x')).toBe('\x1b[31mx\x1b[0m');
    expect(createTerminal(stream(false), stream(true), {}).red('x')).toBe('x');
    expect(createTerminal(stream(true), stream(true), { NO_COLOR: '1' }).red('x')).toBe('x');
  });
  test('has a bar that goes away; a pipe has none', () => {
    const errors = stream(true);
    const bar = createTerminal(stream(true), errors, {}).progress('loading');
    bar.show(1, 2);
    bar.end();
    expect(errors.written[0]).toMatch(/loading █+░+ 50 %/);
    expect(errors.written.at(-1)).toBe('\r\x1b[K');
    const pipe = stream(false);
    createTerminal(stream(false), pipe, {}).progress('loading').show(1, 2);
    expect(pipe.written).toEqual([]);
  });
});
