import { useTranslation } from 'react-i18next';
import { usePerformance } from '../stores/performance/store.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

/** Warns before a benchmark that something would disturb; it can still be run, and is then marked. */
export function ConditionsNotice() {
  const { t } = useTranslation();
  const { benchmarkWarning, start, clearBenchmarkWarning } = usePerformance();
  if (!benchmarkWarning) return null;
  const reasons = (['battery', 'hot', 'busy'] as const).filter((reason) => benchmarkWarning.conditions[reason]);
  return (
    <div className="p-4">
      <Notice
        alert
        tone="warn"
        title={t('performance.doubt.title')}
        actions={
          <>
            <Button kind="primary" onClick={clearBenchmarkWarning}>
              {t('performance.doubt.later')}
            </Button>
            <Button onClick={() => void start(benchmarkWarning.modelIds)}>{t('performance.doubt.anyway')}</Button>
          </>
        }
      >
        {[...reasons.map((reason) => t(`performance.doubt.${reason}`)), t('performance.doubt.marked')].join(' ')}
      </Notice>
    </div>
  );
}
