import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Chart, type ChartPlan } from '../ui/chart.tsx';
import { type Bench, curvesOf } from './figures.ts';

const FONT = '11px Inter, system-ui, sans-serif';

const plan: ChartPlan = (colour) => {
  const axis = { stroke: colour('fg-3'), ticks: { show: false }, font: FONT };
  const line = { width: 1.5, spanGaps: true, points: { show: false } };
  return {
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { size: 7 } },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        values: (_, ticks) => ticks.map((tick, at) => (at === ticks.length - 1 ? `${tick} s` : `${tick}`)),
      },
      { ...axis, grid: { stroke: colour('grid'), width: 1 }, size: 48 },
    ],
    series: [{}, { ...line, stroke: colour('series-1') }, { ...line, stroke: colour('series-2'), dash: [6, 3] }],
  };
};

/** The speed of both over their time: of each the run in the middle. Its figures stand in the table below. */
export function CompareChart({ a, b }: { a: Bench; b: Bench }) {
  const { t } = useTranslation();
  const { seconds, first, second } = useMemo(() => curvesOf(a, b), [a, b]);
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
        <Chart plan={plan} data={[seconds, first, second]} height={240} label={t('performance.picture')} />
      </div>
    </section>
  );
}
