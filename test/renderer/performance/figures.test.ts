import { expect, test } from 'vitest';
import type { Run } from '../../../app/protocol/index.ts';
import {
  benchesOf,
  type ComparedRow,
  columnsOf,
  comparedRows,
  curvesOf,
  hasMedian,
  SHORTEST,
  widestChange,
} from '../../../renderer/performance/figures.ts';

let lastId = 0;
const run = (change: Partial<Run> = {}): Run => ({
  id: ++lastId,
  batch: null,
  messageId: null,
  chatId: null,
  at: 1_900_000_000_000 + lastId,
  model: 'Starter',
  backEnd: 'cpu',
  engine: '0.1.0',
  promptTokens: 100,
  cachedTokens: 0,
  tokens: 200,
  prefill: 900,
  decode: 40,
  firstTokenMs: 120,
  memoryBytes: 2 ** 30,
  disturbed: false,
  curve: [],
  ...change,
});
const newestFirst = (runs: Run[]) => runs.toReversed();

test('one column an engine version and back end, oldest first', () => {
  const runs = newestFirst([
    run({ engine: '0.1.0' }),
    run({ engine: '0.2.0' }),
    run({ engine: '0.2.0', backEnd: 'vulkan' }),
  ]);
  expect(columnsOf(runs, 'Starter', 'decode').map(({ key }) => key)).toEqual([
    '0.1.0 cpu',
    '0.2.0 cpu',
    '0.2.0 vulkan',
  ]);
});

test('other models, short answers and what was not measured are left out', () => {
  const runs = [run({ model: 'Other' }), run({ tokens: SHORTEST - 1 }), run({ decode: null })];
  expect(columnsOf(runs, 'Starter', 'decode')).toEqual([]);
});

test('a disturbed run is a dot and moves no median; an outlier is named', () => {
  const speeds = [40, 40, 40, 40, 40, 40, 40, 40, 40, 20];
  const runs = [...speeds.map((decode) => run({ decode })), run({ decode: 5, disturbed: true })];
  const [column] = columnsOf(newestFirst(runs), 'Starter', 'decode');
  expect(column?.spread).toMatchObject({ median: 40, count: 10 });
  expect(column?.dots).toHaveLength(11);
  expect(column?.dots.filter(({ outlier }) => outlier).map(({ value }) => value)).toEqual([20, 5]);
});

test('fewer than five runs are dots without a median', () => {
  const columns = columnsOf([run(), run(), run(), run()], 'Starter', 'decode');
  expect(columns.map(hasMedian)).toEqual([false]);
});

test('runs of a benchmark belong together, newest first', () => {
  const runs = newestFirst([run({ batch: 'a' }), run(), run({ batch: 'b', disturbed: true }), run({ batch: 'b' })]);
  expect(benchesOf(runs).map(({ batch, runs: all, disturbed }) => [batch, all.length, disturbed])).toEqual([
    ['b', 2, true],
    ['a', 1, false],
  ]);
});

test('better is faster, sooner and smaller; nothing is better inside the noise', () => {
  const of = (batch: string, scale: number) =>
    [1, 1.001, 0.999, 1.0005].map((noise) =>
      run({
        batch,
        decode: 40 * scale * noise,
        firstTokenMs: (120 * noise) / scale,
        prefill: 900 * noise,
        memoryBytes: 1e9 * noise * scale,
      }),
    );
  const [b, a] = benchesOf(newestFirst([...of('a', 1), ...of('b', 1.2)]));
  if (!a || !b) throw new Error('two benchmarks');
  expect(comparedRows(a, b).map(({ metric, better }) => [metric, better])).toEqual([
    ['decode', true],
    ['prefill', null],
    ['firstToken', true],
    ['memory', false],
  ]);
});

test('the curves of two benchmarks stand on one clock: of each the run in the middle', () => {
  const of = (batch: string, at: number) =>
    [30, 50, 40].map((decode) =>
      run({
        batch,
        decode,
        curve: [
          [at, decode],
          [2000, decode],
        ],
      }),
    );
  const [b, a] = benchesOf(newestFirst([...of('a', 500), ...of('b', 1000)]));
  if (!a || !b) throw new Error('two benchmarks are expected');
  expect(curvesOf(a, b)).toEqual({
    seconds: [0.5, 1, 2],
    first: [40, null, 40],
    second: [null, 40, 40],
    reading: 0.12,
  });
  expect(curvesOf({ ...a, runs: [run()] }, { ...b, runs: [] })).toEqual({
    seconds: [],
    first: [],
    second: [],
    reading: 0,
  });
});

test('the bars of differences fill their half at ten percent, or at the largest difference beyond', () => {
  const row = (change: number) => ({ result: { verdict: 'none', change, noise: 0 } }) as ComparedRow;
  const few = { result: { verdict: 'too-few' } } as ComparedRow;
  expect(widestChange([])).toBe(0.1);
  expect(widestChange([few, row(0.02), row(-0.04)])).toBe(0.1);
  expect(widestChange([row(0.02), row(-0.4), few])).toBe(0.4);
});
