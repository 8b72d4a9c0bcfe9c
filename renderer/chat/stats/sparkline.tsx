import type { StatsSample } from '../../../app/protocol/index.ts';

const WIDTH = 48;
const HEIGHT = 14;
const POINTS = 25;

/** Decode speed over time, averaged into at most 25 points, drawn between the line's own lowest and highest speed. */
export function sparkPoints(samples: readonly StatsSample[]): [x: number, y: number][] {
  const speeds = samples.flatMap(({ phase, tokensPerSecond }) =>
    phase === 'prefill' || tokensPerSecond === null || !Number.isFinite(tokensPerSecond) ? [] : tokensPerSecond,
  );
  if (speeds.length < 2) return [];
  const count = Math.min(POINTS, speeds.length);
  const means = Array.from({ length: count }, (_, index) => {
    const part = speeds.slice(
      Math.floor((index * speeds.length) / count),
      Math.floor(((index + 1) * speeds.length) / count),
    );
    return part.reduce((sum, speed) => sum + speed, 0) / part.length;
  });
  const top = Math.max(...means);
  const bottom = Math.min(...means) * 0.5;
  const span = top - bottom || 1;
  return means.map((mean, index) => [
    (index * WIDTH) / (count - 1),
    HEIGHT - 2 - ((mean - bottom) / span) * (HEIGHT - 4),
  ]);
}

export function Sparkline({ points, tone }: { points: readonly [number, number][]; tone: 'ink' | 'bad' }) {
  if (points.length === 0) return null;
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden
      className={tone === 'bad' ? 'text-bad-text' : 'text-ink-text'}
    >
      <polyline
        points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.4}
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
