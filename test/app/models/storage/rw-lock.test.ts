// Changes to the files of the library: many at once, or one alone.
import { expect, test } from 'vitest';
import { createRwLock } from '../../../../app/models/storage/rw-lock.ts';

const never = new AbortController().signal;
const turn = () => new Promise((done) => setImmediate(done));

function work(log: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return {
    begin: () => {
      log.push(`${name} begins`);
      return promise.finally(() => log.push(`${name} ends`));
    },
    end: () => resolve(name),
    fail: () => reject(new Error(name)),
  };
}

test('shared work goes on side by side; work alone waits for all of it, and what comes later waits for that', async () => {
  const log: string[] = [];
  const { shared, alone } = createRwLock();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => work(log, name)) as [
    ReturnType<typeof work>,
    ReturnType<typeof work>,
    ReturnType<typeof work>,
    ReturnType<typeof work>,
  ];
  const [first, second] = [shared(a.begin), shared(b.begin)];
  const only = alone(c.begin, never);
  a.end();
  expect(await first).toBe('a');
  await turn();
  expect(log).toEqual(['a begins', 'b begins', 'a ends']);
  b.fail();
  await expect(second).rejects.toThrow('b');
  await turn();
  const later = shared(d.begin);
  const after = alone(async () => log.push('e'), never);
  await turn();
  expect(log.slice(3)).toEqual(['b ends', 'c begins']);
  c.end();
  expect(await only).toBe('c');
  await turn();
  expect(log.slice(5, 7)).toEqual(['c ends', expect.any(String)]);
  d.end();
  await Promise.all([later, after]);
  expect(log.slice(6).toSorted()).toEqual(['d begins', 'd ends', 'e']);
});

test('after work that failed the others go on, and who has stopped waiting never begins', async () => {
  const { shared, alone } = createRwLock();
  await expect(
    alone(async () => {
      throw new Error('no room');
    }, never),
  ).rejects.toThrow('no room');
  const log: string[] = [];
  const a = work(log, 'a');
  const running = shared(a.begin);
  const stop = new AbortController();
  const waiting = alone(async () => log.push('never'), stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(alone(async () => log.push('never'), stop.signal)).rejects.toThrow('stopped');
  a.end();
  await running;
  expect(log).toEqual(['a begins', 'a ends']);
});
