import { expect, test } from 'vitest';
import type { StatsSample } from '../../../../app/protocol/index.ts';
import { labelPlaces } from '../../../../renderer/chat/stats/label-layout.ts';
import { sparkPoints } from '../../../../renderer/chat/stats/sparkline.tsx';
import { figuresOf, seriesOf, soundSamples, writtenFor } from '../../../../renderer/stores/chat/speed.ts';

const sample = (atMs: number, change: Partial<StatsSample> = {}): StatsSample => ({
  atMs,
  phase: 'answer',
  tokensPerSecond: 40,
  tokens: atMs / 25,
  memoryBytes: 2 ** 30,
  ...change,
});

test('the phases are bands that touch, from the question on', () => {
  const { bands } = seriesOf([
    sample(100, { phase: 'prefill' }),
    sample(300, { phase: 'thinking' }),
    sample(500, { phase: 'thinking' }),
    sample(700),
    sample(900),
  ]);
  expect(bands).toEqual([
    { phase: 'prefill', from: 0, to: 0.1 },
    { phase: 'thinking', from: 0.1, to: 0.5 },
    { phase: 'answer', from: 0.5, to: 0.9 },
  ]);
});

test('a pause is a gap of the line', () => {
  const { seconds, speeds } = seriesOf([sample(100), sample(200), sample(9000), sample(9100)]);
  expect(speeds).toEqual([40, 40, null, 40, 40]);
  expect(seconds[2]).toBeCloseTo(4.6);
});

test('the line is the median of half a second: one slow sample does not show', () => {
  const steady = Array.from({ length: 20 }, (_, at) => sample(100 * (at + 1), { tokensPerSecond: at === 10 ? 4 : 40 }));
  expect(seriesOf(steady).speeds).toEqual(Array(20).fill(40));
  const risen = [20, 20, 20, 20, 20, 60, 60, 60, 60, 60].map((tokensPerSecond, at) =>
    sample(100 * (at + 1), { tokensPerSecond, phase: at < 5 ? 'thinking' : 'answer' }),
  );
  expect(seriesOf(risen).speeds).toEqual([20, 20, 20, 20, 20, 60, 60, 60, 60, 60]);
});

test('the memory of a small model is counted in MB', () => {
  const { memory, memoryUnit } = seriesOf([sample(100, { memoryBytes: 18 * 2 ** 20 })]);
  expect([memory, memoryUnit.name]).toEqual([[18], 'MB']);
  expect(seriesOf([sample(100)]).memoryUnit.name).toBe('GB');
});

test('labels of phases touch neither each other nor the edge', () => {
  const label = (at: number) => ({ at, width: 40 });
  expect([...labelPlaces([label(0), label(100)], 300, 8)]).toEqual([
    [0, 0],
    [1, 100],
  ]);
  // A short phase pushes the next label aside.
  expect([...labelPlaces([label(0), label(10), label(200)], 300, 8)]).toEqual([
    [0, 0],
    [1, 48],
    [2, 200],
  ]);
  // What has no room is left out, the first and the last stay.
  expect([...labelPlaces([label(0), label(10), label(20)], 100, 8)]).toEqual([
    [0, 0],
    [2, 48],
  ]);
  expect([...labelPlaces([label(0), label(290)], 300, 8)]).toEqual([
    [0, 0],
    [1, 260],
  ]);
  expect(labelPlaces([], 300, 8).size).toBe(0);
});

test('one sample, and none, are no trouble', () => {
  expect(seriesOf([]).seconds).toEqual([]);
  expect(seriesOf([sample(100)])).toMatchObject({ seconds: [0.1], speeds: [40], memory: [1] });
  expect(figuresOf({ timings: null, usage: null }, [])).toMatchObject({
    decode: null,
    peakMemory: null,
    firstTokenMs: null,
  });
});

test('100,000 samples become at most some 1,200 points that keep their mean and their phases', () => {
  const many = Array.from({ length: 100_000 }, (_, at) =>
    sample(at * 100 + 1, { phase: at < 100 ? 'prefill' : 'answer', tokensPerSecond: at % 2 ? 30 : 50 }),
  );
  const { seconds, speeds, bands } = seriesOf(many);
  expect(seconds.length).toBeLessThan(1300);
  const drawn = speeds.filter((speed) => speed !== null);
  expect(drawn.every((speed) => speed >= 39 && speed <= 41)).toBe(true);
  expect(bands.map(({ phase }) => phase)).toEqual(['prefill', 'answer']);
});

test('not-a-number, infinities and a clock that jumps back draw nothing', () => {
  const odd = [
    sample(100, { tokensPerSecond: Number.NaN }),
    sample(200, { tokensPerSecond: Number.POSITIVE_INFINITY, memoryBytes: Number.NaN }),
    sample(150),
    sample(Number.NaN),
    sample(300),
  ];
  expect(soundSamples(odd).map(({ atMs }) => atMs)).toEqual([100, 200, 300]);
  expect(seriesOf(odd)).toMatchObject({ seconds: [0.1, 0.2, 0.3], speeds: [null, null, 40], memory: [1, null, 1] });
  expect(figuresOf({ timings: null, usage: null }, odd).decode).toMatchObject({ median: 40, low: 40, high: 40 });
});

test('how long was written: from the end of reading to the last sample', () => {
  expect(writtenFor(undefined)).toBeNull();
  expect(writtenFor([sample(100, { phase: 'prefill' })])).toBeNull();
  expect(writtenFor([sample(100, { phase: 'prefill' }), sample(600, { phase: 'thinking' }), sample(900)])).toBe(800);
});

test('the sparkline: nothing for one sample, few points for 100,000, none that is no number', () => {
  expect(sparkPoints([])).toEqual([]);
  expect(sparkPoints([sample(100)])).toEqual([]);
  const odd = [Number.NaN, Number.POSITIVE_INFINITY, null].map((tokensPerSecond, at) =>
    sample(at, { tokensPerSecond }),
  );
  expect(sparkPoints([...odd, sample(100)])).toEqual([]);
  const many = Array.from({ length: 100_000 }, (_, at) => sample(at * 100, { tokensPerSecond: at % 2 ? 30 : 50 }));
  const points = sparkPoints([...odd, ...many]);
  expect(points).toHaveLength(25);
  for (const [x, y] of points) expect([x >= 0 && x <= 48, y >= 0 && y <= 14]).toEqual([true, true]);
});

test('the work of a GPU is a time and its share; without a GPU there is no figure', () => {
  const timings = { firstTokenMs: 500, prefillMs: 400, decodeMs: 600, thinkingMs: 0, totalMs: 1, tokensPerSecond: 1 };
  const of = (deviceMs?: number) =>
    figuresOf({ timings: { ...timings, ...(deviceMs !== undefined && { deviceMs }) }, usage: null }, []).device;
  expect(of()).toBeNull();
  expect(of(Number.NaN)).toBeNull();
  expect(of(800)).toEqual({ ms: 800, share: 0.8 });
  expect(of(5000)?.share).toBe(1);
});

test('prefill speed counts only what was read anew', () => {
  const timings = { firstTokenMs: 500, prefillMs: 400, decodeMs: 1, thinkingMs: 0, totalMs: 1, tokensPerSecond: 1 };
  const usage = { promptTokens: 1000, cachedTokens: 800, thinkingTokens: 0, answerTokens: 1 };
  expect(figuresOf({ timings, usage }, [])).toMatchObject({ prefillSpeed: 500, newTokens: 200, cachedTokens: 800 });
  expect(figuresOf({ timings, usage: { ...usage, cachedTokens: 1000 } }, []).prefillSpeed).toBeNull();
});
