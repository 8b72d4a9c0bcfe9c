import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Details } from '../parts/problem.tsx';
import { SidebarButtons } from '../parts/sidebar-buttons.tsx';
import { sentenceOf } from '../sentences.ts';
import { useEngine } from '../stores/engine.ts';
import { exportRuns, type Tab, usePerformance } from '../stores/performance/store.ts';
import { Button } from '../ui/button.tsx';
import { Segmented, Select } from '../ui/choice.tsx';
import { Meter } from '../ui/meter.tsx';
import { Notice } from '../ui/notice.tsx';
import { Benches } from './benches.tsx';
import { Compare } from './compare.tsx';
import { ConditionsNotice } from './conditions.tsx';
import { History } from './history.tsx';
import { benchableModels, firstShown, modelsToShow } from './models.ts';
import { Tiles } from './tiles.tsx';

export function PerformancePage() {
  const { t } = useTranslation();
  const { tab, runs, model, load, failure, benchmark } = usePerformance();
  const installed = useEngine((state) => state.models);
  const status = useEngine((state) => state.status);
  const loaded = 'modelId' in status ? status.modelId : null;
  const models = modelsToShow(runs, installed);
  const shown = model ?? firstShown(models, runs, installed, loaded);
  useEffect(() => void load(), [load]);
  const broken = failure ?? (benchmark.status === 'failed' ? benchmark.failure : null);
  return (
    <main className="flex h-full min-w-0 flex-col">
      <header className="drag-region flex h-bar flex-none items-center gap-3.5 border-b border-line ps-5 pe-3">
        <SidebarButtons />
        <h1 className="font-semibold max-xl:sr-only">{t('performance.title')}</h1>
        <span className="no-drag">
          <Segmented<Tab>
            label={t('performance.title')}
            value={tab}
            options={[
              { value: 'overview', name: t('performance.overview') },
              { value: 'compare', name: t('performance.compare') },
            ]}
            onChange={(next) => usePerformance.setState({ tab: next })}
          />
        </span>
        <span className="flex-1" />
        <span className="no-drag flex min-w-0 items-center gap-2">
          {shown !== null && tab === 'overview' && (
            <Select
              label={t('performance.model')}
              value={shown}
              options={models.map((name) => ({ value: name, name }))}
              onChange={(next) => usePerformance.setState({ model: next })}
              width="fill"
            />
          )}
          <Button disabled={runs.length === 0} onClick={() => void exportRuns()}>
            {t('performance.export')}
          </Button>
          <BenchmarkButton model={shown} />
        </span>
      </header>
      {broken && (
        <div className="p-4">
          <Notice alert tone="bad" title={t('performance.failed')}>
            {sentenceOf(broken)}
            <Details text={broken.message} />
          </Notice>
        </div>
      )}
      <ConditionsNotice />
      {tab === 'compare' ? (
        <Compare />
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto">
          <Tiles />
          <div className="grid border-t border-line xl:grid-cols-2">
            <History model={shown} />
            <Benches />
          </div>
        </div>
      )}
    </main>
  );
}

/** Measures the model selected beside it. */
function BenchmarkButton({ model }: { model: string | null }) {
  const { t } = useTranslation();
  const { tab, benchmark, ask, cancel } = usePerformance();
  const installed = useEngine((state) => state.models);
  if (benchmark.status === 'running') {
    const { done, total } = benchmark;
    return (
      <span className="flex items-center gap-2.5 text-xs text-fg-3 tabular-nums" role="status">
        {t('performance.running', { run: done + 1, total })}
        <span className="w-24 max-lg:hidden">
          <Meter parts={[{ share: done / total, tone: 'ink' }]} label={t('performance.progress')} />
        </span>
        <Button onClick={() => void cancel()}>{t('performance.stop')}</Button>
      </span>
    );
  }
  if (tab === 'compare' || model === null) return null;
  const entry = benchableModels(installed).find(({ name }) => name === model);
  return (
    <Button
      kind="primary"
      icon="performance"
      title={t(entry ? 'performance.runOf' : 'performance.notInstalled', { model })}
      disabled={!entry}
      onClick={() => entry && void ask([entry.id])}
    >
      {t('performance.run')}
    </Button>
  );
}
