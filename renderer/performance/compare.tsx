import { useTranslation } from 'react-i18next';
import { useBackEndName, useFormats } from '../i18n.ts';
import { useEngine } from '../stores/engine.ts';
import {
  type Bench,
  benchesOf,
  type ComparedRow,
  comparedRows,
  widestChange,
} from '../stores/performance/selectors.ts';
import { usePerformance } from '../stores/performance/store.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/choice.tsx';
import { MISSING } from '../ui/format.ts';
import { CompareChart } from './compare-chart.tsx';
import { DeltaBar } from './delta-bar.tsx';

/** Two benchmarks side by side. A difference within the noise is reported as none. */
export function Compare() {
  const { runs, chosen } = usePerformance();
  const benches = benchesOf(runs);
  const [a, b] = chosen.map((batch) => benches.find((bench) => bench.batch === batch));
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="grid grid-cols-2 border-b border-line">
        <Side letter="A" at={0} bench={a} benches={benches} />
        <Side letter="B" at={1} bench={b} benches={benches} />
      </div>
      {a && b ? (
        <>
          <CompareChart a={a} b={b} />
          <Rows a={a} b={b} />
        </>
      ) : (
        <Ask />
      )}
    </div>
  );
}

type SideProps = { letter: string; at: 0 | 1; bench: Bench | undefined; benches: readonly Bench[] };

function Side({ letter, at, bench, benches }: SideProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const nameOf = useBackEndName();
  const chosen = usePerformance((state) => state.chosen);
  const name = (one: Bench) =>
    `${one.model}, ${one.engine} ${nameOf(one.backEnd)}, ${formats.day(one.at)} ${formats.clock(one.at)}`;
  const pick = (batch: string) => {
    const next = at === 0 ? [batch, chosen[1]] : [chosen[0], batch];
    usePerformance.setState({ chosen: next.filter((one) => one !== undefined) });
  };
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5 px-5 py-3.5 first:border-e first:border-line">
      <span
        className={`grid size-5 flex-none place-items-center rounded-sm text-xs font-semibold boxed ${at === 0 ? 'text-series-1' : 'text-series-2'}`}
      >
        <span className="text-fg">{letter}</span>
      </span>
      {benches.length > 0 && (
        <Select
          label={t('performance.side', { letter })}
          value={bench?.batch ?? ''}
          options={benches.map((one) => ({ value: one.batch, name: name(one) }))}
          onChange={pick}
          width="fill"
        />
      )}
      {bench?.disturbed && <span className="ms-8 w-full text-xs text-warn-text">{t('performance.disturbed')}</span>}
    </div>
  );
}

/** Two models, alternating on the same prompts, so that disturbances affect both. */
function Ask() {
  const { t } = useTranslation();
  const models = useEngine((state) => state.models).filter(({ remote }) => remote === null);
  const { benchmark, ask } = usePerformance();
  const [one, other] = models;
  return (
    <div className="px-5 py-16 text-center text-fg-3">
      <p>{t('performance.chooseTwo')}</p>
      {one && other && (
        <Button className="mt-4" disabled={benchmark.status === 'running'} onClick={() => void ask([one.id, other.id])}>
          {t('performance.both', { a: one.name, b: other.name })}
        </Button>
      )}
    </div>
  );
}

function Rows({ a, b }: { a: Bench; b: Bench }) {
  const { t } = useTranslation();
  const rows = comparedRows(a, b);
  const widest = widestChange(rows);
  return (
    <table className="w-full tabular-nums">
      <thead className="text-2xs text-fg-3">
        <tr>
          <th className="h-row px-5">
            <span className="sr-only">{t('performance.metric')}</span>
          </th>
          {['A', 'B', t('performance.against')].map((head) => (
            <th key={head} scope="col" className="px-3 text-end font-medium whitespace-nowrap max-lg:px-2">
              {head}
            </th>
          ))}
          <th colSpan={2}>
            <span className="sr-only">{t('performance.meaning')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <RowOf key={row.metric} row={row} widest={widest} />
        ))}
      </tbody>
    </table>
  );
}

function RowOf({ row, widest }: { row: ComparedRow; widest: number }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { metric, result } = row;
  const show = (value: number | null) => {
    if (value === null) return MISSING;
    if (metric === 'memory') return formats.memory(value);
    return metric === 'firstToken' ? formats.duration(value) : formats.speed(value);
  };
  const verdict =
    result.verdict === 'none' ? 'none' : row.better === null ? 'too-few' : row.better ? 'better' : 'worse';
  const noise = result.verdict === 'too-few' ? '' : `±${formats.change(result.noise).replace('+', '')}`;
  return (
    <tr className="border-t border-line">
      <th scope="row" className="h-row-lg px-5 text-start font-normal">
        {t(`performance.${metric}`)}
      </th>
      <td className="px-3 text-end font-medium whitespace-nowrap max-lg:px-2">{show(row.a)}</td>
      <td className="px-3 text-end font-medium whitespace-nowrap max-lg:px-2">{show(row.b)}</td>
      <td className="px-3 text-end whitespace-nowrap text-fg-2 max-lg:px-2">
        {result.verdict === 'too-few' ? MISSING : formats.change(result.change)}
      </td>
      <td className="w-38 px-3 max-lg:hidden">
        {result.verdict !== 'too-few' && <DeltaBar change={result.change} widest={widest} better={row.better} />}
      </td>
      <td
        className={`px-3 max-lg:text-xs ${verdict === 'better' ? 'text-ok-text' : verdict === 'worse' ? 'text-warn-text' : 'text-fg-3'}`}
      >
        {t(`performance.verdict.${verdict}`, { noise })}
      </td>
    </tr>
  );
}
