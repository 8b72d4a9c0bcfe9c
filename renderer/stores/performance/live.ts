import type { EventPayload, StatsSample, TurnId } from '../../../app/protocol/index.ts';

//  Live measurements as plain data. Idle time is a gap, never a zero.

export type Point = { at: number; decode: number | null; prefill: number | null; memory: number | null };
/** `turnId`: the running turn; null if there is none. */
export type LivePoints = { turnId: TurnId | null; points: readonly Point[] };

export const noLivePoints: LivePoints = { turnId: null, points: [] };

export const SHOWN_MS = 6 * 60_000;

/** Adds all events since the last time as one point; a finished turn leaves a gap. */
export function withEvents(live: LivePoints, batch: readonly EventPayload<'turn'>[], now: number): LivePoints {
  let { turnId } = live;
  let sample: StatsSample | null = null;
  let gap = false;
  for (const { turnId: id, event } of batch) {
    if (event.type === 'stats') {
      turnId = id;
      sample = event.sample;
    } else if ((event.type === 'finished' || event.type === 'failed') && (turnId === null || turnId === id)) {
      turnId = null;
      gap = true;
    }
  }
  const points = live.points.filter(({ at }) => now - at < SHOWN_MS);
  if (sample) points.push(pointOf(sample, now));
  if (gap) points.push({ at: now, decode: null, prefill: null, memory: null });
  return { turnId, points };
}

function pointOf({ phase, tokensPerSecond, memoryBytes }: StatsSample, at: number): Point {
  const speed = tokensPerSecond !== null && Number.isFinite(tokensPerSecond) ? tokensPerSecond : null;
  const reading = phase === 'prefill';
  return { at, decode: reading ? null : speed, prefill: reading ? speed : null, memory: memoryBytes };
}

export type Line = [x: number, y: number][];

/** The lines between gaps, in a box of 1 by 1 whose right edge is now. */
export function linesOf(points: readonly Point[], of: (point: Point) => number | null, now: number): Line[] {
  const most = points.reduce((top, point) => Math.max(top, of(point) ?? 0), 0);
  const lines: Line[] = [[]];
  for (const point of points) {
    const value = of(point);
    if (value === null || most === 0) lines.push([]);
    else lines.at(-1)?.push([1 - (now - point.at) / SHOWN_MS, 1 - value / most]);
  }
  return lines.filter((line) => line.length > 0);
}
