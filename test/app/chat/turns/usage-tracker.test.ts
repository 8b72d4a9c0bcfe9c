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

test('an answer that goes on adds its figures to those of its first part, and its clock begins where that ended', () => {
  const usage = { promptTokens: 50, cachedTokens: 5, thinkingTokens: 4, answerTokens: 6 };
  const timings = {
    firstTokenMs: 100,
    prefillMs: 90,
    decodeMs: 1000,
    thinkingMs: 300,
    totalMs: 2000,
    tokensPerSecond: 9,
  };
  const of = (first: object | null) => createUsageTracker(first as Parameters<typeof createUsageTracker>[0], () => 0);
  const sent = {
    usage: { promptTokens: 70, cachedTokens: 60, thinkingTokens: 1, answerTokens: 10 },
    timings: { ...timings, firstTokenMs: 7, prefillMs: 10, thinkingMs: 20, totalMs: 500 },
  };
  const tracker = of({ usage, timings });
  expect(tracker.figures(sent)).toEqual({
    usage: { promptTokens: 70, cachedTokens: 60, thinkingTokens: 5, answerTokens: 16 },
    timings: {
      firstTokenMs: 100,
      prefillMs: 100,
      decodeMs: 2000,
      thinkingMs: 320,
      totalMs: 2500,
      tokensPerSecond: 10,
    },
  });
  const device = (before?: number, now?: number) =>
    of({ usage, timings: { ...timings, ...(before !== undefined && { deviceMs: before }) } }).figures({
      ...sent,
      timings: { ...sent.timings, ...(now !== undefined && { deviceMs: now }) },
    }).timings.deviceMs;
  expect([device(), device(3), device(undefined, 4), device(3, 4)]).toEqual([undefined, 3, 4, 7]);
  const sample = { atMs: 30, phase: 'answer' as const, tokensPerSecond: null, tokens: 1, memoryBytes: null };
  expect(tracker.shifted(sample).atMs).toBe(2030);
  expect(of(null).shifted(sample).atMs).toBe(30);
  // Of a first part without figures only the rest is known.
  expect(of({ usage: null, timings: null }).figures(sent)).toEqual(sent);
  expect(of({ usage: null, timings }).figures(sent).timings.tokensPerSecond).toBe(5);
});

test('a single word has no speed', () => {
  const { tracker, say } = tracked();
  say(300, 'answer');
  expect(tracker.figures({}).timings).toMatchObject({ tokensPerSecond: null, thinkingMs: 0, decodeMs: 0 });
});

test('of two words the second one tells the speed, unless both came at once', () => {
  const apart = tracked();
  for (const ms of [300, 100]) apart.say(ms, 'answer');
  expect(apart.tracker.figures({}).timings.tokensPerSecond).toBe(10);
  const together = tracked();
  for (const ms of [300, 0]) together.say(ms, 'answer');
  expect(together.tracker.figures({}).timings.tokensPerSecond).toBeNull();
});
