import { expect, test } from 'vitest';
import { createUsageTracker } from '../../../../app/chat/turns/usage-tracker.ts';

//  An engine that is lost has not said how long anything took: then the figures below an answer are what was seen of it.

function tracked() {
  let ms = 5000;
  const tracker = createUsageTracker(null, () => ms);
  const after = (passed: number, event: Parameters<typeof tracker.see>[0]) => {
    ms += passed;
    tracker.see(event);
  };
  const say = (passed: number, kind: 'thinking' | 'answer') =>
    after(passed, { type: 'delta', kind, text: 'word', tokens: 1 });
  return { tracker, say, after, pass: (passed: number) => (ms += passed) };
}

test('the first word took as long as it was waited for, and the speed is that of the words after it', () => {
  const { tracker, say, after, pass } = tracked();
  after(10, { type: 'progress', done: 0, total: 90, cached: 30 });
  say(290, 'thinking');
  say(100, 'thinking');
  say(100, 'answer');
  pass(1000);
  const { usage, timings } = tracker.figures({});
  expect(usage).toEqual({ promptTokens: 90, cachedTokens: 30, thinkingTokens: 2, answerTokens: 1 });
  expect(timings).toEqual({
    firstTokenMs: 300,
    prefillMs: 300,
    decodeMs: 200,
    thinkingMs: 100,
    totalMs: 1500,
    tokensPerSecond: 10,
  });
});

test('of an answer without a word the wait so far is told', () => {
  const { tracker, pass } = tracked();
  pass(400);
  expect(tracker.figures({}).timings).toMatchObject({ firstTokenMs: 400, totalMs: 400 });
});
