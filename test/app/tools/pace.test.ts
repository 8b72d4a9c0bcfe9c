import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPace } from '../../../app/tools/mcp/pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('what is asked for often is done at once, then once more when its time has passed', async () => {
  let done = 0;
  const pace = createPace(async () => {
    done++;
  }, 1000);
  for (let ask = 0; ask < 5; ask++) pace.ask();
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toBe(1);
  for (let ask = 0; ask < 5; ask++) pace.ask();
  await vi.advanceTimersByTimeAsync(999);
  expect(done).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toBe(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(done).toBe(2);
});

test('never twice at once: what is asked for meanwhile is done afterwards', async () => {
  let [running, most, done] = [0, 0, 0];
  const pace = createPace(async () => {
    most = Math.max(most, ++running);
    await new Promise((ended) => setTimeout(ended, 5000));
    running--;
    done++;
  }, 1000);
  pace.ask();
  await vi.advanceTimersByTimeAsync(2000);
  pace.ask();
  pace.ask();
  await vi.advanceTimersByTimeAsync(3999);
  expect([most, done]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(6000);
  expect([most, done]).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(done).toBe(2);
});

test('what was done otherwise is not done again, and counts for the time', async () => {
  let done = 0;
  const pace = createPace(async () => {
    done++;
  }, 1000);
  pace.ask();
  pace.skip();
  await vi.advanceTimersByTimeAsync(500);
  expect(done).toBe(0);
  pace.ask();
  await vi.advanceTimersByTimeAsync(499);
  expect(done).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toBe(1);
});
