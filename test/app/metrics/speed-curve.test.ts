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

test('each point is the speed since the one before it, at its time since the beginning', () => {
  let time = 5000;
  const curve = createSpeedCurve(() => time);
  const write = (at: number, tokens: number) => {
    time = 5000 + at;
    curve.see({ type: 'delta', kind: 'answer', text: 'word ', tokens });
  };
  expect(curve.points()).toEqual([]);
  write(100, 7);
  expect(curve.points()).toEqual([]);
  write(400, 2);
  time = 5500;
  curve.see({ type: 'started', model: 'a' as never, backEnd: 'cpu' });
  write(700.26, 1);
  // Two that came together are one.
  write(700.26, 9);
  write(1000.26, 3);
  expect(curve.points()).toEqual([
    [400, 6.7],
    [700.3, 3.3],
    [1000.3, 10],
  ]);
});

test.each([
  [120, 119],
  [121, 60],
  [122, 61],
  [240, 120],
  [241, 80],
])('of %i tokens there are %i points, and the last token is always one of them', (tokens, count) => {
  let time = 0;
  const curve = createSpeedCurve(() => time);
  for (let token = 1; token <= tokens; token++) {
    time = token;
    curve.see({ type: 'delta', kind: 'answer', text: 'word ', tokens: 1 });
  }
  expect([curve.points().length, curve.points().at(-1)]).toEqual([count, [tokens, 1000]]);
});
