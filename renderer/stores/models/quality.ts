import { create } from 'zustand';
import type { ModelId, QualityRun } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { t } from '../../i18n.ts';
import { useToasts } from '../../ui/toast.tsx';
import { useEngine } from '../engine.ts';
import { useShell } from '../shell.ts';
import { type QualityRuns, withRun } from './quality-runs.ts';
import { showInstalled, useModels } from './store.ts';

type QualityStore = QualityRuns & {
  /** Whether the details of a model show what it is worth. */
  shown: boolean;
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
    core.on('quality.changed', (run) => {
      useQuality.setState((state) => withRun(state, run));
      tellEnded(run);
    }),
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

/** Tells that a test is over, unless the page shows it. A stopped one was stopped by somebody who knows. */
function tellEnded({ state, subject, modelId }: QualityRun): void {
  if (state.status !== 'done' && state.status !== 'failed') return;
  const { tab, installed } = useModels.getState();
  const shown = useQuality.getState().shown && tab === 'installed' && installed === modelId;
  if (shown && useShell.getState().place.kind === 'models') return;
  const name = useEngine.getState().models.find(({ id }) => id === modelId)?.name ?? '';
  const kind = t(`models.quality.kind.${subject.kind}`);
  useToasts.getState().show({
    text: t(state.status === 'done' ? 'models.quality.doneToast' : 'models.quality.failedToast', { kind, name }),
    action: t('models.showImport'),
    onAction: () => {
      useQuality.setState({ shown: true });
      showInstalled(modelId);
    },
  });
}

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
