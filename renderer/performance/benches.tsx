import { useTranslation } from 'react-i18next';
import { useBackEndName, useFormats } from '../i18n.ts';
import { type Bench, benchesOf, medianOf } from '../stores/performance/selectors.ts';
import { usePerformance } from '../stores/performance/store.ts';
import { Button } from '../ui/button.tsx';
import { MISSING, split, TOKENS_PER_SECOND } from '../ui/format.ts';

/** A table of benchmarks; two can be selected and compared. */
export function Benches() {
  const { t } = useTranslation();
  const { runs, chosen } = usePerformance();
  const benches = benchesOf(runs);
  return (
    <section aria-label={t('performance.benchmarks')} className="min-w-0 p-5">
      <header className="flex items-center gap-3">
        <h2 className="min-w-0 flex-1 font-semibold">{t('performance.benchmarks')}</h2>
        <Button disabled={chosen.length < 2} onClick={() => usePerformance.setState({ tab: 'compare' })}>
          {t('performance.compareThem')}
        </Button>
      </header>
      {benches.length === 0 ? (
        <p className="py-16 text-center text-fg-3">{t('performance.noBenchmarks')}</p>
      ) : (
        <div className="overflow-x-auto">
          <table className="mt-3 w-full whitespace-nowrap tabular-nums [&_td:not(:last-child)]:pe-4 [&_th:not(:last-child)]:pe-4">
            <thead className="text-2xs text-fg-3">
              <tr>
                <th scope="col" className="w-7">
                  <span className="sr-only">{t('performance.choose')}</span>
                </th>
                {(['model', 'decode', 'prefill', 'firstToken'] as const).map((column, at) => (
                  <th key={column} scope="col" className={`h-row font-medium ${at === 0 ? 'text-start' : 'text-end'}`}>
                    {t(`performance.${column}`)}
                    {(column === 'decode' || column === 'prefill') && `, ${TOKENS_PER_SECOND}`}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {benches.map((bench) => (
                <BenchRow key={bench.batch} bench={bench} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function BenchRow({ bench }: { bench: Bench }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const nameOf = useBackEndName();
  const { chosen, choose } = usePerformance();
  const at = chosen.indexOf(bench.batch);
  const first = medianOf(bench.runs, 'firstToken');
  return (
    <tr className="border-t border-line">
      <td className="h-row-lg">
        <button
          type="button"
          aria-pressed={at >= 0}
          aria-label={t('performance.chooseOne', { model: bench.model })}
          onClick={() => choose(bench.batch)}
          className={`grid size-4 place-items-center rounded-xs text-2xs font-semibold boxed ${at === 0 ? 'text-series-1' : at === 1 ? 'text-series-2' : 'text-edge'}`}
        >
          {at >= 0 && <span className="text-fg">{'AB'.charAt(at)}</span>}
        </button>
      </td>
      <th scope="row" className="w-full max-w-0 py-1.5 text-start font-medium">
        <div className="truncate" title={bench.model}>
          {bench.model}
        </div>
        <div className="truncate text-xs font-normal text-fg-3">
          {t('performance.versionAt', {
            engine: bench.engine,
            backEnd: nameOf(bench.backEnd),
            when: formats.when(bench.at, Date.now()),
          })}
          {bench.disturbed && <span className="ms-1.5 text-warn-text">{t('performance.disturbed')}</span>}
        </div>
      </th>
      <td className="text-end font-medium">{split(formats.speed(medianOf(bench.runs, 'decode'))).figure}</td>
      <td className="text-end">{split(formats.speed(medianOf(bench.runs, 'prefill'))).figure}</td>
      <td className="text-end">{first === null ? MISSING : formats.duration(first)}</td>
    </tr>
  );
}
