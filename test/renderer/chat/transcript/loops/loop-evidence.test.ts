import { expect, test } from 'vitest';
import type { LoopEvidence } from '../../../../../app/protocol/index.ts';
import { quoteOf, roundTime, savedTime, stripOf } from '../../../../../renderer/chat/transcript/loops/loop-evidence.ts';

const evidence: LoopEvidence = {
  where: 'thinking',
  kind: 'exact',
  text: '\n But maybe  Cem could swap. ',
  repeats: 7,
  periodTokens: 41,
  startToken: 1373,
  endToken: 1659,
  spentTokens: 246,
  savedTokens: 6532,
  times: 1,
};

test('the strip adds up: what is new and what is repeated is what was written', () => {
  const { fresh, repeated, saved, marks } = stripOf(evidence);
  expect(fresh + repeated).toBe(evidence.endToken + 1);
  expect({ fresh, saved, marks }).toEqual({ fresh: 1414, saved: 6532, marks: 6 });
});

test('thousands of copies are drawn as a few marks', () => {
  expect(stripOf({ ...evidence, repeats: 4000 }).marks).toBe(24);
});

test('the time saved follows the speed so far, and is not guessed without one', () => {
  expect(savedTime(evidence, 36_000)).toBeCloseTo((6532 * 36_000) / 1660);
  expect(savedTime(evidence, null)).toBeNull();
  expect(savedTime(evidence, 0)).toBeNull();
});

test('the quote is one line; blank text is empty', () => {
  expect(quoteOf(evidence)).toBe('But maybe Cem could swap.');
  expect(quoteOf({ ...evidence, text: '\n\n' })).toBe('');
});

test('entries of a list are quoted as they stand, line by line', () => {
  expect(quoteOf({ ...evidence, kind: 'entries', text: '12. Dubai\n13. Lima\n' })).toBe('12. Dubai\n13. Lima');
});

test.each([
  ['if Dana is at 3. Let me check Bo again. So', 'Let me check Bo again. So if Dana is at 3.'],
  ['and again and again', 'and again and again'],
  ['Either way it holds. and so', 'Either way it holds. and so'],
  ['3. the third point. Then', '3. the third point. Then'],
  ['said “no.” Then she left and', 'Then she left and said “no.”'],
])('%j goes round, so it is shown from where a sentence begins', (text, shown) => {
  expect(quoteOf({ ...evidence, text })).toBe(shown);
});

test.each([
  [300, 1000],
  [7400, 7000],
  [23_400, 25_000],
  [143_200, 150_000],
  [47 * 60_000 + 13_000, 45 * 60_000],
  [3 * 3_600_000 + 61_000, 3 * 3_600_000],
])('a guess of %i ms is told as %i', (ms, told) => {
  expect(roundTime(ms)).toBe(told);
});
