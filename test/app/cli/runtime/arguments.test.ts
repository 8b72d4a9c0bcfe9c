import { describe, expect, test } from 'vitest';
import { generate } from '../../../../app/cli/commands/generate.ts';
import { inspect } from '../../../../app/cli/commands/inspect.ts';
import { helpOf, overview, parse, table } from '../../../../app/cli/runtime/arguments.ts';
import { command, numericPath } from '../../../../app/cli/runtime/command.ts';
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

test('a refusal begins with the flag, or with the command where no flag is known', () => {
  expect(() => asked('--seed', '-1')).toThrow(/^\[--seed\] got "-1"/);
  expect(() => asked('--nonsense')).toThrow(/^\[generate\] Unknown option '--nonsense'$/);
});

test('a number below zero is a value of the flag before it, and of no other word', () => {
  expect(asked('--temperature', '-1.5').values).toEqual({ temperature: -1.5 });
  expect(() => asked('--temperature=1', '-2')).toThrow("[generate] Unknown option '-2'");
  expect(() => asked('-2')).toThrow("[generate] Unknown option '-2'");
});

test('how many words a command takes is said as it is', () => {
  const takes = (least: number, most: number) =>
    command({ name: 'docs', summary: '', usage: 'WORDS', flags: {}, words: [least, most], run: async () => 0 });
  expect(() => parse(takes(1, 2), [])).toThrow('[docs] expected 1 to 2 arguments, got 0: \nusage: longhand docs WORDS');
  expect(() => parse(takes(1, 2), ['a', 'b', 'c'])).toThrow('[docs] expected 1 to 2 arguments, got 3: a b c\n');
  expect(() => parse(takes(1, 1), ['a', 'b'])).toThrow('[docs] expected 1 arguments, got 2: a b\n');
  for (const words of [['a'], ['a', 'b']]) expect(parse(takes(1, 2), words)).toMatchObject({ words, json: false });
  // Who asks for help need not know how many.
  expect(parse(takes(1, 2), ['--help'])).toMatchObject({ help: true, json: false });
});

test('the overview and the help of a command are tables', () => {
  const two = [inspect, generate].map((one) => ({ ...one, summary: `does ${one.name}` }));
  expect(overview(two)).toBe(
    'longhand COMMAND [--help]\n\n  inspect   does inspect\n  generate  does generate\n\n' +
      'MODEL is a safetensors folder, a .gguf file, "assistant" or "starter".\n',
  );
  expect(helpOf(inspect)).toBe(
    [
      'longhand inspect PATH\n',
      `${inspect.summary}\n`,
      '  --context N  context size for the memory estimate (default: all the model supports)',
      '  --tensors    list every tensor',
      '  --json       print one JSON object to stdout',
      '  --help       show this help\n',
    ].join('\n'),
  );
  expect(table([])).toBe('');
});

test('the precision of a command is one of two, or left to the engine', () => {
  expect(['exact', 'fast', 'slow', undefined].map(numericPath)).toEqual(['exact', 'fast', undefined, undefined]);
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
