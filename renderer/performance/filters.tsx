import { useTranslation } from 'react-i18next';
import { useBackEndName } from '../i18n.ts';
import { backEndsOf, type Filter } from '../stores/performance/selectors.ts';
import { usePerformance } from '../stores/performance/store.ts';
import { Segmented, Select } from '../ui/choice.tsx';

const EVERY = 'every';

/** Which runs the history shows; a back end can be chosen if a model ran on several. */
export function Filters({ model }: { model: string | null }) {
  const { t } = useTranslation();
  const nameOf = useBackEndName();
  const { runs, filter } = usePerformance();
  const backEnds = [...new Set([...backEndsOf(runs, model), ...(filter.backEnd === null ? [] : [filter.backEnd])])];
  const choose = (change: Partial<Filter>) => usePerformance.setState({ filter: { ...filter, ...change } });
  return (
    <div className="mt-3 flex flex-wrap items-center gap-2">
      <Segmented<Filter['sort']>
        label={t('performance.shown')}
        value={filter.sort}
        options={(['all', 'answers', 'benchmarks'] as const).map((value) => ({
          value,
          name: t(`performance.sort.${value}`),
        }))}
        onChange={(sort) => choose({ sort })}
      />
      {backEnds.length > 1 && (
        <Select
          label={t('performance.backEnd')}
          value={filter.backEnd ?? EVERY}
          options={[
            { value: EVERY, name: t('performance.everyBackEnd') },
            ...backEnds.map((value) => ({ value, name: nameOf(value) })),
          ]}
          onChange={(next) => choose({ backEnd: next === EVERY ? null : next })}
        />
      )}
    </div>
  );
}
