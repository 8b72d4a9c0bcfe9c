import { expect, test } from 'vitest';
import type { Finding, GuardOptions } from '../../../../app/text/loop/finding.ts';
import type { Place } from '../../../../app/text/loop/levels.ts';
import { LoopGuard } from '../../../../app/text/loop/loop-detector.ts';

//  At which token the guard speaks when a loop goes on, comes back or goes over into the answer; every id is a word.

const guardWith = (options: Partial<GuardOptions> = {}) =>
  new LoopGuard({ sensitivity: 'balanced', inAnswers: true, ...options });
const letters = (id: number) => String.fromCharCode(...[id >> 8, id >> 4, id].map((part) => 97 + (part & 15)));

/** Writes `count` ids; says after how many a card came, which ends the writing. */
function cardAfter(guard: LoopGuard, count: number, id: (at: number) => number, place: Place = 'thinking') {
  for (let at = 0; at < count; at++) {
    const found: Finding | null = guard.push(id(at), ` ${letters(id(at))}`, place);
    if (found?.degree === 'card') return { tokens: at + 1, found };
  }
  return null;
}
const loop =
  (period: number, from = 0) =>
  (at: number) =>
    100 + ((at + from) % period);
const other = (at: number) => 2000 + at;

test.each([
  [40, 53],
  [41, 55],
  [8, 27],
  [17, 27],
  [200, 200],
])('a loop of %i tokens that must not come back is found after %i of them', (period, tokens) => {
  const guard = guardWith({ inAnswers: false });
  cardAfter(guard, 20, other);
  const first = cardAfter(guard, 8 * period, loop(period));
  guard.remember(first?.found.startToken ?? 0);
  const again = cardAfter(guard, 4 * period, loop(period), 'answer');
  expect(again?.tokens).toBe(tokens);
  expect(again?.found).toMatchObject({ where: 'answer', periodTokens: Math.min(period, 163), times: 2 });
});

test('words of the loop here and there in the answer are no relapse', () => {
  const guard = guardWith({ inAnswers: false });
  const first = cardAfter(guard, 400, loop(40));
  guard.remember(first?.found.startToken ?? 0);
  const mixed = (at: number) => (at % 40 < 20 ? 100 + (at % 40) : 3000 + at);
  expect(cardAfter(guard, 400, mixed, 'answer')).toBeNull();
});

test.each([
  ['strict', 31, 'watching'],
  ['strict', 32, 'suspected'],
  ['balanced', 31, 'watching'],
  ['balanced', 32, 'suspected'],
  ['relaxed', 32, 'suspected'],
] as const)('%s: of %i tokens that are two copies the guard is %s', (sensitivity, tokens, state) => {
  const guard = guardWith({ sensitivity });
  cardAfter(guard, 20, other);
  cardAfter(guard, tokens, loop(15));
  expect(guard.state).toBe(state);
});

test('a loop that was let go on may come back elsewhere for twice as long, another one may not', () => {
  const lead = () => {
    const guard = guardWith();
    const first = cardAfter(guard, 200, loop(20));
    guard.act(first?.found.repeats ?? 0);
    cardAfter(guard, 30, other);
    return { guard, first: first?.tokens };
  };
  const same = lead();
  expect(same.first).toBe(60);
  expect(cardAfter(same.guard, 400, loop(20, 7))?.tokens).toBe(120);
  const another = lead();
  expect(cardAfter(another.guard, 400, (at) => 700 + (at % 20))?.tokens).toBe(60);
});

test('what was thought does not count in the answer: two whole copies are needed there', () => {
  const guard = guardWith();
  cardAfter(guard, 50, loop(20));
  expect(cardAfter(guard, 200, loop(20, 10), 'answer')?.tokens).toBe(40);
  const long = guardWith();
  cardAfter(long, 190, loop(100));
  expect(cardAfter(long, 600, loop(100, 90), 'answer')?.tokens).toBe(200);
});

test('taken back from the answer into the thinking, the loop is found there as it was', () => {
  const guard = guardWith();
  cardAfter(guard, 30, other);
  cardAfter(guard, 10, (at) => 5000 + at, 'answer');
  guard.rewind(20);
  expect(cardAfter(guard, 200, loop(20), 'answer')).toMatchObject({
    tokens: 75,
    found: { startToken: 20, endToken: 94 },
  });
});
