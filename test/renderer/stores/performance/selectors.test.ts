import { expect, test } from 'vitest';
import type { Run } from '../../../../app/protocol/index.ts';
import {
  backEndsOf,
  benchesOf,
  type ComparedRow,
  columnsOf,
  comparedRows,
  curvesOf,
  filtered,
  hasMedian,
  medianOf,
  SHORTEST,
  scaleOf,
  setbacksOf,
  trendOf,
  widestChange,
} from '../../../../renderer/stores/performance/selectors.ts';

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

test('runs of the same speed are no outliers', () => {
  const [column] = columnsOf([run(), run(), run(), run(), run()], 'Starter', 'decode');
  expect(column?.dots).toHaveLength(5);
  expect(column?.dots.filter(({ outlier }) => outlier)).toEqual([]);
});

test('fewer than five runs are dots without a median', () => {
  const columns = columnsOf([run(), run(), run(), run()], 'Starter', 'decode');
  expect(columns.map(hasMedian)).toEqual([false]);
});

test('the history of one sort of runs, and of one back end', () => {
  const runs = [run(), run({ batch: 'a' }), run({ backEnd: 'vulkan' }), run({ model: 'Other', backEnd: 'metal' })];
  const ids = (filter: Parameters<typeof filtered>[1]) =>
    filtered(runs, filter).map(({ id }) => runs.findIndex((one) => one.id === id));
  expect(ids({ sort: 'all', backEnd: null })).toEqual([0, 1, 2, 3]);
  expect(ids({ sort: 'answers', backEnd: null })).toEqual([0, 2, 3]);
  expect(ids({ sort: 'benchmarks', backEnd: null })).toEqual([1]);
  expect(ids({ sort: 'answers', backEnd: 'vulkan' })).toEqual([2]);
  expect(backEndsOf(runs, 'Starter')).toEqual(['cpu', 'vulkan']);
});

test('a version that is slower outside the noise is a setback; the trend is from the oldest to the newest', () => {
  const of = (engine: string, speed: number, change: Partial<Run> = {}) =>
    [0.99, 1, 1.01, 1, 0.995].map((noise) =>
      run({ engine, decode: speed * noise, firstTokenMs: 5000 / (speed * noise), ...change }),
    );
  const columns = (metric: 'decode' | 'firstToken', runs: Run[]) => columnsOf(newestFirst(runs), 'Starter', metric);
  const runs = [
    ...of('1', 40),
    ...of('2', 30),
    ...of('3', 30.1),
    ...of('4', 50),
    ...of('9', 5, { backEnd: 'gpu' }),
    ...of('4', 50),
  ];
  for (const metric of ['decode', 'firstToken'] as const) {
    const all = columns(metric, runs);
    expect([...setbacksOf(all, metric).keys()]).toEqual(['2 cpu']);
    const cpu = columns(
      metric,
      runs.filter(({ backEnd }) => backEnd === 'cpu'),
    );
    expect(trendOf(cpu, metric)).toMatchObject({ from: { engine: '1' }, change: { better: true } });
  }
  expect(setbacksOf(columns('decode', runs), 'decode').get('2 cpu')?.share).toBeCloseTo(0.25);
  expect(trendOf(columns('decode', [...of('1', 40), ...of('2', 40)]), 'decode')).toMatchObject({ change: null });
  expect(trendOf(columns('decode', of('1', 40)), 'decode')).toBeNull();
  expect(trendOf(columns('decode', [run()]), 'decode')).toBeNull();
});

test('round marks that hold every value', () => {
  expect(scaleOf([38, 46.4, 41])).toEqual({ low: 35, high: 50, ticks: [35, 40, 45, 50] });
  expect(scaleOf([])).toEqual({ low: 0, high: 1, ticks: [0, 1] });
  for (const values of [[0, 0], [7], [0.001, 0.002], [1, 2300], [899, 900]]) {
    const { low, high, ticks } = scaleOf(values);
    expect(ticks.length).toBeLessThan(9);
    for (const value of values) expect([low <= value, value <= high]).toEqual([true, true]);
  }
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

test('an answer of just enough tokens counts, and each figure has its own median', () => {
  expect(columnsOf([run({ tokens: SHORTEST })], 'Starter', 'decode')).toHaveLength(1);
  const runs = [10, 30, 20].map((decode) => run({ decode, prefill: decode * 10, firstTokenMs: decode * 100 }));
  const metrics = ['decode', 'prefill', 'firstToken'] as const;
  expect(metrics.map((metric) => medianOf(runs, metric))).toEqual([20, 200, 2000]);
  expect(medianOf([], 'decode')).toBeNull();
});

test('a trend begins where the newest back end was measured first', () => {
  const of = (engine: string, backEnd: string, decode: number) =>
    Array.from({ length: 5 }, () => run({ engine, backEnd, decode }));
  const runs = newestFirst([...of('1', 'vulkan', 40), ...of('2', 'cpu', 10), ...of('3', 'cpu', 20)]);
  expect(trendOf(columnsOf(runs, 'Starter', 'decode'), 'decode')).toMatchObject({
    from: { engine: '2', backEnd: 'cpu' },
  });
});

test('marks stand at ones, twos and fives', () => {
  expect(scaleOf([10, 40]).ticks).toEqual([0, 10, 20, 30, 40, 50]);
  expect(scaleOf([100, 160]).ticks).toEqual([80, 100, 120, 140, 160, 180]);
  expect(scaleOf([1, 1]).ticks.length).toBeGreaterThan(1);
});

test('both read until the first of them writes; of an even number the faster one in the middle is drawn', () => {
  const of = (batch: string, firstTokenMs: number, speeds: number[]) =>
    speeds.map((decode) =>
      run({
        batch,
        decode,
        firstTokenMs,
        curve: [
          [500, decode],
          [1000, decode],
        ],
      }),
    );
  const short = run({ batch: 'a', decode: 99, curve: [[500, 99]] });
  const [b, a] = benchesOf(newestFirst([short, ...of('a', 300, [30, 50]), ...of('b', 200, [40])]));
  if (!a || !b) throw new Error('two benchmarks are expected');
  expect(curvesOf(a, b)).toEqual({ seconds: [0.5, 1], first: [50, 50], second: [40, 40], reading: 0.2 });
});

test('compared rows name the median of each side, and none where nothing was measured', () => {
  const of = (batch: string, decode: number | null) => [1, 2, 3].map(() => run({ batch, decode }));
  const [b, a] = benchesOf(newestFirst([...of('a', 40), ...of('b', null)]));
  if (!a || !b) throw new Error('two benchmarks are expected');
  expect(comparedRows(a, b)[0]).toMatchObject({ metric: 'decode', a: 40, b: null, better: null });
  expect(comparedRows(b, a)[0]).toMatchObject({ a: null, b: 40 });
  expect(comparedRows(a, b)[3]).toMatchObject({ metric: 'memory', a: 2 ** 30, b: 2 ** 30 });
});
