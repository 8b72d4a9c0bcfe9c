import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { useFormats } from '../i18n.ts';
import { type Bench, curvesOf } from '../stores/performance/selectors.ts';
import { Chart, type ChartPlan } from '../ui/chart.tsx';
import type { Formats } from '../ui/format.ts';

const FONT = '11px Inter, system-ui, sans-serif';

/** Both lines, each with a dot at its end; the background shades the time in which both were still reading. */
const planOf =
  (reading: number, prefill: string, formats: Formats): ChartPlan =>
  (colour) => {
    const axis = { stroke: colour('fg-3'), ticks: { show: false }, font: FONT };
    const line = (token: string) => {
      const stroke = colour(token);
      return { stroke, width: 1.5, spanGaps: true, points: { show: true, filter: end, size: 6, fill: stroke } };
    };
    return {
      padding: [18, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: (_, __, most) => [0, most] },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 24,
          values: (_, ticks) => formats.ticks(ticks, 's'),
        },
        { ...axis, grid: { stroke: colour('grid'), width: 1 }, size: 48 },
      ],
      series: [{}, line('series-1'), { ...line('series-2'), dash: [6, 3] }],
      hooks: { drawClear: [(plot) => shade(plot, reading, prefill, colour)] },
    };
  };

/** The index of the last value. */
const end: uPlot.Series.Points.Filter = (plot, series) => {
  const at = plot.data[series]?.findLastIndex((value) => value !== null && value !== undefined) ?? -1;
  return at === -1 ? null : [at];
};

function shade(plot: uPlot, reading: number, word: string, colour: (token: string) => string): void {
  if (reading <= 0) return;
  const { ctx, bbox } = plot;
  const right = plot.valToPos(reading, 'x', true);
  ctx.save();
  ctx.fillStyle = colour('prefill');
  ctx.fillRect(bbox.left, bbox.top, Math.max(1, right - bbox.left), bbox.height);
  ctx.font = `${11 * devicePixelRatio}px Inter, system-ui, sans-serif`;
  ctx.textBaseline = 'bottom';
  ctx.fillStyle = colour('fg-2');
  ctx.fillText(word, bbox.left, bbox.top - 3 * devicePixelRatio);
  ctx.restore();
}

/** The speed of both over time, each by its median run. The figures are in the table below. */
export function CompareChart({ a, b }: { a: Bench; b: Bench }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { seconds, first, second, reading } = useMemo(() => curvesOf(a, b), [a, b]);
  const plan = useMemo(() => planOf(reading, t('performance.prefill'), formats), [reading, t, formats]);
  const data = useMemo(() => [seconds, first, second] as uPlot.AlignedData, [seconds, first, second]);
  const runs = Math.min(a.runs.length, b.runs.length);
  if (seconds.length < 2) return null;
  return (
    <section className="border-b border-line px-5 pt-4.5 pb-3">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="font-semibold">{t('performance.overTime')}</h2>
        {(['A', 'B'] as const).map((letter) => (
          <span key={letter} className="inline-flex items-center gap-1.5 text-xs text-fg-2">
            <span
              className={`w-3.5 border-t-2 ${letter === 'A' ? 'border-series-1' : 'border-dashed border-series-2'}`}
            />
            {letter}
          </span>
        ))}
        <span className="ms-auto text-xs text-fg-3 tabular-nums">{t('performance.sameQuestion', { count: runs })}</span>
      </header>
      <div className="mt-2.5">
        <Chart plan={plan} data={data} height={272} label={t('performance.picture')} />
      </div>
    </section>
  );
}
