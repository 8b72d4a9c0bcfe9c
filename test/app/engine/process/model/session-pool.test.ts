import { expect, test } from 'vitest';
import { createSessionPool } from '../../../../../app/engine/process/model/session-pool.ts';
import type { Session } from '../../../../../native/addon/index.d.ts';

function pool(spare: number) {
  const made: { session: Session; closed: boolean }[] = [];
  const create = () => {
    const one = { session: {} as Session, closed: false };
    const close = () => {
      one.closed = true;
    };
    one.session = { memoryBytes: 10, close } as unknown as Session;
    made.push(one);
    return one.session;
  };
  return { ...createSessionPool(create, spare), made };
}

test('whoever comes again gets what it had, and nobody gets what another one uses', () => {
  const { take, giveBack, made } = pool(2);
  const [a, b] = [take('a'), take('b')];
  expect(a).not.toBe(b);
  giveBack(a);
  giveBack(b);
  expect(take('a')).toBe(a);
  expect(take('c')).toBe(b);
  expect(made).toHaveLength(2);
});

test('of those that nobody uses the last ones stay, the rest are closed', () => {
  const { take, giveBack, made, bytes } = pool(1);
  const [a, b, c] = [take('a'), take('b'), take('c')];
  for (const session of [b, a]) giveBack(session);
  expect(made.map(({ closed }) => closed)).toEqual([false, true, false]);
  expect(bytes()).toBe(20);
  giveBack(c);
  expect(made.map(({ closed }) => closed)).toEqual([true, true, false]);
});

test('forgotten ones are closed, and those that somebody uses once they are given back', () => {
  const { take, giveBack, forget, made } = pool(2);
  const [a, b] = [take('a'), take('b')];
  giveBack(a);
  forget();
  expect(made.map(({ closed }) => closed)).toEqual([true, false]);
  expect(take('b')).not.toBe(b);
  giveBack(b);
  expect(made.map(({ closed }) => closed)).toEqual([true, true, false]);
});
