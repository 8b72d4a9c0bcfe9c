// In which encoding a text is read, and what is no text.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeText, readText } from '../../../../../app/documents/parse/formats/decode.ts';
import { newFolder } from '../../../../support/core/core.ts';

function decoded(bytes: Uint8Array) {
  const guesses: unknown[] = [];
  const text = decodeText(bytes, 'a.txt', {
    add: () => {},
    progress: () => {},
    notice: (_, details) => guesses.push(details?.encoding),
  });
  return [text, ...guesses];
}
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

test.each<[string, Uint8Array, string[]]>([
  ['line ends of every kind', Buffer.from('a\r\nb\rc\n'), ['a\nb\nc\n']],
  [
    'UTF-16 without a mark, little end first',
    utf16('Käse aus Köln, ganz viel'),
    ['Käse aus Köln, ganz viel', 'utf-16le'],
  ],
  [
    'UTF-16 without a mark, big end first',
    utf16('Käse aus Köln, ganz viel').swap16(),
    ['Käse aus Köln, ganz viel', 'utf-16be'],
  ],
  [
    'two bytes of a mark of three',
    Buffer.from([0xef, 0xbb, 0x41]),
    [expect.any(String) as unknown as string, expect.any(String) as unknown as string],
  ],
])('%s', (_, bytes, expected) => expect(decoded(bytes)).toEqual(expected));

test('a zero in the first 64 KB says that it is no text, one further back does not', () => {
  const text = (at: number) => Buffer.from(`${'a'.repeat(at)}\0b`);
  expect(() => decoded(text(65_535))).toThrow('[documents] a.txt is not a text');
  expect(decoded(text(65_536))).toEqual([text(65_536).toString()]);
});

test('texts of 64 MB are read, larger ones are refused with their size', async () => {
  const path = join(newFolder(), 'a.txt');
  writeFileSync(path, 'a');
  const sink = { add: () => {}, progress: () => {}, notice: () => {} };
  const read = (bytes: number) => readText({ path, fileName: 'a.txt', bytes, password: null, ocr: false }, sink);
  expect(await read(64 * 1024 * 1024)).toBe('a');
  await expect(read(64 * 1024 * 1024 + 1)).rejects.toMatchObject({
    code: 'too-large',
    message: '[documents] a.txt has 67108865 bytes, at most 67108864 are read as text',
  });
});
