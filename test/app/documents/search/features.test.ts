// What is known of a statement before it is taken for the answer.
import { expect, test } from 'vitest';
import { countedThing, formOf, kindFits } from '../../../../app/documents/search/answer-type.ts';
import {
  chances,
  coverage,
  featuresOf,
  type Question,
  scoreOf,
} from '../../../../app/documents/search/ranking-features.ts';
import { contentWords, stem } from '../../../../app/documents/search/stemming.ts';
import { wordFeatures } from '../../../../app/documents/search/word-features.ts';

const question: Question = {
  text: 'How many keys of Mill Lane does the caretaker keep?',
  words: new Map([
    ['key', 3],
    ['mill', 2],
    ['lane', 2],
    ['caretaker', 1],
  ]),
  unknown: 0.25,
  language: null,
};
const context = 'Lease of Mill Lane';
const text = `The caretaker keeps three keys. ${'Nothing is said here. '.repeat(6)}The keys are new.`;
const range = (said: string) => [text.indexOf(said), text.indexOf(said) + said.length] as const;
const ranks = { words: 2, meaning: 4 };
const similar = { statement: 0.5, passage: 0.25, attribute: 0.125, context: 0.75, average: 0.2, ranks };
const round = (row: readonly number[]) => row.map((value) => Math.round(value * 1000) / 1000);

test('the features of statements that are compared by their words', () => {
  const candidate = { text, context };
  const rows = wordFeatures(question, [
    { candidate, range: range('The caretaker keeps three keys.'), rank: 1 },
    { candidate, range: range('The keys are new.'), rank: 2 },
    { candidate: { text: 'Cats may stay.', context: '' }, range: [0, 14], rank: 4 },
  ]);
  const form = formOf(question.text);
  expect(form).toEqual([0, 0, 0, 0, 1, 0, 0, 0]);
  const log = Math.log1p;
  expect(rows.map(round)).toEqual(
    [
      [0.5, 1, 1, 1, 0.5, 1, 0, 1, 0, 0, 0, 0, 0.25, 1, log(2), 0, 1, log(4), log(4), ...form, 0.125, 0.125],
      [
        0.375,
        0.875,
        0.875,
        1,
        0.5,
        0,
        1 / 3,
        0,
        1,
        0,
        0,
        0,
        0.25,
        1,
        log(1),
        0,
        0.5,
        log(2),
        log(4),
        ...form,
        -0.125,
        -0.125,
      ],
      [0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0.25, -1, 0, 0, 0.25, log(2), log(4), ...form, -1, -1],
    ].map(round),
  );
});

test('the features of a statement that is compared by its meaning too', () => {
  const features = featuresOf(question, { text, context }, range('The caretaker keeps three keys.'), similar);
  expect(round(features)).toEqual([
    1,
    1,
    1,
    0,
    0,
    0.25,
    0.5,
    0.25,
    0.125,
    0.75,
    0.3,
    1,
    0,
    1,
    0.5,
    0.25,
    4,
    2,
    0.5,
    ...formOf(question.text),
  ]);
  const other = featuresOf(
    { ...question, text: 'Who, in Oslo in 2031, weighs keys? I do.' },
    { text, context },
    range('The keys are new.'),
    {
      ...similar,
      ranks: { words: null, meaning: null },
    },
  );
  expect(round(other.slice(0, 6))).toEqual([0.75, 0, -1, 1, 1, 0.25]);
  expect(other.slice(13, 16)).toEqual([1, 0, 0]);
});

test('a share of nothing is none, and a pair of words counts where it stands close together', () => {
  expect(coverage(new Map(), new Set(['a']))).toBe(0);
  expect(
    coverage(
      new Map([
        ['a', 1],
        ['b', 3],
      ]),
      new Set(['b']),
    ),
  ).toBe(0.75);
  const pairs = (said: string) => {
    const words = new Map([
      ['red', 1],
      ['door', 1],
      ['green', 1],
    ]);
    const [row] = wordFeatures({ ...question, words }, [
      { candidate: { text: said, context: '' }, range: [0, said.length], rank: 1 },
    ]);
    return row?.[15];
  };
  expect(pairs('red door green')).toBe(1);
  expect(pairs('red one two three door')).toBe(0.5);
  expect(pairs('red wall roof window floor door')).toBe(0);
});

test('chances are shares, with one for none of them', () => {
  expect(chances([])).toEqual([]);
  expect(chances([0])).toEqual([0.5]);
  expect(round(chances([Math.log(2), 0]))).toEqual([0.5, 0.25]);
  expect(round(chances([1000, 0]))).toEqual([1, 0]);
  expect(scoreOf({ bias: -1, factors: [2, 3], threshold: 0 }, [0.5, 1, 7])).toBe(3);
});

test.each<[string, string, number]>([
  ['What is the phone number?', 'Call 040 123 456.', 1],
  ['What is the phone number?', 'Call us.', -2],
  ['How much does it cost?', 'It is 5 euros.', 1],
  ['How much does it cost?', 'It is red.', -1],
  ['Is it red?', 'It is red.', 0],
])('%s ▸ %s: %i', (asked, sentence, fits) => expect(kindFits(asked, sentence)).toBe(fits));

test('what is counted', () => {
  expect(countedThing('How many of the huts are open?')).toBe('huts are open');
  expect(countedThing('Where are they?')).toBeNull();
});

test.each([
  ['keys key', 'key'],
  ['boxes box', 'box'],
  ['ladies lady', 'lady'],
  ['renting rented rents rent', 'rent'],
  ['stopping stopped stop', 'stop'],
  ['string', 'string'],
  ['quickly quick', 'quick'],
  ['agreement agreed', 'agre'],
  ['bus', 'bus'],
  ["tenant's tenants", 'tenant'],
  ['glasses glass', 'glass'],
  ['2031s', '2031s'],
])('%s: one stem', (words, root) => expect([...new Set(words.split(' ').map(stem))]).toEqual([root]));

test('single letters are no words, figures and letters of other scripts are', () => {
  expect(contentWords('plan b for 7 漢 and x2')).toEqual(['plan', '7', '漢', 'x2']);
});
