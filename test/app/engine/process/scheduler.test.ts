import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Capacity, createScheduler, type Urgency, type Work } from '../../../../app/engine/process/scheduler.ts';

/** Works that run until the test ends them. */
function workshop(room: Capacity = { atOnce: 3, bytes: 100 }) {
  const running: string[] = [];
  const yielded: string[] = [];
  const ends = new Map<string, () => void>();
  const scheduler = createScheduler(() => room);
  return {
    running,
    yielded,
    scheduler,
    add(name: string, priority: Urgency, more: Pick<Work, 'group' | 'bytes'> = {}): Work {
      const { promise, resolve } = Promise.withResolvers<void>();
      const work: Work = {
        ...more,
        async run() {
          running.push(name);
          await promise;
          running.splice(running.indexOf(name), 1);
        },
        yieldTo: () => void yielded.push(name),
      };
      ends.set(name, resolve);
      scheduler.add(priority, work);
      return work;
    },
    async end(name: string) {
      ends.get(name)?.();
      await setImmediate();
    },
  };
}

const model = { group: 'model' };

test('answers of one model run side by side, as many as there is room for', async () => {
  const { add, end, running } = workshop();
  for (const name of ['a', 'b', 'c', 'd']) add(name, 'chat', model);
  expect(running).toEqual(['a', 'b', 'c']);
  await end('b');
  expect(running).toEqual(['a', 'c', 'd']);
});

test('what together needs more memory than there is waits, and the first never does', async () => {
  const { add, end, running } = workshop();
  add('large', 'chat', { ...model, bytes: () => 1000 });
  add('small', 'chat', { ...model, bytes: () => 60 });
  add('other', 'chat', { ...model, bytes: () => 40 });
  add('third', 'chat', { ...model, bytes: () => 1 });
  expect(running).toEqual(['large']);
  await end('large');
  expect(running).toEqual(['small', 'other']);
});

test('nothing overtakes what waits for another model, and what was taken back holds up nobody', async () => {
  const { add, end, running, scheduler } = workshop();
  add('a', 'chat', model);
  const other = add('other', 'chat', { group: 'other model' });
  add('b', 'chat', model);
  expect(running).toEqual(['a']);
  expect(scheduler.withdraw(other)).toBe(true);
  expect(running).toEqual(['a', 'b']);
  expect(scheduler.withdraw(other)).toBe(false);
  await end('a');
  await end('b');
  expect(running).toEqual([]);
});

test('what has no group runs alone', async () => {
  const { add, end, running } = workshop();
  add('unload', 'chat');
  add('a', 'chat', model);
  add('bandwidth', 'chat');
  add('b', 'chat', model);
  expect(running).toEqual(['unload']);
  await end('unload');
  expect(running).toEqual(['a']);
  await end('a');
  expect(running).toEqual(['bandwidth']);
  await end('bandwidth');
  expect(running).toEqual(['b']);
});

test('a question comes before the requests of other programs and beside them; titles end for either', async () => {
  const { add, end, running, yielded } = workshop({ atOnce: 2, bytes: 100 });
  add('title', 'title');
  add('request', 'server', model);
  expect(yielded).toEqual(['title']);
  await end('title');
  add('second request', 'server', model);
  add('third request', 'server', model);
  add('question', 'chat', model);
  expect(running).toEqual(['request', 'second request']);
  // Asked, since it waits for them; an answer does not end for it.
  await end('request');
  expect(running).toEqual(['second request', 'question']);
  await end('question');
  expect(running).toEqual(['second request', 'third request']);
});

test('work that throws does not stop the rest', async () => {
  const { add, running, scheduler } = workshop();
  scheduler.add('chat', { run: () => Promise.reject(new Error('out of order')), yieldTo: () => {} });
  add('next', 'chat');
  await setImmediate();
  expect(running).toEqual(['next']);
});

test('there may be more room once a model is loaded', () => {
  const room = { atOnce: 1, bytes: 100 };
  const { add, running, scheduler } = workshop(room);
  add('a', 'chat', model);
  add('b', 'chat', model);
  expect(running).toEqual(['a']);
  room.atOnce = 2;
  scheduler.look();
  expect(running).toEqual(['a', 'b']);
});
