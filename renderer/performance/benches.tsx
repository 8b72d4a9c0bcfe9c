import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { Button } from '../ui/button.tsx';
import { MISSING } from '../ui/format.ts';
import { type Bench, benchesOf, medianOf } from './figures.ts';
import { usePerformance } from './store.ts';

/** Benchmarks as a table; two of them are ticked and compared. */
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
          <table className="mt-3 w-full text-xs whitespace-nowrap tabular-nums [&_td]:pe-3 [&_th]:pe-3">
            <thead className="text-fg-3">
              <tr>
                <th scope="col" className="w-7">
                  <span className="sr-only">{t('performance.choose')}</span>
                </th>
                {(['model', 'engine', 'decode', 'prefill', 'firstToken', 'when'] as const).map((column) => (
                  <th key={column} scope="col" className="py-1 text-start font-normal">
                    {t(`performance.${column}`)}
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
  const { chosen, choose } = usePerformance();
  const at = chosen.indexOf(bench.batch);
  const first = medianOf(bench.runs, 'firstToken');
  return (
    <tr className="border-t border-line">
      <td className="py-2">
        <button
          type="button"
          aria-pressed={at >= 0}
          aria-label={t('performance.chooseOne', { model: bench.model })}
          onClick={() => choose(bench.batch)}
          className={`grid size-4 place-items-center rounded-xs text-2xs font-semibold hairline ${at === 0 ? 'text-series-1' : at === 1 ? 'text-series-2' : ''}`}
        >
          {at >= 0 && 'AB'.charAt(at)}
        </button>
      </td>
      <th scope="row" className="max-w-40 truncate text-start font-medium">
        {bench.model}
        {bench.disturbed && <span className="ms-1.5 font-normal text-warn-text">{t('performance.disturbed')}</span>}
      </th>
      <td>{t('performance.version', { engine: bench.engine, backEnd: bench.backEnd })}</td>
      <td className="font-semibold">{formats.speed(medianOf(bench.runs, 'decode'))}</td>
      <td>{formats.speed(medianOf(bench.runs, 'prefill'))}</td>
      <td>{first === null ? MISSING : formats.duration(first)}</td>
      <td className="text-fg-3">{formats.ago(bench.at, Date.now())}</td>
    </tr>
  );
}
