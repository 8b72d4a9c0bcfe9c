import { expect, test } from 'vitest';
import { createTurnMetrics, endOf } from '../../../app/metrics/turn-metrics.ts';
import type { TurnEvent } from '../../../app/protocol/index.ts';

const stats = (memoryBytes: number | null): TurnEvent => ({
  type: 'stats',
  sample: { atMs: 3, phase: 'answer', tokensPerSecond: 90, tokens: 4, memoryBytes },
});
const started: TurnEvent = { type: 'started', model: 'a' as never, backEnd: 'metal' };
const delta: TurnEvent = { type: 'delta', kind: 'answer', text: 'a', tokens: 1 };

test('of a turn: where it ran, and the most memory it took, if that is known at all', () => {
  const metrics = createTurnMetrics();
  expect([metrics.backEnd(), metrics.memoryBytes()]).toEqual(['', null]);
  for (const event of [started, stats(null), delta]) metrics.see(event);
  expect([metrics.backEnd(), metrics.memoryBytes()]).toEqual(['metal', null]);
  for (const event of [stats(5), stats(9), stats(null), stats(7), delta]) metrics.see(event);
  expect([metrics.backEnd(), metrics.memoryBytes()]).toEqual(['metal', 9]);
});

test('its end, and nothing before it; a failure is thrown as it was said', () => {
  const finished = { type: 'finished', reason: 'stop', usage: {}, timings: {} } as TurnEvent;
  expect([started, delta, stats(1), finished].map(endOf)).toEqual([null, null, null, finished]);
  const failed: TurnEvent = { type: 'failed', failure: { code: 'engine-lost', message: '[engine] ended' } };
  expect(() => endOf(failed)).toThrow(expect.objectContaining({ code: 'engine-lost', message: '[engine] ended' }));
});
