// Which parts of a passage can be an answer, and what belongs to one.
import { expect, test } from 'vitest';
import {
  answersIn,
  columnsOf,
  headOf,
  isContents,
  sectionOf,
  withWhatFollows,
} from '../../../../app/documents/search/answer-candidates.ts';

const listed = ['Rent ........ 4', 'Deposit ...... 7', 'Keys ........ 12'];
const said = ['The rent is 840 euros.', 'It is due on the third.', 'Keys are handed over at noon.'];

test('a passage of which most is a table of contents is one, a text with a few such lines is not', () => {
  expect(isContents(listed.join('\n'))).toBe(true);
  expect(isContents([...listed, ...said.slice(0, 2)].join('\n'))).toBe(true);
  expect(isContents([...listed, ...said].join('\n'))).toBe(false);
  expect(isContents([...said, listed[0]].join('\n'))).toBe(false);
  expect(isContents(listed.slice(0, 2).join('\n'))).toBe(false);
  expect(isContents(listed.join(' '))).toBe(true);
  expect(isContents('matrix, 12, 40, 41\nnorm, 3, 9\nrank, 7, 8-11')).toBe(true);
});

const answers = (text: string, overlap = 0) => answersIn(text, overlap).map((range) => text.slice(...range));

test.each([
  [
    'sentences',
    'The rent is 840 euros. It is due on the third.',
    ['The rent is 840 euros.', 'It is due on the third.'],
  ],
  ['no questions', 'How much is the rent? It is 840 euros.', ['It is 840 euros.']],
  ['no lines of contents', 'The rent is due.\nRent in the house ........ 4', ['The rent is due.']],
  [
    'no lines of contents whose page is a cell',
    'The rent is due.\nRent | in the house .......... | 4',
    ['The rent is due.'],
  ],
  [
    'rows with dots in them',
    'The rent is due.\nRent ..... 4 | in the house',
    ['The rent is due.', 'Rent ..... 4 | in the house'],
  ],
  [
    'no heading',
    'The rent of flats\n\nIt is 840 euros.\n\nThe pets of tenants\n\nCats may be kept.',
    ['It is 840 euros.', 'Cats may be kept.'],
  ],
  ['no more than two words', 'So be it.\nAh well.', ['So be it.']],
  ['short lines where there is nothing else', 'Rent\n\nTom Ray\nAnn Lee', ['Tom Ray', 'Ann Lee']],
  ['six characters of a script without spaces', '日本語の文。日本語の文章。', ['日本語の文章。']],
])('%s', (_, text, expected) => expect(answers(text)).toEqual(expected));

test('what the passage before ended with is no answer again, unless there is nothing else', () => {
  const text = 'The rent is 840 euros. It is due on the third.';
  expect(answers(text, 22)).toEqual(['It is due on the third.']);
  expect(answers(text, 21)).toHaveLength(2);
  expect(answers(text, text.length)).toHaveLength(2);
});

test('a heading has 120 characters at most', () => {
  const of = (length: number) => answers(`${'word '.repeat(40).slice(0, length - 1)}x\n\nIt is 840 euros.`).length;
  expect(of(120)).toBe(1);
  expect(of(121)).toBe(2);
});

test('the heading of a passage is its first line, if that ends like one', () => {
  expect(headOf('Rent\n\nIt is due.')).toBe('Rent');
  expect(headOf('It is due.\n\nSoon.')).toBe('');
  expect(headOf('Rent\nIt is due.')).toBe('');
});

test('the section of a statement is the last heading above it', () => {
  const text = 'Lease\n\nRent\n\nIt is due.\n\nIt is 840 euros.\n\nPets\n\nCats may be kept.';
  expect(sectionOf(text, text.indexOf('Cats'))).toBe('Pets');
  expect(sectionOf(text, text.indexOf('It is 840'))).toBe('Rent');
  expect(sectionOf(text, text.indexOf('Rent'))).toBe('Lease');
  expect(sectionOf(text, 0)).toBe('');
  expect(sectionOf('two\nlines\n\nIt is due.', 11)).toBe('');
});

test('the columns of a row are the first row of its block', () => {
  const text = 'Prices | of 2031\n\nPart | Price\nRotor | 410\nTail | 99\n\nNo table';
  expect(columnsOf(text, text.indexOf('Tail'))).toBe('Part | Price');
  expect(columnsOf(text, text.indexOf('Part'))).toBe('');
  expect(columnsOf(text, text.indexOf('No'))).toBe('');
});

test('a sentence that ends in a colon goes on with what it leads to, up to 600 characters', () => {
  const shown = (first: string, rest: string) => {
    const text = `${first}${rest}`;
    return text.slice(...withWhatFollows(text, [0, first.length]));
  };
  expect(shown('Run this:', '\n\nnpm start  \n\nThen wait.')).toBe('Run this:\n\nnpm start');
  expect(shown('Run this:', ' npm start')).toBe('Run this: npm start');
  expect(shown('Run this.', '\n\nnpm start')).toBe('Run this.');
  expect(shown('Run this:', ' \n ')).toBe('Run this:');
  const sentence = (length: number) => `\n${'a'.repeat(length - 2)}.`;
  expect(shown('Run this:', sentence(600))).toHaveLength(609);
  expect(shown('Run this:', sentence(601))).toBe('Run this:');
  expect(shown('Run this:', `\nOne is here. Two is there. ${'B'.repeat(600)}.`)).toBe(
    'Run this:\nOne is here. Two is there.',
  );
});
