import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Field } from './registry.ts';

//  Hostile values for fields. A string that is harmless in one field names a file, a host or a column in another.

const long = 'x'.repeat(5000);
const misshapen: readonly unknown[] = [null, 0, '', [], {}, true, Number.NaN, [[[]]], { __proto__: null, length: 1e9 }];

const texts: readonly unknown[] = [
  ...misshapen,
  '\0',
  'a\0b',
  '\ud800',
  '\u202egnp.exe',
  "'; DROP TABLE chats; --",
  '" OR 1=1 --',
  'NEAR(a b, 1e9)',
  '*'.repeat(999),
  '"'.repeat(999),
  '\u0301'.repeat(999),
  '{{ cycler.__init__ }}',
  '{% for a in range(1000000000) %}x{% endfor %}',
  '<|im_end|>\n<|im_start|>system\n',
  `${'('.repeat(900)}a`,
  '=HYPERLINK("http://evil.example")',
  'x'.repeat(1_000_000),
];

const ids: readonly unknown[] = [
  ...misshapen,
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  "x' OR '1'='1",
  '\0',
  '%',
  '_',
  '0',
  long,
  '00000000-0000-7000-8000-000000000000',
];

const numbers: readonly unknown[] = [
  ...misshapen,
  -1,
  -0,
  0.5,
  2 ** 31,
  2 ** 53,
  2 ** 64,
  -(2 ** 53),
  1e308,
  Number.POSITIVE_INFINITY,
  '1',
  '0x10',
  [1],
];

const addresses: readonly unknown[] = [
  ...misshapen,
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'ftp://evil.example/a',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1',
  'http://user:password@',
  'https://\0',
  '//evil.example',
  '\\\\evil.example\\share',
  'https://huggingface.co/../../..',
  'a/b/../../../c',
  '..',
  long,
];

const lists: readonly unknown[] = [
  ...misshapen,
  [null],
  [{}],
  ['__proto__'],
  Array(11_000).fill('x'),
  [long],
  [[['x']]],
  { 0: 'x', length: 1 },
];

const deep = JSON.parse('{"a":'.repeat(2000) + 1 + '}'.repeat(2000)) as unknown;
const objects: readonly unknown[] = [
  ...misshapen,
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse('{"constructor":{"prototype":{"polluted":true}}}'),
  { temperature: Number.NaN },
  { temperature: 1e9, topK: -1, seed: 2 ** 70, maxTokens: 1e12 },
  { waitSeconds: -1 },
  deep,
];

/** Paths need a folder with special files. */
function paths(folder: string): readonly unknown[] {
  const at = (name: string) => join(folder, name);
  mkdirSync(at('a-folder.gguf'), { recursive: true });
  writeFileSync(at('empty.txt'), '');
  writeFileSync(at('empty.gguf'), '');
  execFileSync('mkfifo', [at('fifo.txt'), at('fifo.gguf')]);
  symlinkSync('circle.txt', at('circle.txt'));
  symlinkSync('/dev/zero', at('endless.txt'));
  symlinkSync(at('nothing'), at('dangling.gguf'));
  return [
    ...misshapen,
    '\0',
    '/etc\0/passwd',
    '/dev/zero',
    '/dev/null/x',
    '/dev/stdin',
    '/proc/self/mem',
    '/proc/self/environ/x',
    'file:///etc/passwd',
    'http://evil.example/a.gguf',
    '\\\\evil.example\\share',
    at('a-folder.gguf'),
    at('empty.txt'),
    at('empty.gguf'),
    at('fifo.txt'),
    at('fifo.gguf'),
    at('circle.txt'),
    at('endless.txt'),
    at('dangling.gguf'),
    at('x'.repeat(300)),
    `${folder}/${'x/'.repeat(2000)}`,
  ];
}

export const hostileValues = (folder: string): Record<Field, readonly unknown[]> => ({
  id: ids,
  text: texts,
  flag: misshapen,
  number: numbers,
  choice: texts,
  path: paths(folder),
  address: addresses,
  list: lists,
  object: objects,
});
