import type uPlot from 'uplot';
import type { Band } from '../../stores/chat/speed.ts';
import type { ChartPlan } from '../../ui/chart.tsx';
import type { Formats, MemoryUnit } from '../../ui/format.ts';
import { labelPlaces } from './label-layout.ts';

export type SpeedWords = { prefill: string; thinking: string; answer: string };

const FONT = '11px Inter, system-ui, sans-serif';

type SpeedPlanOptions = {
  bands: () => readonly Band[];
  memoryUnit: MemoryUnit['name'];
  words: SpeedWords;
  formats: Formats;
  onCursor: (index: number | null) => void;
};

/** Speed on the left axis, memory on the right, the phases shaded behind. `bands` is read at every redraw: it grows while writing. */
export function speedPlan({ bands, memoryUnit, words, formats, onCursor }: SpeedPlanOptions): ChartPlan {
  return (colour) => ({
    padding: [18, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { size: 7 } },
    scales: {
      x: { time: false },
      y: { range: (_, __, most) => [0, niceTop(most)] },
      memory: { range: (_, __, most) => [0, niceTop(most)] },
    },
    axes: [
      {
        stroke: colour('fg-3'),
        grid: { show: false },
        ticks: { show: false },
        font: FONT,
        size: 24,
        values: (_, ticks) => formats.ticks(ticks, 's'),
      },
      {
        stroke: colour('fg-3'),
        grid: { stroke: colour('grid'), width: 1 },
        ticks: { show: false },
        font: FONT,
        size: 40,
      },
      {
        scale: 'memory',
        side: 1,
        stroke: colour('fg-3'),
        grid: { show: false },
        ticks: { show: false },
        font: FONT,
        size: 52,
        values: (_, ticks) => formats.memoryTicks(ticks, memoryUnit),
      },
    ],
    series: [
      {},
      { stroke: colour('series-1'), width: 1.5, points: { show: alone } },
      { scale: 'memory', stroke: colour('series-3'), width: 1.5, dash: [4, 3], points: { show: alone } },
    ],
    hooks: {
      drawClear: [(plot) => shade(plot, bands(), words, colour)],
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
    },
  });
}

/** A line needs two points; one alone is a dot. */
const alone: uPlot.Series.Points.Show = (plot) => plot.data[0].length < 3;

function niceTop(most: number | null): number {
  if (most === null || !Number.isFinite(most) || most <= 0) return 1;
  const step = 10 ** Math.floor(Math.log10(most));
  return Math.ceil((most * 1.1) / (step / 2)) * (step / 2);
}

function shade(plot: uPlot, bands: readonly Band[], words: SpeedWords, colour: (token: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px Inter, system-ui, sans-serif`;
  ctx.textBaseline = 'bottom';
  for (const { phase, from, to } of bands) {
    if (phase === 'answer') continue;
    const left = plot.valToPos(from, 'x', true);
    ctx.fillStyle = colour(phase);
    ctx.fillRect(left, bbox.top, Math.max(1, plot.valToPos(to, 'x', true) - left), bbox.height);
  }
  ctx.fillStyle = colour('fg-2');
  const labels = bands.map(({ phase, from }) => ({
    at: plot.valToPos(from, 'x', true),
    width: ctx.measureText(words[phase]).width,
  }));
  for (const [band, at] of labelPlaces(labels, bbox.left + bbox.width, 8 * devicePixelRatio)) {
    const phase = bands[band]?.phase;
    if (phase) ctx.fillText(words[phase], at, bbox.top - 3 * devicePixelRatio);
  }
  ctx.restore();
}
