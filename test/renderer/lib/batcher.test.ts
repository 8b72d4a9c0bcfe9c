import { expect, test } from 'vitest';
import { createBatcher } from '../../../renderer/lib/batcher.ts';

function fakeClock() {
  let now = 0;
  let due: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after: (ms: number, run: () => void) => due.push({ at: now + ms, run }),
    to(time: number) {
      for (;;) {
        const next = due.filter((one) => one.at <= time).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due = due.filter((one) => one !== next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = time;
    },
  };
}

test('a thousand events a second are at most twenty commits, in order, and none is lost', () => {
  const clock = fakeClock();
  const batches: number[][] = [];
  const commits = createBatcher<number>((items) => batches.push(items), 50, clock);
  for (let at = 0; at < 1000; at += 1) {
    clock.to(at);
    commits.add(at);
  }
  clock.to(2000);
  expect(batches.length).toBeLessThanOrEqual(21);
  expect(batches.flat()).toEqual(Array.from({ length: 1000 }, (_, at) => at));
});

test('after a pause the first event does not wait', () => {
  const clock = fakeClock();
  const times: number[] = [];
  const commits = createBatcher<string>(() => times.push(clock.now()), 50, clock);
  clock.to(400);
  commits.add('a');
  clock.to(401);
  expect(times).toEqual([400]);
});

test('a flush hands on at once what was collected, and only once', () => {
  const clock = fakeClock();
  const batches: string[][] = [];
  const commits = createBatcher<string>((items) => batches.push(items), 50, clock);
  commits.add('a');
  clock.to(1);
  commits.add('b');
  commits.flush();
  clock.to(200);
  expect(batches).toEqual([['a'], ['b']]);
});
