import { expect, test } from 'vitest';
import { nearestBudget } from '../../../renderer/chat/composer/thinking-budgets.ts';
import { sparkPoints } from '../../../renderer/chat/stats/sparkline.tsx';
import { parseNumber } from '../../../renderer/ui/field.tsx';
import { resourceParts } from '../../../renderer/ui/meter.tsx';

test('a number field takes numbers within its limits, a comma too, and nothing', () => {
  expect(parseNumber('0,7', 0, 5, 0.1)).toBe(0.7);
  expect(parseNumber('', 0, 5, 0.1)).toBeUndefined();
  expect(parseNumber('6', 0, 5, 0.1)).toBeNull();
  expect(parseNumber('1.5', 0, 5, 1)).toBeNull();
  expect(parseNumber('x', 0, 5, 1)).toBeNull();
});

test('a meter turns at 80 % and at the limit', () => {
  expect(resourceParts(50, 5, 100).map((part) => part.tone)).toEqual(['edge', 'ink']);
  expect(resourceParts(79, 1, 100)[0]?.tone).toBe('warn');
  expect(resourceParts(99, 2, 100)).toEqual([{ share: 1, tone: 'bad' }]);
  expect(resourceParts(1, 1, 0)).toEqual([]);
});

test('the budget snaps up to a stop, and no budget is the last', () => {
  expect(nearestBudget(1500)).toBe(1);
  expect(nearestBudget(null)).toBe(5);
  expect(nearestBudget(1_000_000)).toBe(5);
});

test('a spark has at most 25 points inside its box, and none without two speeds', () => {
  const sample = (tokensPerSecond: number | null) => ({
    atMs: 0,
    phase: 'answer' as const,
    tokensPerSecond,
    tokens: 0,
    memoryBytes: null,
  });
  const points = sparkPoints(Array.from({ length: 300 }, (_, index) => sample(40 + (index % 7))));
  expect(points).toHaveLength(25);
  expect(points.every(([x, y]) => x >= 0 && x <= 48 && y >= 0 && y <= 14)).toBe(true);
  expect(sparkPoints([sample(null), sample(40)])).toEqual([]);
});
