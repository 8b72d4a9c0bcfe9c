import { expect, test } from 'vitest';
import { afterFull, isDiskFull, type Space, untilRoom, whenRoom } from '../../../../app/models/storage/disk-space.ts';
import { LonghandError } from '../../../../app/protocol/index.ts';

//  Work that finds the disk full says how much is missing, waits, and goes on by itself.

const full = () => Object.assign(new Error('no space left'), { code: 'ENOSPC' });

/** A disk with these many bytes of room, look by look; the last stays. */
function disk(left: number, rooms: number[]) {
  const slept: number[] = [];
  const space: Space = {
    left: () => left,
    room: async () => (rooms.length > 1 ? (rooms.shift() as number) : (rooms[0] as number)),
    sleep: async (ms) => void slept.push(ms),
  };
  return { space, slept };
}
async function told<T>(work: AsyncGenerator<number, T>) {
  const missing: number[] = [];
  for (;;) {
    const { done, value } = await work.next();
    if (done) return { missing, value };
    missing.push(value);
  }
}

test('what says that the disk is full, and what does not', () => {
  expect(isDiskFull(full())).toBe(true);
  expect(isDiskFull(Object.assign(new Error(), { code: 'EDQUOT' }))).toBe(true);
  expect(isDiskFull(new LonghandError('disk-full', ''))).toBe(true);
  expect(isDiskFull(new LonghandError('internal', ''))).toBe(false);
  expect(isDiskFull(Object.assign(new Error(), { code: 'EIO' }))).toBe(false);
  expect(isDiskFull('ENOSPC')).toBe(false);
});

test('nothing is waited for while there is room for exactly what is left', async () => {
  const { space, slept } = disk(500, [500]);
  expect(await told(untilRoom(space))).toEqual({ missing: [], value: undefined });
  expect(slept).toEqual([]);
});

test('what is missing is told look by look, every two seconds', async () => {
  const { space, slept } = disk(500, [100, 499, 500]);
  expect((await told(untilRoom(space))).missing).toEqual([400, 1]);
  expect(slept).toEqual([2000, 2000]);
});

test('a write that failed waits once in any case, and says a byte where none seems to be missing', async () => {
  const small = disk(500, [900]);
  expect((await told(afterFull(small.space))).missing).toEqual([1]);
  expect(small.slept).toEqual([2000]);
  const large = disk(500, [100, 200, 500]);
  expect((await told(afterFull(large.space))).missing).toEqual([400, 300]);
  expect(large.slept).toEqual([2000, 2000]);
});

test('the work is done again until it succeeds; what fails otherwise fails', async () => {
  const { space, slept } = disk(10, [4, 10, 3, 10]);
  let tries = 0;
  const work = async () => {
    if (++tries < 3) throw full();
    return 'saved';
  };
  expect(await told(whenRoom(work, space))).toEqual({ missing: [6, 7], value: 'saved' });
  expect([tries, slept.length]).toEqual([3, 2]);
  const broken = whenRoom(() => Promise.reject(new Error('broken')), space);
  await expect(broken.next()).rejects.toThrow('broken');
});
