import { linesOf, type Point } from '../stores/performance/live.ts';

type LiveLineProps = { points: readonly Point[]; of: (point: Point) => number | null; tone: string };

/** The last six minutes, with gaps while nothing was written. */
export function LiveLine({ points, of, tone }: LiveLineProps) {
  const lines = linesOf(points, of, points.at(-1)?.at ?? 0);
  return (
    <svg
      viewBox="0 0 100 32"
      preserveAspectRatio="none"
      aria-hidden
      className={`block h-8 w-full border-b border-line ${tone}`}
    >
      {lines.map((line) => (
        <polyline
          key={line[0]?.[0]}
          points={line.map(([x, y]) => `${(x * 100).toFixed(2)},${(2 + y * 30).toFixed(2)}`).join(' ')}
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </svg>
  );
}
