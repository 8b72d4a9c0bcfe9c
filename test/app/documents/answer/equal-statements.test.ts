// Which statements are one answer, and which of them stands for all.
import { expect, test } from 'vitest';
import { mergeEqual } from '../../../../app/documents/answer/equal-statements.ts';
import type { Scored } from '../../../../app/documents/answer/scored-statement.ts';

let passages = 0;
const said = (text: string, documentId: string, changedAt: number, score: number) =>
  ({
    passage: { number: ++passages, documentId, changedAt, text },
    statement: [0, text.length],
    score,
  }) as unknown as Scored;
const shown = (scored: readonly Scored[]) =>
  mergeEqual(scored).map(({ passage, score, also }) => [
    passage.text,
    passage.documentId,
    score,
    (also ?? []).map(({ documentId }) => documentId),
  ]);

// Twenty-four letters, the fewest of which a version is known again.
const rent = (sum: number) => `The monthly rents of the flat ${sum}`;
const dues = (sum: number) => `The annual dues of a club ${sum}`;

test('the same words are one answer, with the best score, however they are set', () => {
  expect(
    shown([said('It is due, soon.', 'a', 1, 2), said('It  is DUE, soon.', 'a', 1, 5), said('It is new.', 'a', 1, 1)]),
  ).toEqual([
    ['It  is DUE, soon.', 'a', 5, []],
    ['It is new.', 'a', 1, []],
  ]);
});

test('of several documents the newest stands for all, and the others are named once', () => {
  const all = [
    said('It is due.', 'old', 1, 9),
    said('It is due.', 'new', 3, 2),
    said('It is due.', 'old', 1, 4),
    said('It is due.', 'mid', 2, 3),
  ];
  expect(shown(all)).toEqual([['It is due.', 'new', 9, ['old', 'mid']]]);
  expect(shown(all.toReversed())).toEqual([['It is due.', 'new', 9, ['mid', 'old']]]);
});

test('what differs in a number only is a version of it, in another document', () => {
  expect(shown([said(rent(840), 'a', 1, 3), said(rent(910), 'b', 2, 1)])).toEqual([[rent(910), 'b', 3, ['a']]]);
  expect(shown([said(rent(840), 'a', 1, 3), said(rent(910), 'a', 1, 1)])).toHaveLength(2);
  // A third of a document that already says another number stands alone.
  expect(shown([said(rent(1), 'a', 1, 3), said(rent(2), 'b', 2, 1), said(rent(3), 'a', 1, 2)])).toEqual([
    [rent(2), 'b', 3, ['a']],
    [rent(3), 'a', 1 + 1, []],
  ]);
});

test('too few letters are no version', () => {
  expect(dues(1).match(/\p{L}/gu)).toHaveLength(20);
  expect(shown([said(dues(1), 'a', 1, 3), said(dues(2), 'b', 2, 1)])).toHaveLength(2);
  expect(shown([said(`${dues(1)} each`, 'a', 1, 3), said(`${dues(2)} each`, 'b', 2, 1)])).toHaveLength(1);
  expect(shown([said(`${dues(1)} all`, 'a', 1, 3), said(`${dues(2)} all`, 'b', 2, 1)])).toHaveLength(2);
});
