// Which passages are no answer: tables of contents and indexes.
import { expect, test } from 'vitest';
import { isContents } from '../../../../app/documents/search/answer-candidates.ts';

const listed = ['Rent ........ 4', 'Deposit ...... 7', 'Keys ........ 12'];
const said = ['The rent is 840 euros.', 'It is due on the third.', 'Keys are handed over at noon.'];

test('a passage of which most is a table of contents is one, a text with a few such lines is not', () => {
  expect(isContents(listed.join('\n'))).toBe(true);
  expect(isContents([...listed, ...said.slice(0, 2)].join('\n'))).toBe(true);
  expect(isContents([...listed, ...said].join('\n'))).toBe(false);
  expect(isContents([...said, listed[0]].join('\n'))).toBe(false);
});
