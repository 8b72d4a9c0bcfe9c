import { expect, test } from 'vitest';
import { createGenerationMetrics } from '../../../../../app/engine/process/generation/generation-metrics.ts';

/** A meter whose clock stands at what `at` says. */
function metered() {
  const clock = { ms: 0 };
  const meter = createGenerationMetrics(
    () => 1000,
    () => clock.ms,
  );
  const tokenAt = (ms: number, kind: 'thinking' | 'answer' = 'answer') => {
    clock.ms = ms;
    return meter.token(kind);
  };
  const at = (ms: number) => {
    clock.ms = ms;
  };
  return { meter, tokenAt, at };
}

test('at most ten samples a second, each over the tokens since the last', () => {
  const { tokenAt } = metered();
  const samples = Array.from({ length: 200 }, (_, i) => tokenAt(50 + i * 5)).filter((sample) => sample !== null);
  expect(samples.length).toBe(9);
  for (const { tokensPerSecond } of samples) expect(tokensPerSecond).toBeCloseTo(200, 6);
});

test('an answer that is over before its first sample was due has one all the same', () => {
  const { meter, tokenAt } = metered();
  for (const ms of [20, 22, 24, 26]) expect(tokenAt(ms)).toBeNull();
  expect(meter.short()).toEqual({ atMs: 26, phase: 'answer', tokensPerSecond: 500, tokens: 4, memoryBytes: 1000 });
});

test('a clock that is set back or forward: samples go on, and nothing is negative or endless', () => {
  const { meter, tokenAt } = metered();
  const hour = 3_600_000;
  const set = [0, 60, 120, 180, 240, -hour, 60 - hour, 120 - hour, 180 - hour, hour, hour + 60, hour + 120, hour + 180];
  const samples = set.map((ms) => tokenAt(ms)).filter((sample) => sample !== null);
  expect(samples.length).toBeGreaterThanOrEqual(5);
  for (const { tokensPerSecond } of samples) expect(tokensPerSecond).toBeGreaterThan(0);
  const times = samples.map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const { firstTokenMs, totalMs } = meter.timings();
  expect(firstTokenMs).toBe(0);
  // The hour that was lost is not made up for, the one that was jumped over is idle time.
  expect(totalMs).toBe(240 + 180 + (hour + hour - 180) + 180);
});

type Segment = Parameters<ReturnType<typeof createGenerationMetrics>['addSegment']>[0];
const segment = (tokens: number[], deviceMs?: number) =>
  ({
    tokens,
    timings: { promptTokens: 9, cachedTokens: 0, prefillMs: 5, decodeMs: 20, firstTokenMs: 5, deviceMs },
  }) as unknown as Segment;

test('the time of a GPU is summed over the segments, and absent where none was there', () => {
  const { meter } = metered();
  meter.addSegment(segment([1, 2]));
  expect(meter.timings()).not.toHaveProperty('deviceMs');
  meter.addSegment(segment([1, 2], 12));
  meter.addSegment(segment([1, 2], 30));
  expect(meter.timings().deviceMs).toBe(42);
});

test('the speed is that of the tokens after the first of each segment, a second', () => {
  const { meter } = metered();
  expect(meter.timings().tokensPerSecond).toBeNull();
  meter.addSegment(segment([1]));
  expect(meter.timings().tokensPerSecond).toBeNull();
  meter.addSegment(segment([1, 2, 3, 4, 5, 6]));
  // Five tokens in twice 20 ms.
  expect(meter.timings().tokensPerSecond).toBe(125);
});

test('a longer answer has no such sample, nor has one of a single token or of none', () => {
  const long = metered();
  for (const ms of [0, 60, 120, 130]) long.tokenAt(ms);
  expect(long.meter.short()).toBeNull();
  const single = metered();
  expect(single.meter.short()).toBeNull();
  single.tokenAt(20);
  expect(single.meter.short()).toBeNull();
});

test('reading the prompt: its speed is that of what was read, not of what was known already', () => {
  const { meter, at } = metered();
  at(50);
  expect(meter.prefill(120, 1000, 100)).toBeNull();
  at(100);
  expect(meter.prefill(140, 1000, 100)).toMatchObject({ atMs: 100, phase: 'prefill', tokensPerSecond: 400, tokens: 0 });
  at(300);
  expect(meter.prefill(240, 1000, 100)).toMatchObject({ tokensPerSecond: 500 });
  expect(meter.usage).toMatchObject({ promptTokens: 1000, cachedTokens: 100 });
  // The question put again after a decision is no second prompt.
  meter.addSegment(segment([1, 2]));
  at(900);
  expect(meter.prefill(2000, 2000, 0)).toBeNull();
  expect(meter.usage).toMatchObject({ promptTokens: 9, cachedTokens: 0 });
});

test('the first token, the thinking and the whole are timed from the beginning; figures of segments add up', () => {
  const { meter, tokenAt, at } = metered();
  at(30);
  expect(meter.timings()).toMatchObject({ firstTokenMs: 30, thinkingMs: 0, totalMs: 30 });
  meter.thinkingEnded();
  expect(meter.timings().thinkingMs).toBe(0);
  tokenAt(100, 'thinking');
  tokenAt(150, 'thinking');
  expect(meter.timings()).toMatchObject({ firstTokenMs: 100, thinkingMs: 50, totalMs: 150 });
  at(170);
  meter.thinkingEnded();
  tokenAt(400);
  meter.addSegment(segment([1, 2]), { miss: { tokens: 3, reason: 'evicted' } });
  meter.addSegment(segment([1, 2]), { miss: { tokens: 9, reason: 'evicted' } });
  expect(meter.timings()).toMatchObject({ thinkingMs: 70, totalMs: 400, prefillMs: 10, decodeMs: 40 });
  expect(meter.usage).toMatchObject({ thinkingTokens: 2, answerTokens: 1, miss: { tokens: 3, reason: 'evicted' } });
});
