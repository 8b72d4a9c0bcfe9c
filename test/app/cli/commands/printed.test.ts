// What commands that work with one model print for people, of the starter model.
import { existsSync, mkdirSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../../../app/cli/runtime/safetensors.ts';
import { longhand } from '../../../support/core/cli.ts';
import { newFolder, root } from '../../../support/core/core.ts';

vi.setConfig({ testTimeout: 60_000 });

const ran = (here: string, ...args: string[]) =>
  longhand(here, args).then(({ code, out, err }) => [code, out, err] as const);
const rows = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ {2,}/));

test('tokenize prints ids; around a text with --special or of an encoder; special tokens unless --plain', async () => {
  const here = newFolder();
  const ids = async (...args: string[]) => (await ran(here, 'tokenize', ...args))[1];
  expect(await ids('--text', 'Hello <|im_end|>')).toBe('1141,220,8182\n');
  expect(await ids('--text', '')).toBe('\n');
  expect(await ids()).toBe('\n');
  const encoder = ['--model', join(root, 'test/golden/tokenizers/wordpiece')];
  expect(await ids(...encoder, '--text', 'a')).toBe('2,31,3\n');
  const { out } = await longhand(here, ['tokenize', ...encoder, '--text', 'a', '--json']);
  expect(JSON.parse(out)).toEqual({ ids: [2, 31, 3], pieces: ['[CLS]', ' a', '[SEP]'] });
});

test('inspect prints family, layers, sizes and what it takes in memory', async () => {
  const [code, out] = await ran(newFolder(), 'inspect', 'starter', '--context', '1000', '--tensors');
  const [head, tensors] = [rows(out).slice(0, 8), rows(out).slice(8)];
  expect(code).toBe(0);
  expect(head).toEqual([
    ['family', 'qwen3_5 (safetensors), with MTP head'],
    ['supported', 'yes'],
    ['layers', '8: 6 gated-delta, 2 attention'],
    ['sizes', 'hidden 256, vocabulary 8192, context 8192'],
    ['parameters', '8.9 million'],
    ['types', 'bf16 17.9 MB, f32 3.1 kB'],
    ['per token', '17.9 MB of 17.9 MB read'],
    ['memory', '20.7 MB at 1000 tokens: weights 17.9 MB, states 823 kB, context 2 MB'],
  ]);
  expect(tensors.length).toBeGreaterThan(80);
  for (const row of tensors)
    expect(row).toEqual([
      expect.any(String),
      expect.stringMatching(/^(bf16|f32)$/i),
      expect.stringMatching(/^\[[\d, ]+\]$/),
    ]);
});

test('devices and doctor print a line each, with a mark and what is to be known of it', async () => {
  const here = newFolder();
  const devices = rows((await ran(here, 'devices'))[1]);
  const cpu = devices.find(([, id]) => id === 'cpu');
  expect(cpu).toEqual([
    '✓',
    'cpu',
    expect.stringMatching(/\S/),
    expect.stringMatching(/^\S.*, \S+ [GT]B shared with the system$/),
  ]);
  // Of one that cannot be used it says why.
  for (const row of devices.filter(([first]) => first !== '✓'))
    expect([row[0], row.at(-1)]).toEqual(['–', expect.stringMatching(/\w \w/)]);

  const home = newFolder();
  vi.stubEnv('XDG_DATA_HOME', home);
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const [code, out] = await ran(here, 'doctor');
  const found = rows(out);
  expect(code).toBe(0);
  expect(found.map(([mark, what]) => `${mark} ${what}`)).toEqual(
    ['node', 'memory', 'engine', 'devices', 'built-in model', 'data folder'].map((what) => `✓ ${what}`),
  );
  const size = '\\S+ [kMGT]?B';
  expect(found[0]?.[2]).toBe(`${process.version} on ${process.platform} ${process.arch} ${release()}`);
  expect(found[1]?.[2]).toMatch(new RegExp(`^${size} of ${size} free, \\d+ threads$`));
  expect(found[3]?.[2]).toMatch(/^cpu \(.+\)|, cpu \(.+\)/);
  expect(found[4]?.[2]).toBe('loads and writes 4 tokens');
  const [, folder = ''] =
    new RegExp(`^(.*) \\(created at the first start\\), ${size} free$`).exec(found[5]?.[2] ?? '') ?? [];
  expect([folder.startsWith(home), existsSync(folder)]).toEqual([true, false]);
  mkdirSync(folder, { recursive: true });
  expect(rows((await ran(here, 'doctor'))[1])[5]?.[2]).toMatch(new RegExp(`^${folder}, ${size} free$`));

  const broken = await longhand(here, ['doctor'], undefined, false, '/none.node');
  expect(broken.code).toBe(1);
  expect(rows(broken.out).map(([mark]) => mark)).toEqual(['✓', '✓', '✗', '✗', '✗', '✓']);
});

test('logits and trace say what they wrote, and write it', async () => {
  const here = newFolder();
  const file = join(here, 'l.safetensors');
  const asked = ['logits', '--model', 'starter', '--tokens', '1,2', '--out', 'l.safetensors', '--device', 'cpu'];
  expect(await ran(here, ...asked)).toEqual([0, `${file}: logits [1, 8192], exact path on cpu\n`, '']);
  expect(await ran(here, ...asked, '--all', '--precision', 'fast')).toEqual([
    0,
    `${file}: logits [2, 8192], fast path on cpu\n`,
    '',
  ]);
  expect(readSafetensors(file)[0]?.shape).toEqual([2, 8192]);

  const [, out] = await ran(here, 'trace', 'starter', '--prompt', 'Hello', '--out', 't.safetensors', '--device', 'cpu');
  const layers = readSafetensors(join(here, 't.safetensors'));
  expect(layers).toHaveLength(10);
  expect(rows(out)[0]).toEqual(['layer', 'shape', 'mean', 'std']);
  expect(
    rows(out)
      .slice(1)
      .map(([name, shape]) => [name, shape]),
  ).toEqual(layers.map(({ name, shape }) => [name, `[${shape.join(', ')}]`]));
  expect(await ran(here, 'trace', 'starter')).toEqual([2, '', '[trace] a model needs --tokens or --prompt\n']);
});

test('trace compares what has the same name and size, and says where there is nothing to compare', async () => {
  const here = newFolder();
  const write = (name: string, ...tensors: [string, number[]][]) =>
    writeSafetensors(
      join(here, name),
      tensors.map(([tensor, data]) => ({ name: tensor, shape: [1, data.length], data: Float32Array.from(data) })),
    );
  await write('a.safetensors', ['one', [1, 2]], ['two', [3, 3]], ['three', [0, 4]]);
  await write('b.safetensors', ['three', [0, 4.5]], ['two', [3]]);
  const [, out] = await ran(here, 'trace', 'a.safetensors', 'b.safetensors');
  expect(rows(out)).toEqual([
    ['layer', 'shape', 'mean', 'std', 'difference'],
    ['one', '[1, 2]', '1.500e+0', '5.000e-1', '–'],
    ['two', '[1, 2]', '3.000e+0', '0.000e+0', '–'],
    ['three', '[1, 2]', '2.000e+0', '2.000e+0', '5.000e-1'],
  ]);
  const { out: json } = await longhand(here, ['trace', 'a.safetensors', 'b.safetensors', '--json']);
  expect(JSON.parse(json)).toMatchObject({
    largest_difference: 0.5,
    layers: [{ difference: null }, { difference: null }, {}],
  });
});

test('generate prints thinking, an empty line and the answer, and beside it how fast it was and what was read', async () => {
  const here = newFolder();
  const asked = ['generate', '--model', 'starter', '--prompt', 'What is 47 + 85?', '--think', '--temperature', '0'];
  const [, out, err] = await ran(here, ...asked, '--think-limit', '500', '--cache-report', '--device', 'cpu');
  expect(out).toMatch(/^\S[\s\S]*\n\n47 \+ 85 = 132\.\n$/);
  const lines = err.trimEnd().split('\n');
  expect(lines.slice(0, 2)).toEqual(['thinking, up to 500 tokens', 'tokens  count']);
  expect(lines[2]).toMatch(/^1-\d+ +\d+ {2}read$/);
  expect(lines.slice(3)).toEqual([expect.stringMatching(/^\d+ tokens, stop, \d+\.\d tokens\/s, first after \d+ ms$/)]);

  const both = await ran(here, 'generate', '--model', 'starter', '--tokens', '1,2', '--prompt', 'Hello');
  expect(both).toEqual([2, '', '[generate] give either --prompt or --tokens\n']);
  const two = await ran(here, ...asked, '--regex', 'a', '--schema', 'none.json');
  expect(two).toEqual([2, '', '[generate] give one of --schema, --grammar and --regex\n']);
  const empty = await ran(here, 'generate', '--model', 'starter', '--raw', '--prompt', '');
  expect(empty).toEqual([2, '', '[generate] an empty --raw prompt has no token to continue from\n']);
  const bare = join(root, 'test/golden/qwen3/qk_norm_tied');
  const ids = await ran(
    here,
    'generate',
    '--model',
    bare,
    '--tokens',
    '1,2',
    '--temperature',
    '0',
    '--max-tokens',
    '3',
  );
  expect(ids[1]).toMatch(/^\d+,\d+,\d+\n$/);
});

test('an encoder prints its vector, and what of a text that is too long it has read', async () => {
  const here = newFolder();
  const encoder = ['embed', '--model', join(root, 'resources/encoder')];
  const [code, out, err] = await ran(here, ...encoder, '--text', 'Hello');
  expect([code, err]).toEqual([0, '']);
  const numbers = out.trimEnd().split(' ').map(Number);
  expect(numbers).toHaveLength(384);
  expect(Math.hypot(...numbers)).toBeCloseTo(1, 4);
  for (const word of out.trimEnd().split(' ')) expect(word.replace(/^-?0\.0*|e-\d+$|\.|-/g, '')).toHaveLength(6);

  // 512 tokens fit, of which two stand around the text.
  const cut = await longhand(here, [...encoder, '--text', 'word '.repeat(511), '--json']);
  expect(cut.err).toBe('[embed] the text has 511 tokens, but only 510 fit; the rest was left out\n');
  expect(JSON.parse(cut.out)).toMatchObject({ tokens: 512, truncated: true });
});

test('bench prints the machine, a table and the memory, and refuses what nothing can be measured with', async () => {
  const here = newFolder();
  const sizes = ['--prompt-tokens', '8', '--gen-tokens', '4', '--runs', '2', '--device', 'cpu'];
  const addon = join(root, 'test/support/processes/timed-addon.cjs');
  const { code, out } = await longhand(
    here,
    ['bench', '--model', 'starter', ...sizes, '--profile'],
    undefined,
    false,
    addon,
  );
  expect(code).toBe(0);
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toBe('starter on cpu, fast path, 2 runs of 8 + 4 tokens');
  expect(lines[1]).toMatch(/^\S.*, \d+ cores, load \d+\.\d\d$/);
  expect(lines.slice(2, 6).map((row) => row.trim().split(/ {2,}/))).toEqual([
    [''],
    ['median', 'least', 'most'],
    ['prefill tokens/s', '8.0', '8.0', '8.0'],
    ['decode tokens/s', '3.0', '3.0', '3.0'],
  ]);
  expect(lines[6]).toMatch(/^first token ms +\d+\.\d +\d+\.\d +\d+\.\d$/);
  expect(lines[8]).toMatch(/^peak memory \S+ [MG]B$/);
  expect(lines.at(-1)).toBe('this device does not report kernel times');
  const least = '[bench] --prompt-tokens must be at least 1, --gen-tokens at least 2, --runs at least 1\n';
  for (const wrong of [
    ['--prompt-tokens', '0'],
    ['--gen-tokens', '1'],
    ['--runs', '0'],
  ])
    expect(await ran(here, 'bench', '--model', 'starter', ...sizes, ...wrong)).toEqual([2, '', least]);
});
