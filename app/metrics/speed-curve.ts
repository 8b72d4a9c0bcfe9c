import type { Run, TurnEvent } from '../protocol/index.ts';

const MAX_POINTS = 120;

/** The speed of one run over its time, from the tokens as they arrive: a run is often too short for samples. */
export function createSpeedCurve(now: () => number = () => performance.now()): {
  see(event: TurnEvent): void;
  points(): Run['curve'];
} {
  const begin = now();
  /** Arrival times with the number of tokens so far. */
  const arrivals: [atMs: number, tokens: number][] = [];
  return {
    see(event) {
      if (event.type !== 'delta') return;
      arrivals.push([now() - begin, (arrivals.at(-1)?.[1] ?? 0) + event.tokens]);
    },
    points() {
      const step = Math.max(1, Math.ceil(arrivals.length / MAX_POINTS));
      const sampled = arrivals.filter((_, index) => index % step === 0 || index === arrivals.length - 1);
      return sampled.slice(1).flatMap(([atMs, tokens], index) => {
        const [before, had] = sampled[index] as [number, number];
        return atMs > before
          ? [[round(atMs), round(((tokens - had) * 1000) / (atMs - before))] as [number, number]]
          : [];
      });
    },
  };
}

const round = (value: number) => Math.round(value * 10) / 10;
