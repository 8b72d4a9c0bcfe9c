import { expect, test } from 'vitest';
import { createSpeedCurve } from '../../../app/metrics/speed-curve.ts';

test('the curve of a long run has as many points as a chart shows, from its beginning to its end, not one for every token', () => {
  let time = 0;
  const curve = createSpeedCurve(() => time);
  for (let token = 0; token < 10_000; token++) {
    time += token < 5000 ? 10 : 20;
    curve.see({ type: 'delta', kind: 'answer', text: 'word ', tokens: 1 });
  }
  const points = curve.points();
  expect(points.length).toBeGreaterThan(50);
  expect(points.length).toBeLessThan(200);
  expect(points.at(-1)).toEqual([150_000, 50]);
  expect(points[0]?.[1]).toBe(100);
});
