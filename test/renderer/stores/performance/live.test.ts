import { expect, test } from 'vitest';
import type { EventPayload, TurnId } from '../../../../app/protocol/index.ts';
import { linesOf, noLivePoints, SHOWN_MS, withEvents } from '../../../../renderer/stores/performance/live.ts';

type Turn = EventPayload<'turn'>;
const stats = (tokensPerSecond: number | null, phase: 'prefill' | 'answer' = 'answer', turnId = 't'): Turn => ({
  chatId: 'c' as never,
  messageId: 'm' as never,
  turnId: turnId as TurnId,
  event: { type: 'stats', sample: { atMs: 1, phase, tokensPerSecond, tokens: 1, memoryBytes: 100 } },
});
const failed: Turn = { ...stats(1), event: { type: 'failed', failure: { code: 'engine-lost', message: '' } } };

test('the newest of what came is one point; reading and writing are told apart', () => {
  const live = withEvents(withEvents(noLivePoints, [stats(900, 'prefill')], 0), [stats(40), stats(50)], 250);
  expect(live.turnId).toBe('t');
  expect(live.points).toEqual([
    { at: 0, decode: null, prefill: 900, memory: 100 },
    { at: 250, decode: 50, prefill: null, memory: 100 },
  ]);
});

test('the end of a turn is a gap, what is not a number is none, and old points go', () => {
  let live = withEvents(noLivePoints, [stats(40)], 0);
  live = withEvents(live, [failed], 100);
  live = withEvents(live, [stats(Number.NaN)], 200);
  live = withEvents(live, [stats(20)], 300);
  expect(linesOf(live.points, ({ decode }) => decode, 300)).toEqual([[[1 - 300 / SHOWN_MS, 0]], [[1, 0.5]]]);
  expect(withEvents(live, [stats(1)], SHOWN_MS + 1000).points).toHaveLength(1);
  expect(withEvents(live, [{ ...failed, turnId: 'other' as TurnId }], 400).turnId).toBe('t');
});
