// What a page gets of an answer: a message a frame, and nothing out of order.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TokenScore, TurnUpdate } from '../../../../../app/engine/ipc-protocol.ts';
import { createEventCoalescer } from '../../../../../app/engine/process/generation/event-coalescer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function coalescer() {
  const sent: TurnUpdate[][] = [];
  return { ...createEventCoalescer((updates) => sent.push(updates)), sent };
}
const delta = (text: string, tokens: number, kind = 'answer') => ({ type: 'delta', text, kind, tokens });
const score = (logprob: number): TokenScore => ({ bytes: [], logprob, top: [] });

test('the first text goes at once, what follows within 24 ms in one message', () => {
  const { delta: write, sent } = coalescer();
  write('answer', 'One', [1], [score(-1)]);
  expect(sent).toEqual([[{ event: delta('One', 1), ids: [1], scores: [score(-1)] }]]);
  vi.advanceTimersByTime(10);
  write('answer', ' two', [2, 3]);
  write('answer', ' three', [4], [score(-2)]);
  write('answer', ' four', [5], [score(-3)]);
  vi.advanceTimersByTime(13);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(sent.slice(1)).toEqual([
    [{ event: delta(' two three four', 4), ids: [2, 3, 4, 5], scores: [score(-2), score(-3)] }],
  ]);
  vi.advanceTimersByTime(1000);
  expect(sent).toHaveLength(2);
  write('answer', '!', [], [], 3);
  expect(sent[2]).toEqual([{ event: delta('!', 3), ids: [] }]);
});

test('thinking and answer stay apart; what is no text takes the text before it along, figures wait for the frame', () => {
  const { delta: write, say, sent } = coalescer();
  write('thinking', 'Hm', [1]);
  write('thinking', ' hm', [2]);
  write('answer', 'Yes', [3]);
  say({ type: 'progress', done: 1, total: 2 } as unknown as TurnUpdate['event']);
  write('answer', '.', [4]);
  expect(sent).toHaveLength(1);
  say({ type: 'started', model: 'm', backEnd: 'cpu' } as unknown as TurnUpdate['event'], { calls: [] });
  expect(sent[1]?.map(({ event }) => event.type)).toEqual(['delta', 'delta', 'progress', 'delta', 'started']);
  expect(sent[1]?.[0]?.event).toEqual(delta(' hm', 1, 'thinking'));
  expect(sent[1]?.at(-1)?.calls).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(sent).toHaveLength(2);
  say({ type: 'stats', sample: {} } as unknown as TurnUpdate['event']);
  expect(sent).toHaveLength(3);
});
