import { type Message, type StatsSample, spreadOf } from '../../../app/protocol/index.ts';
import { type MemoryUnit, memoryUnitOf } from '../../ui/format.ts';

//  The speed of one answer as plain data: for the chart, its table, and the figures below.

export type Band = { phase: StatsSample['phase']; from: number; to: number };

export type SpeedSeries = {
  /** Seconds since the question, ascending; with speeds and memory, null for gaps. */
  seconds: number[];
  speeds: (number | null)[];
  memory: (number | null)[];
  /** The unit of memory. */
  memoryUnit: MemoryUnit;
  bands: Band[];
};

/** A longer pause is a gap in the line, not a slope. */
const IDLE_MS = 1500;
const MAX_POINTS = 1200;
/** The line is the median over this window around each sample: ten samples a second alone would be jagged. */
const MEDIAN_MS = 500;

const sound = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Samples in time order. One that goes back in time, or has no time, is dropped. */
export function soundSamples(samples: readonly StatsSample[]): StatsSample[] {
  let last = -1;
  return samples.filter(({ atMs }) => {
    if (!Number.isFinite(atMs) || atMs <= last) return false;
    last = atMs;
    return true;
  });
}

export function seriesOf(samples: readonly StatsSample[]): SpeedSeries {
  const thinned = thin(smoothed(soundSamples(samples)));
  const memoryUnit = memoryUnitOf(
    thinned.reduce((most, { memoryBytes }) => Math.max(most, sound(memoryBytes) ?? 0), 0),
  );
  const series: SpeedSeries = { seconds: [], speeds: [], memory: [], memoryUnit, bands: [] };
  let before: Thinned | undefined;
  for (const sample of thinned) {
    const band = series.bands.at(-1);
    if (band?.phase === sample.phase) band.to = sample.atMs / 1000;
    else series.bands.push({ phase: sample.phase, from: (before?.atMs ?? 0) / 1000, to: sample.atMs / 1000 });
    if (before && sample.begunMs - before.atMs > IDLE_MS)
      push(series, (before.atMs + sample.begunMs) / 2000, null, null);
    const memory = sound(sample.memoryBytes);
    // Reading is ten times as fast as writing and would flatten the line: it is shown as a band and a figure.
    const speed = sample.phase === 'prefill' ? null : sound(sample.tokensPerSecond);
    push(series, sample.atMs / 1000, speed, memory === null ? null : memory / memoryUnit.bytes);
    before = sample;
  }
  return series;
}

function push(series: SpeedSeries, seconds: number, speed: number | null, memory: number | null): void {
  series.seconds.push(seconds);
  series.speeds.push(speed);
  series.memory.push(memory);
}

/** Each speed becomes the median of those around it in the same phase. Samples are in time order. */
function smoothed(samples: readonly StatsSample[]): StatsSample[] {
  let from = 0;
  let to = 0;
  return samples.map((sample) => {
    while ((samples[from] as StatsSample).atMs < sample.atMs - MEDIAN_MS / 2) from++;
    while (to < samples.length && (samples[to] as StatsSample).atMs <= sample.atMs + MEDIAN_MS / 2) to++;
    const around = samples.slice(from, to).filter(({ phase }) => phase === sample.phase);
    const speeds = around.flatMap(({ tokensPerSecond }) => sound(tokensPerSecond) ?? []);
    const known = sound(sample.tokensPerSecond) !== null;
    return known ? { ...sample, tokensPerSecond: medianOf(speeds) } : sample;
  });
}

const medianOf = (values: readonly number[]): number => spreadOf(values)?.median ?? 0;

type Thinned = StatsSample & { begunMs: number };

/** Reduces to about 1200 samples: neighbours of one phase, without a pause between them, become their mean. */
function thin(samples: readonly StatsSample[]): Thinned[] {
  const size = Math.max(1, Math.ceil(samples.length / MAX_POINTS));
  const thinned: Thinned[] = [];
  for (let at = 0; at < samples.length; ) {
    const first = samples[at] as StatsSample;
    let last = first;
    let end = at + 1;
    for (; end < Math.min(samples.length, at + size); end++) {
      const next = samples[end] as StatsSample;
      if (next.phase !== first.phase || next.atMs - last.atMs > IDLE_MS) break;
      last = next;
    }
    const speeds = samples.slice(at, end).map((one) => sound(one.tokensPerSecond));
    thinned.push({ ...last, begunMs: first.atMs, tokensPerSecond: meanOf(speeds) });
    at = end;
  }
  return thinned;
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

export type SpeedFigures = {
  firstTokenMs: number | null;
  prefillSpeed: number | null;
  newTokens: number;
  cachedTokens: number;
  decode: { median: number; low: number; high: number } | null;
  peakMemory: number | null;
  /** GPU time, and its share of the time spent reading and writing. */
  device: { ms: number; share: number } | null;
};

export function figuresOf(message: Pick<Message, 'timings' | 'usage'>, samples: readonly StatsSample[]): SpeedFigures {
  const { timings, usage } = message;
  const all = soundSamples(samples);
  const speeds = all.flatMap(({ phase, tokensPerSecond }) =>
    phase === 'prefill' ? [] : (sound(tokensPerSecond) ?? []),
  );
  const memory = all.flatMap(({ memoryBytes }) => sound(memoryBytes) ?? []);
  const newTokens = usage ? Math.max(0, usage.promptTokens - usage.cachedTokens) : 0;
  return {
    firstTokenMs: timings?.firstTokenMs ?? null,
    prefillSpeed: timings && timings.prefillMs > 0 && newTokens > 0 ? (newTokens * 1000) / timings.prefillMs : null,
    newTokens,
    cachedTokens: usage?.cachedTokens ?? 0,
    decode: spreadOf(speeds),
    device: deviceOf(timings),
    peakMemory: memory.length === 0 ? null : memory.reduce((most, bytes) => Math.max(most, bytes), 0),
  };
}

function deviceOf(timings: Message['timings']): SpeedFigures['device'] {
  const ms = sound(timings?.deviceMs ?? null);
  if (!timings || ms === null) return null;
  const whole = timings.prefillMs + timings.decodeMs;
  return { ms, share: whole > 0 ? Math.min(1, ms / whole) : 0 };
}

/** Sampled time of writing, thinking included, reading excluded. */
export function writtenFor(samples: readonly StatsSample[] | undefined): number | null {
  const all = soundSamples(samples ?? []);
  const begin = all.findIndex(({ phase }) => phase !== 'prefill');
  const last = all.at(-1);
  return begin === -1 || !last ? null : last.atMs - (all[begin - 1]?.atMs ?? 0);
}

/** Sampled duration and tokens of thinking. */
export function thoughtOf(samples: readonly StatsSample[] | undefined): { ms: number; tokens: number } | null {
  const all = soundSamples(samples ?? []);
  const begin = all.findIndex(({ phase }) => phase === 'thinking');
  const last = all.findLast(({ phase }) => phase === 'thinking');
  if (begin === -1 || !last) return null;
  return { ms: last.atMs - (all[begin - 1]?.atMs ?? 0), tokens: last.tokens };
}
