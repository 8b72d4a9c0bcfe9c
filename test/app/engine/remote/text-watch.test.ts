// The loop guard on the text of an engine of others: what it finds does not depend on how the text comes.
import { expect, test } from 'vitest';
import { createTextWatch, type Found } from '../../../../app/engine/remote/text-watch.ts';

const options = { sensitivity: 'balanced', inAnswers: true } as const;
const watch = (shown = { thinking: '', answer: '' }) =>
  createTextWatch(options as never, 'Tell me of the lamp.', shown);
const said = (found: Found | null) =>
  found && [found.finding.degree, found.finding.kind, found.finding.repeats, found.from];

const lead = 'It was late, and nobody in the house had noticed the storm. ';
const turn = (n: number) => `On day ${n} the lamp of the harbour went out and Cem lit it again with a match. `;
const same = lead + turn(7).repeat(30);
/** First it counts, which may be wanted, then it says the same. */
const circling = lead + Array.from({ length: 30 }, (_, n) => turn(n + 1)).join('') + turn(31).repeat(30);

/** What is found, piece by piece. */
function inPieces(text: string, length: number) {
  const watcher = watch();
  const found: ReturnType<typeof said>[] = [];
  for (let at = 0; at < text.length; at += length) {
    const one = said(watcher.push(text.slice(at, at + length), 'answer'));
    if (one) found.push(one);
  }
  return found;
}

test('a card is not lost behind a quiet line that comes in the same piece', () => {
  const [first, ...others] = inPieces(circling, 1);
  const card = [first, ...others].find((one) => one?.[0] === 'card');
  expect(first?.[0]).toBe('quiet');
  expect(card).toBeDefined();
  expect(said(watch().push(`${circling} `, 'answer'))).toEqual(card);
});

test('where it began is told in characters, whatever was shown before', () => {
  const found = watch().push(`${same} `, 'answer');
  const { from = -1, finding } = found ?? {};
  expect(finding?.degree).toBe('card');
  expect(same.startsWith(finding?.text.slice(0, 30) ?? '?', from)).toBe(true);
  const shown = 'What was said before. ';
  const later = watch({ thinking: 'abc', answer: shown }).push(`${same} `, 'answer');
  expect(later?.from).toBe(shown.length + from);
});

test('a word is whole before it counts, also at the end of the thinking', () => {
  const watcher = watch();
  expect(watcher.push('half', 'thinking')).toBeNull();
  expect(watcher.push(same, 'answer')).not.toBeNull();
  const [pieces] = inPieces(same, 5);
  expect(pieces).toEqual(inPieces(same, 1)[0]);
});
