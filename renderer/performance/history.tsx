import { useTranslation } from 'react-i18next';
import { openChat, openMessage } from '../commands/commands.ts';
import { useBackEndName, useFormats } from '../i18n.ts';
import {
  type Change,
  type Column,
  columnsOf,
  type Dot,
  filtered,
  hasMedian,
  type Metric,
  SHORTEST,
  scaleOf,
  setbacksOf,
  trendOf,
} from '../stores/performance/selectors.ts';
import { usePerformance } from '../stores/performance/store.ts';
import { Segmented } from '../ui/choice.tsx';
import { MISSING, rangeOf } from '../ui/format.ts';
import { Filters } from './filters.tsx';

/** Every answer of a model as a dot, by engine version and back end; also as a table below. */
export function History({ model }: { model: string | null }) {
  const { t } = useTranslation();
  const { runs, metric, filter } = usePerformance();
  const columns = model === null ? [] : columnsOf(filtered(runs, filter), model, metric);
  const setbacks = setbacksOf(columns, metric);
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
      {runs.length > 0 && <Filters model={model} />}
      {columns.length === 0 ? (
        <p className="py-16 text-center text-fg-3">
          {t(runs.length === 0 ? 'performance.empty' : 'performance.nothingSuch')}
        </p>
      ) : (
        <>
          <Dots columns={columns} metric={metric} setbacks={setbacks} />
          <Trend columns={columns} metric={metric} setbacks={setbacks} />
          <Table columns={columns} metric={metric} />
        </>
      )}
    </section>
  );
}

const MAX_DOTS = 200;

type DotsProps = { columns: readonly Column[]; metric: Metric; setbacks: ReadonlyMap<string, Change> };

function Dots({ columns, metric, setbacks }: DotsProps) {
  const { t } = useTranslation();
  const nameOf = useBackEndName();
  const format = useMetricFormat();
  const formats = useFormats();
  const scale = scaleOf(columns.flatMap(({ dots }) => dots.slice(-MAX_DOTS).map(({ value }) => value)));
  const height = (value: number) => `${((value - scale.low) / (scale.high - scale.low)) * 100}%`;
  return (
    <div className="mt-4">
      <div className="relative flex h-64 ps-16">
        {scale.ticks.map((tick) => (
          <span
            key={tick}
            aria-hidden
            className="absolute inset-x-0 border-t border-grid"
            style={{ bottom: height(tick) }}
          >
            <span className="absolute -top-2 start-0 bg-canvas pe-2 text-2xs leading-4 text-fg-3 tabular-nums">
              {metric === 'firstToken' ? formats.duration(tick) : formats.speedTick(tick)}
            </span>
          </span>
        ))}
        {columns.map((column) => (
          <div key={column.key} className="relative min-w-0 flex-1">
            {column.dots.slice(-MAX_DOTS).map((dot) => (
              <DotOf key={dot.run.id} dot={dot} bottom={height(dot.value)} name={format(metric, dot.value)} />
            ))}
            <Median column={column} metric={metric} setback={setbacks.get(column.key)} height={height} />
          </div>
        ))}
      </div>
      <div aria-hidden className="mt-1.5 flex ps-16 text-center text-xs text-fg-3">
        {columns.map((column) => (
          <span key={column.key} className="min-w-0 flex-1 truncate">
            {t('performance.version', { engine: column.engine, backEnd: nameOf(column.backEnd) })}
          </span>
        ))}
      </div>
    </div>
  );
}

type MedianProps = { column: Column; metric: Metric; setback: Change | undefined; height: (value: number) => string };

function Median({ column, metric, setback, height }: MedianProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  if (!hasMedian(column) || !column.spread) return null;
  return (
    <>
      <span
        aria-hidden
        className={`absolute inset-x-[20%] h-0.5 translate-y-1/2 ${setback ? 'bg-bad' : 'bg-series-1'}`}
        style={{ bottom: height(column.spread.median) }}
      />
      {setback && (
        <span
          className="absolute inset-x-0 translate-y-full truncate pt-1 text-center text-2xs text-bad-text"
          style={{ bottom: height(Math.min(...column.dots.map(({ value }) => value))) }}
        >
          {t(`performance.worse.${metric}`, { share: formats.percent(setback.share) })}
        </span>
      )}
    </>
  );
}

/** The trend in a sentence. */
function Trend({ columns, metric, setbacks }: DotsProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const trend = trendOf(columns, metric);
  if (!trend) return null;
  const { from, change } = trend;
  const share = change && formats.percent(change.share);
  const said = change && t(`performance.${change.better ? 'better' : 'worse'}.${metric}`, { share });
  const engines = [...setbacks.values()].map(({ to }) => to.engine).join(', ');
  return (
    <p className="mt-3 text-xs text-fg-2">
      <b className="font-semibold text-fg">
        {said
          ? t('performance.since', { change: said, engine: from.engine })
          : t('performance.sameSince', { engine: from.engine })}
      </b>{' '}
      {setbacks.size > 0 && t('performance.setback', { count: setbacks.size, engines })}
    </p>
  );
}

/** Spread sideways by index, so that dots of equal speed do not overlap. Links to its message. */
function DotOf({ dot: { run, value, outlier }, bottom, name }: { dot: Dot; bottom: string; name: string }) {
  const { t } = useTranslation();
  const { chatId, messageId } = run;
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
      onClick={() => (messageId === null ? openChat(chatId) : void openMessage(chatId, messageId))}
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
  const nameOf = useBackEndName();
  const format = useMetricFormat();
  const formats = useFormats();
  return (
    <table className="mt-5 w-full tabular-nums [&_td]:text-end">
      <thead className="text-2xs text-fg-3">
        <tr>
          {(['engine', 'median', 'spread', 'count'] as const).map((column) => (
            <th key={column} scope="col" className="h-row text-end font-medium first:text-start">
              {t(`performance.${column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {columns.map((column) => (
          <tr key={column.key} className="border-t border-line">
            <th scope="row" className="h-8 text-start font-medium">
              {t('performance.version', { engine: column.engine, backEnd: nameOf(column.backEnd) })}
            </th>
            <td className="font-semibold">
              {hasMedian(column) ? format(metric, column.spread?.median ?? null) : t('performance.tooFew')}
            </td>
            <td>{rangeOf(column.spread, (value) => format(metric, value), t) || MISSING}</td>
            <td>{formats.exact(column.spread?.count ?? 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
