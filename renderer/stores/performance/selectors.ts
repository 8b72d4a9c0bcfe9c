import { type Comparison, compare, type Run, type Spread, spreadOf } from '../../../app/protocol/index.ts';

//  The tested core of the performance page: runs in, groups and comparisons out.

export type Metric = 'decode' | 'prefill' | 'firstToken';

/** Shorter answers measure their start rather than the speed. */
export const SHORTEST = 32;
/** Fewer runs get dots without a median. */
export const FEWEST = 5;

export const figureOf = (run: Run, metric: Metric): number | null =>
  metric === 'firstToken' ? run.firstTokenMs : run[metric];

/** Which runs the history shows: all, or of one sort and one back end. */
export type Filter = { sort: 'all' | 'answers' | 'benchmarks'; backEnd: string | null };

export const filtered = (runs: readonly Run[], { sort, backEnd }: Filter): Run[] =>
  runs.filter(
    (run) =>
      (sort === 'all' || (sort === 'benchmarks') === (run.batch !== null)) &&
      (backEnd === null || run.backEnd === backEnd),
  );

/** The back ends on which a model ran. */
export const backEndsOf = (runs: readonly Run[], model: string | null): string[] => [
  ...new Set(runs.flatMap((run) => (run.model === model ? run.backEnd : []))),
];

export type Dot = { run: Run; value: number; outlier: boolean };
export type Column = { key: string; engine: string; backEnd: string; dots: Dot[]; spread: Spread | null };

/** One column per engine version and back end, oldest first. Disturbed runs are shown as dots but not counted. */
export function columnsOf(runs: readonly Run[], model: string, metric: Metric): Column[] {
  const fitting = runs.filter((run) => run.model === model && (run.batch !== null || run.tokens >= SHORTEST));
  const groups = Map.groupBy(fitting.toReversed(), (run) => `${run.engine} ${run.backEnd}`);
  return [...groups].flatMap(([key, members]) => {
    const first = members[0];
    if (!first) return [];
    const spread = spreadOf(members.filter((run) => !run.disturbed).map((run) => figureOf(run, metric)));
    const dots = members.flatMap((run) => {
      const value = figureOf(run, metric);
      const outlier = spread !== null && value !== null && (value < spread.low || value > spread.high);
      return value === null ? [] : [{ run, value, outlier }];
    });
    return dots.length === 0 ? [] : [{ key, engine: first.engine, backEnd: first.backEnd, dots, spread }];
  });
}

export const hasMedian = ({ spread }: Column): boolean => spread !== null && spread.count >= FEWEST;

const counted = ({ dots }: Column): number[] => dots.flatMap(({ run, value }) => (run.disturbed ? [] : value));

/** The change from one column to another: by how much, and whether it is better. Null if within the noise. */
export type Change = { from: Column; to: Column; share: number; better: boolean };

function changeOf(from: Column, to: Column, metric: Metric): Change | null {
  const result = compare(counted(from), counted(to));
  if (result.verdict !== 'higher' && result.verdict !== 'lower') return null;
  return {
    from,
    to,
    share: Math.abs(result.change),
    better: (result.verdict === 'higher') !== (metric === 'firstToken'),
  };
}

/** Columns that are worse than the one before them on their back end. */
export function setbacksOf(columns: readonly Column[], metric: Metric): Map<string, Change> {
  const setbacks = new Map<string, Change>();
  for (const members of Map.groupBy(columns.filter(hasMedian), ({ backEnd }) => backEnd).values()) {
    for (const [at, to] of members.entries()) {
      const from = members[at - 1];
      const change = from ? changeOf(from, to, metric) : null;
      if (change && !change.better) setbacks.set(to.key, change);
    }
  }
  return setbacks;
}

/** From the oldest to the newest version on the back end that ran last; null where there are not two. */
export function trendOf(columns: readonly Column[], metric: Metric): { from: Column; change: Change | null } | null {
  const newest = columns.findLast(hasMedian);
  const from = columns.find((column) => hasMedian(column) && column.backEnd === newest?.backEnd);
  return newest && from && from !== newest ? { from, change: changeOf(from, newest, metric) } : null;
}

export type Scale = { low: number; high: number; ticks: number[] };

/** Round ticks around the values, not from zero: differences should be visible, and the ticks are labelled. */
export function scaleOf(values: readonly number[]): Scale {
  const least = values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
  const most = values.reduce((high, value) => Math.max(high, value), 0);
  if (most <= 0) return { low: 0, high: 1, ticks: [0, 1] };
  const step = roundStep(Math.max(most - least, most / 10) / 3);
  const low = Math.floor((0.98 * least) / step);
  const high = Math.max(low + 1, Math.ceil((1.02 * most) / step));
  const ticks = Array.from({ length: high - low + 1 }, (_, at) => (low + at) * step);
  return { low: low * step, high: high * step, ticks };
}

function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5].find((digit) => digit * power >= step) ?? 10) * power;
}

export type Bench = {
  batch: string;
  model: string;
  backEnd: string;
  engine: string;
  at: number;
  disturbed: boolean;
  runs: Run[];
};

/** Benchmarks, newest first. */
export function benchesOf(runs: readonly Run[]): Bench[] {
  const batches = Map.groupBy(
    runs.filter((run) => run.batch !== null),
    (run) => run.batch as string,
  );
  return [...batches].flatMap(([batch, members]) => {
    const [newest] = members;
    if (!newest) return [];
    const { model, backEnd, engine, at } = newest;
    return [{ batch, model, backEnd, engine, at, disturbed: members.some((run) => run.disturbed), runs: members }];
  });
}

export const medianOf = (runs: readonly Run[], metric: Metric): number | null =>
  spreadOf(runs.map((run) => figureOf(run, metric)))?.median ?? null;

export type ComparedRow = {
  metric: Metric | 'memory';
  a: number | null;
  b: number | null;
  result: Comparison;
  better: boolean | null;
};

/** Better means more tokens per second, less waiting, less memory. */
export function comparedRows(a: Bench, b: Bench): ComparedRow[] {
  const row = (metric: ComparedRow['metric'], of: (run: Run) => number | null): ComparedRow => {
    const [one, other] = [a.runs.map(of), b.runs.map(of)];
    const result = compare(one, other);
    const lessIsBetter = metric === 'firstToken' || metric === 'memory';
    const better = result.verdict === 'higher' ? !lessIsBetter : result.verdict === 'lower' ? lessIsBetter : null;
    return { metric, a: spreadOf(one)?.median ?? null, b: spreadOf(other)?.median ?? null, result, better };
  };
  return [
    row('decode', (run) => run.decode),
    row('prefill', (run) => run.prefill),
    row('firstToken', (run) => run.firstTokenMs),
    row('memory', (run) => run.memoryBytes),
  ];
}

/** Up to this, differences have the same scale everywhere; a larger one sets the scale of its table. */
const USUAL_CHANGE = 0.1;

/** What fills half of a bar of differences. */
export const widestChange = (rows: readonly ComparedRow[]): number =>
  rows.reduce(
    (most, { result }) => (result.verdict === 'too-few' ? most : Math.max(most, Math.abs(result.change))),
    USUAL_CHANGE,
  );

export const modelsOf = (runs: readonly Run[]): string[] => [...new Set(runs.map(({ model }) => model))];

export type Curves = {
  seconds: number[];
  first: (number | null)[];
  second: (number | null)[];
  /** Time until which both were reading, in seconds. */
  reading: number;
};

/** The median run of each benchmark, on one time axis. */
export function curvesOf(a: Bench, b: Bench): Curves {
  const runs = [middleRun(a), middleRun(b)];
  const [one, other] = runs.map((run) => new Map(run?.curve));
  const times = [...new Set([...(one?.keys() ?? []), ...(other?.keys() ?? [])])].sort((x, y) => x - y);
  return {
    seconds: times.map((ms) => ms / 1000),
    first: times.map((ms) => one?.get(ms) ?? null),
    second: times.map((ms) => other?.get(ms) ?? null),
    reading: Math.min(...runs.map((run) => run?.firstTokenMs ?? 0)) / 1000,
  };
}

function middleRun({ runs }: Bench): Run | undefined {
  const sorted = runs.filter(({ curve }) => curve.length > 1).sort((x, y) => (x.decode ?? 0) - (y.decode ?? 0));
  return sorted[Math.floor(sorted.length / 2)];
}
