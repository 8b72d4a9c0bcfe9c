import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { openChat } from '../shell/commands.ts';
import { Segmented } from '../ui/choice.tsx';
import { MISSING } from '../ui/format.ts';
import { type Column, columnsOf, type Dot, hasMedian, type Metric, SHORTEST } from './figures.ts';
import { usePerformance } from './store.ts';

/** Every answer of a model as a dot, by version of the engine and back end; the same as a table below. */
export function History({ model }: { model: string | null }) {
  const { t } = useTranslation();
  const { runs, metric } = usePerformance();
  const columns = model === null ? [] : columnsOf(runs, model, metric);
  return (
    <section aria-label={t('performance.history')} className="min-w-0 p-5 xl:border-e xl:border-line">
      <header className="flex flex-wrap items-center gap-3">
        <h2 className="min-w-0 flex-1 font-semibold">{t('performance.history')}</h2>
        <Segmented<Metric>
          label={t('performance.metric')}
          value={metric}
          options={(['decode', 'prefill', 'firstToken'] as const).map((value) => ({
            value,
            name: t(`performance.${value}`),
          }))}
          onChange={(next) => usePerformance.setState({ metric: next })}
        />
      </header>
      <p className="mt-1 text-xs text-fg-3">{t('performance.dots', { tokens: SHORTEST })}</p>
      {columns.length === 0 ? (
        <p className="py-16 text-center text-fg-3">{t('performance.empty')}</p>
      ) : (
        <>
          <Dots columns={columns} metric={metric} />
          <Table columns={columns} metric={metric} />
        </>
      )}
    </section>
  );
}

const MOST_DOTS = 200;

function Dots({ columns, metric }: { columns: readonly Column[]; metric: Metric }) {
  const { t } = useTranslation();
  const format = useMetricFormat();
  const values = columns.flatMap(({ dots }) => dots.map(({ value }) => value));
  const top = Math.max(...values) * 1.1 || 1;
  const height = (value: number) => `${(value / top) * 100}%`;
  return (
    <div className="mt-4">
      <div className="relative flex h-64 border-y border-line">
        <span className="absolute start-0 top-0 text-2xs text-fg-3">{format(metric, top)}</span>
        {columns.map((column) => (
          <div key={column.key} className="relative min-w-0 flex-1">
            {column.dots.slice(-MOST_DOTS).map((dot) => (
              <DotOf key={dot.run.id} dot={dot} bottom={height(dot.value)} name={format(metric, dot.value)} />
            ))}
            {hasMedian(column) && column.spread && (
              <span
                aria-hidden
                className="absolute inset-x-[20%] h-0.5 translate-y-1/2 bg-series-1"
                style={{ bottom: height(column.spread.median) }}
              />
            )}
          </div>
        ))}
      </div>
      <div aria-hidden className="mt-1.5 flex text-center text-xs text-fg-3">
        {columns.map((column) => (
          <span key={column.key} className="min-w-0 flex-1 truncate">
            {t('performance.version', { engine: column.engine, backEnd: column.backEnd })}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Spread sideways by its number, so that dots of one speed do not hide each other. Leads to its message. */
function DotOf({ dot: { run, value, outlier }, bottom, name }: { dot: Dot; bottom: string; name: string }) {
  const { t } = useTranslation();
  const chatId = run.chatId;
  const look = run.disturbed ? 'bg-series-5' : outlier ? 'bg-warn' : 'bg-series-1';
  const place = { bottom, insetInlineStart: `${50 + ((run.id * 37) % 41) - 20}%` };
  if (chatId === null) {
    return (
      <span
        aria-hidden
        className={`absolute size-1.5 -translate-x-1/2 translate-y-1/2 rounded-[1px] opacity-70 ${look}`}
        style={place}
      />
    );
  }
  return (
    <button
      type="button"
      tabIndex={outlier ? 0 : -1}
      aria-label={t('performance.openAnswer', { value: name })}
      title={name}
      data-value={value}
      onClick={() => openChat(chatId)}
      className={`absolute size-1.5 -translate-x-1/2 translate-y-1/2 rounded-full opacity-70 hover:opacity-100 ${look}`}
      style={place}
    />
  );
}

function useMetricFormat(): (metric: Metric, value: number | null) => string {
  const formats = useFormats();
  return (metric, value) => {
    if (value === null) return MISSING;
    return metric === 'firstToken' ? formats.duration(value) : formats.speed(value);
  };
}

function Table({ columns, metric }: { columns: readonly Column[]; metric: Metric }) {
  const { t } = useTranslation();
  const format = useMetricFormat();
  const formats = useFormats();
  return (
    <table className="mt-5 w-full text-xs tabular-nums">
      <thead className="text-fg-3">
        <tr>
          {(['engine', 'median', 'spread', 'count'] as const).map((column) => (
            <th key={column} scope="col" className="py-1 text-start font-normal">
              {t(`performance.${column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {columns.map((column) => (
          <tr key={column.key} className="border-t border-line">
            <th scope="row" className="py-1.5 text-start font-medium">
              {t('performance.version', { engine: column.engine, backEnd: column.backEnd })}
            </th>
            <td className="font-semibold">
              {hasMedian(column) ? format(metric, column.spread?.median ?? null) : t('performance.tooFew')}
            </td>
            <td>
              {column.spread ? `${format(metric, column.spread.low)} – ${format(metric, column.spread.high)}` : MISSING}
            </td>
            <td>{formats.exact(column.spread?.count ?? 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
