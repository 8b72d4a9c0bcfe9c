import { create } from 'zustand';
import type { ModelId, QualityRun } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';

type QualityStore = {
  /** Whether the details of a model show what it is worth. */
  shown: boolean;
  /** The tests of models that have been asked for, the newest first. */
  runs: Record<ModelId, QualityRun[]>;
  /** The test under way, of whichever model. */
  current: QualityRun | null;
  load(modelId: ModelId): Promise<void>;
};

export const useQuality = create<QualityStore>()((set) => ({
  shown: false,
  runs: {},
  current: null,
  async load(modelId) {
    const [runs, current] = await Promise.all([
      core.call('quality.list', { modelId }).catch(() => []),
      core.call('quality.current').catch(() => null),
    ]);
    set((state) => ({ runs: { ...state.runs, [modelId]: runs }, current }));
  },
}));

export function listenToQuality(): () => void {
  const stops = [
    core.on('quality.changed', (run) => useQuality.setState((state) => withRun(state, run))),
    core.on('quality.removed', ({ modelId, id }) =>
      useQuality.setState(({ runs }) => ({
        runs: { ...runs, [modelId]: (runs[modelId] ?? []).filter((run) => run.id !== id) },
      })),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

export function withRun(
  { runs, current }: Pick<QualityStore, 'runs' | 'current'>,
  run: QualityRun,
): Pick<QualityStore, 'runs' | 'current'> {
  const known = runs[run.modelId];
  const running = run.state.status === 'running';
  return {
    current: running ? run : current?.id === run.id ? null : current,
    // Of others the whole list is asked for when they are shown.
    runs: known ? { ...runs, [run.modelId]: placed(known, run) } : runs,
  };
}

const placed = (known: readonly QualityRun[], run: QualityRun): QualityRun[] =>
  known.some(({ id }) => id === run.id) ? known.map((one) => (one.id === run.id ? run : one)) : [run, ...known];

/** Saves the results of a model to a file. */
export async function exportQuality(modelId: ModelId, name: string): Promise<void> {
  const json = await core.call('quality.export', { modelId });
  const address = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name.replace(/[^\w.-]+/g, '-')}-quality.json`;
  link.click();
  URL.revokeObjectURL(address);
}
