import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf } from '../../../../app/models/sources/json-pieces.ts';

const joined = (text: string) => Object.assign({}, ...[...piecesOf(text)].map((piece) => JSON.parse(piece) as object));

test('the pieces of an object together are the object, whatever its strings hold', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (value) => {
      const { __proto__: _, ...plain } = value as Record<string, unknown>;
      const text = JSON.stringify(plain);
      expect(joined(text)).toEqual(JSON.parse(text));
      expect(joined(` ${JSON.stringify(plain, null, 2)}  `)).toEqual(JSON.parse(text));
    }),
  );
});

test('a large object comes in pieces of bounded length, with quotes, commas and brackets in its names', () => {
  const large = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`"},{[${at}]\\`, { dtype: 'BF16', shape: [at, 2], more: '}],{"' }]),
  );
  const text = JSON.stringify(large);
  const pieces = [...piecesOf(text)];
  expect(pieces.length).toBeGreaterThan(8);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(140_000);
  expect(joined(text)).toEqual(large);
});

test.each([
  '',
  '[]',
  'null',
  '7',
  '{',
  '}',
  '{"a":1',
  '{"a":1}}',
  '{"a"}',
  '{"a":[}',
  '{,}',
  `{"a":[${'1,'.repeat(300_000)}1]}`,
])('what is no object, or an entry with too many values, is refused: %.20s', (text) => {
  expect(() => joined(text)).toThrow(SyntaxError);
});
