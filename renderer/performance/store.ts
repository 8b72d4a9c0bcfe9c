import { create } from 'zustand';
import { type BenchmarkState, type Failure, failureOf, type ModelId, type Run } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import type { Metric } from './figures.ts';

export type Tab = 'overview' | 'compare';

type Performance = {
  tab: Tab;
  runs: readonly Run[];
  benchmark: BenchmarkState;
  failure: Failure | null;
  /** Null: the model that was measured last. */
  model: string | null;
  metric: Metric;
  /** Batches that are compared. */
  chosen: readonly string[];
  load(): Promise<void>;
  start(modelIds: ModelId[]): Promise<void>;
  cancel(): Promise<void>;
  choose(batch: string): void;
};

export const usePerformance = create<Performance>()((set, get) => ({
  tab: 'overview',
  runs: [],
  benchmark: { at: 'idle' },
  failure: null,
  model: null,
  metric: 'decode',
  chosen: [],

  async load() {
    const [runs, benchmark] = await Promise.all([
      core.call('metrics.runs', {}),
      core.call('benchmark.state', undefined),
    ]);
    set({ runs, benchmark });
  },

  async start(modelIds) {
    set({ failure: null });
    try {
      await core.call('benchmark.start', { modelIds });
    } catch (error) {
      set({ failure: failureOf(error) });
    }
  },

  cancel: () => core.call('benchmark.cancel', undefined),

  /** The two that were ticked last. */
  choose(batch) {
    const others = get().chosen.filter((one) => one !== batch);
    set({ chosen: others.length < get().chosen.length ? others : [...others, batch].slice(-2) });
  },
}));

export function listenToPerformance(): () => void {
  const stops = [
    core.on('run.added', (run) => usePerformance.setState((state) => ({ runs: [run, ...state.runs] }))),
    core.on('benchmark', (benchmark) => usePerformance.setState({ benchmark })),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The rows of every run as a file. */
export async function exportRuns(): Promise<void> {
  const csv = await core.call('metrics.export', undefined);
  const address = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'longhand-runs.csv';
  link.click();
  URL.revokeObjectURL(address);
}
