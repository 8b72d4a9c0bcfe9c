import { create } from 'zustand';
import {
  type BenchmarkState,
  type Conditions,
  type EventPayload,
  type Failure,
  failureOf,
  type ModelId,
  type Run,
} from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { type LivePoints, noLivePoints, withEvents } from './live.ts';
import type { Filter, Metric } from './selectors.ts';

export type Tab = 'overview' | 'compare';

type Performance = {
  tab: Tab;
  runs: readonly Run[];
  benchmark: BenchmarkState;
  failure: Failure | null;
  /** Null: the most recently measured model. */
  model: string | null;
  metric: Metric;
  filter: Filter;
  /** The batches being compared. */
  chosen: readonly string[];
  live: LivePoints;
  /** A requested benchmark, and what would disturb it. */
  benchmarkWarning: { modelIds: ModelId[]; conditions: Conditions } | null;
  load(): Promise<void>;
  /** Starts a benchmark, unless something would disturb it: then warns the user first. */
  ask(modelIds: ModelId[]): Promise<void>;
  clearBenchmarkWarning(): void;
  start(modelIds: ModelId[]): Promise<void>;
  cancel(): Promise<void>;
  choose(batch: string): void;
};

export const usePerformance = create<Performance>()((set, get) => ({
  tab: 'overview',
  runs: [],
  benchmark: { status: 'idle' },
  failure: null,
  model: null,
  metric: 'decode',
  filter: { sort: 'all', backEnd: null },
  chosen: [],
  live: noLivePoints,
  benchmarkWarning: null,

  async load() {
    const [runs, benchmark] = await Promise.all([
      core.call('metrics.runs', {}),
      core.call('benchmark.state', undefined),
    ]);
    set({ runs, benchmark });
  },

  async ask(modelIds) {
    const conditions = await core.call('benchmark.conditions').catch(() => null);
    if (conditions && Object.values(conditions).includes(true)) set({ benchmarkWarning: { modelIds, conditions } });
    else await get().start(modelIds);
  },

  clearBenchmarkWarning: () => set({ benchmarkWarning: null }),

  async start(modelIds) {
    set({ failure: null, benchmarkWarning: null });
    try {
      await core.call('benchmark.start', { modelIds });
    } catch (error) {
      set({ failure: failureOf(error) });
    }
  },

  cancel: () => core.call('benchmark.cancel', undefined),

  /** Keeps the last two selected. */
  choose(batch) {
    const others = get().chosen.filter((one) => one !== batch);
    set({ chosen: others.length < get().chosen.length ? others : [...others, batch].slice(-2) });
  },
}));

/** Live figures update four times a second. */
const LIVE_MS = 250;
const live = createBatcher<EventPayload<'turn'>>(
  (batch) => usePerformance.setState((state) => ({ live: withEvents(state.live, batch, Date.now()) })),
  LIVE_MS,
);

export function listenToPerformance(): () => void {
  const stops = [
    core.on('turn', (payload) => {
      const { type } = payload.event;
      if (type === 'stats' || type === 'finished' || type === 'failed') live.add(payload);
    }),
    core.on('run.added', (run) => usePerformance.setState((state) => ({ runs: [run, ...state.runs] }))),
    core.on('benchmark', (benchmark) => usePerformance.setState({ benchmark })),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Saves the rows of every run to a file. */
export async function exportRuns(): Promise<void> {
  const csv = await core.call('metrics.export', undefined);
  const address = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'longhand-runs.csv';
  link.click();
  URL.revokeObjectURL(address);
}
