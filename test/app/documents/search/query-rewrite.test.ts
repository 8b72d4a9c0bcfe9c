// What a follow-up question leaves out is looked for as well.
import { expect, test } from 'vitest';
import { withHistory } from '../../../../app/documents/search/query-rewrite.ts';

test('each word of the question before is carried on once', () => {
  const earlier = [{ question: 'What is the deposit, and who keeps the deposit of the flat?', answer: '' }];
  expect(withHistory('And when is it due?', earlier)).toBe('And when is it due? (deposit keeps flat)');
});

test('a name of the answer is not carried on again as a word of the question', () => {
  const earlier = [{ question: 'Did Ada Lovelace write it?', answer: 'It was written by Ada Lovelace alone.' }];
  expect(withHistory('When was she born?', earlier)).toMatch(/^When was she born\? \(Ada Lovelace\b(?!.*Ada)/);
});
