import { useEffect, useRef } from 'react';
import uPlot, { type AlignedData, type Options } from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** The options of a chart, except its width and the colours of the theme. */
export type ChartPlan = (colour: (token: string) => string) => Omit<Options, 'width' | 'height'>;

type ChartProps = { plan: ChartPlan; data: AlignedData; height: number; label: string };

const colourOf = (token: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--color-${token}`).trim();

/** A uPlot that follows its container and the theme. It is a picture; a table beside it has the same data. */
export function Chart({ plan, data, height, label }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot({ ...plan(colourOf), width: element.clientWidth, height }, latest.current, element);
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'dir'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [plan, height]);

  useEffect(() => plot.current?.setData(data), [data]);

  return (
    <div
      ref={box}
      role="img"
      aria-label={label}
      dir="ltr"
      className="relative min-w-0 overflow-hidden"
      style={{ height }}
    />
  );
}
