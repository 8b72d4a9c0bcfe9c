// The file of a download that is under way.
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freeSpace, openPartFile, roomOn } from '../../../../app/models/downloads/part-file.ts';
import { hashOf } from '../../../../app/models/storage/block-hash.ts';
import { BLOCK, BlockMap } from '../../../../app/models/storage/block-map.ts';
import { newFolder } from '../../../support/core/core.ts';

const never = new AbortController().signal;

test('it has its whole length from the beginning, and keeps what an earlier run wrote', async () => {
  const path = join(newFolder(), 'below', 'x.part');
  const first = await openPartFile(path, 10);
  expect([first.existed, statSync(path).size]).toEqual([false, 10]);
  await first.write([Buffer.from('ab'), Buffer.alloc(0), Buffer.from('cde')], 2);
  await first.sync();
  await first.close();
  const again = await openPartFile(path, 10);
  expect([again.existed, readFileSync(path, 'latin1')]).toEqual([true, '\0\0abcde\0\0\0']);
  await again.remove();
  expect(existsSync(path)).toBe(false);
});

test('its blocks and the whole are hashed as they stand on the disk, and it is told how far that is', async () => {
  const size = 9 * BLOCK + 3;
  const bytes = Buffer.alloc(size, 'longhand');
  const path = join(newFolder(), 'x.part');
  writeFileSync(path, bytes);
  const part = await openPartFile(path, size);
  const map = new BlockMap(size);
  expect(await part.hashOfBlock(map, 1)).toBe(hashOf([bytes.subarray(BLOCK, 2 * BLOCK)]));
  expect(await part.hashOfBlock(map, 9)).toBe(hashOf([bytes.subarray(9 * BLOCK)]));
  const told: number[] = [];
  expect(await part.hash((checked) => told.push(checked), never)).toBe(hashOf([bytes]));
  expect(told).toEqual([4 * BLOCK, 8 * BLOCK, size]);
  // Somebody cut it: what is there is hashed, and that ends.
  const cut = join(newFolder(), 'cut.part');
  const short = await openPartFile(cut, size);
  truncateSync(cut, 5);
  expect(await short.hash(() => {}, never)).toBe(hashOf([Buffer.alloc(5)]));
  await short.close();
  const stop = new AbortController();
  const stopped = part.hash(() => stop.abort(new Error('stopped')), stop.signal);
  await expect(stopped).rejects.toThrow('stopped');

  const target = join(newFolder(), 'models', 'x');
  await part.moveTo(target);
  expect([existsSync(path), readFileSync(target).equals(bytes)]).toEqual([false, true]);
});

test('a disk keeps 64 MB for other programs, and what is free is never less than nothing', async () => {
  const folder = newFolder();
  const { bavail, bsize } = await statfs(folder);
  const room = await roomOn(folder);
  // Others write meanwhile.
  expect(Math.abs(room + 64 * 1024 * 1024 - bavail * bsize)).toBeLessThan(1e9);
  expect(await freeSpace(folder)).toBeGreaterThan(0);
  await expect(roomOn(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
});
