// A text that is too long for one result, in parts.
import { expect, test } from 'vitest';
import type { Block } from '../../../../app/protocol/index.ts';
import { chosenPart, partsOf } from '../../../../app/tools/built-in/parts.ts';

const block = (text: string, kind = 'paragraph', more: object = {}) => ({ kind, text, ...more }) as unknown as Block;
/** With the two line ends behind it, of this many characters. */
const long = (characters: number, letter = 'x') => block(letter.repeat(characters - 2));

test('headings, entries and rows are written as such', () => {
  const blocks = [block('Top', 'heading'), block('Below', 'heading', { level: 3 }), block('One', 'item')];
  expect(partsOf([...blocks, block('a | b', 'row'), block('Words.')])).toEqual([
    '# Top\n\n### Below\n\n- One\na | b\nWords.',
  ]);
});

test('a part has eight thousand characters at most, and begins with a block where it can', () => {
  expect(partsOf([long(4000, 'a'), long(4000, 'b')])).toHaveLength(1);
  expect(partsOf([long(4000, 'a'), long(4001, 'b')]).map((part) => part[0])).toEqual(['a', 'b']);
  expect(partsOf([long(8000)])).toHaveLength(1);
  expect(partsOf([block('y'.repeat(20_000))]).map(({ length }) => length)).toEqual([8000, 8000, 4000]);
  expect(partsOf([block('First.'), block('y'.repeat(9000))]).map(({ length }) => length)).toEqual([6, 8000, 1000]);
  expect(partsOf([])).toEqual([]);
  expect(partsOf([block('  ')])).toEqual([]);
});

test('the first part unless another is asked for; the last is the last', () => {
  const parts = ['one', 'two', 'three'];
  expect(chosenPart(parts, undefined, 'Book')).toBe('Book, part 1 of 3\n\none');
  expect(chosenPart(parts, '2', 'Book')).toBe('Book, part 2 of 3\n\ntwo');
  expect(chosenPart(parts, 3, 'Book')).toBe('Book, part 3 of 3\n\nthree');
  for (const given of [0, 4, -1, 1.5, 'two'])
    expect(() => chosenPart(parts, given, 'Book')).toThrow(`"part" is ${given}; "Book" has 3 parts`);
});
