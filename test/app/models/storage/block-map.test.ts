// Which blocks of a download are here, and which a connection fetches.
import { expect, test } from 'vitest';
import { hashAt, hashOf } from '../../../../app/models/storage/block-hash.ts';
import { BLOCK, BlockMap } from '../../../../app/models/storage/block-map.ts';

test('a file has as many blocks as it fills, the last as long as the rest', () => {
  const blocks = (size: number) => {
    const map = new BlockMap(size);
    return [map.count, ...Array.from({ length: map.count }, (_, at) => [map.start(at), map.length(at)])];
  };
  expect(blocks(0)).toEqual([0]);
  expect(blocks(1)).toEqual([1, [0, 1]]);
  expect(blocks(BLOCK)).toEqual([1, [0, BLOCK]]);
  expect(blocks(BLOCK + 1)).toEqual([2, [0, BLOCK], [BLOCK, 1]]);
  expect(blocks(2 * BLOCK)).toEqual([2, [0, BLOCK], [BLOCK, BLOCK]]);
});

test('what is here is counted to the byte, however often it arrives or is lost', () => {
  const map = new BlockMap(2 * BLOCK + 5, [0]);
  expect([map.bytesHere, map.complete, map.has(0), map.has(1)]).toEqual([BLOCK, false, true, false]);
  map.arrived(2);
  map.arrived(2);
  expect([map.bytesHere, map.complete]).toEqual([BLOCK + 5, false]);
  map.lost(2);
  map.lost(2);
  expect([map.bytesHere, map.has(2)]).toEqual([BLOCK, false]);
  for (const block of [1, 2]) map.arrived(block);
  expect([map.bytesHere, map.complete]).toEqual([2 * BLOCK + 5, true]);
  expect([new BlockMap(0).bytesHere, new BlockMap(0).complete]).toEqual([0, true]);
});

test('a connection gets the next run of missing blocks, 32 at most, and gives back what it has not fetched', () => {
  const map = new BlockMap(40 * BLOCK, [2]);
  expect([map.claim(), map.claim(), map.claim()]).toEqual([
    { first: 0, count: 2 },
    { first: 3, count: 32 },
    { first: 35, count: 5 },
  ]);
  expect(map.claim()).toBeNull();
  map.arrived(36);
  map.release({ first: 35, count: 2 });
  expect(map.has(36)).toBe(true);
  expect([map.claim(1), map.claim(1)]).toEqual([{ first: 35, count: 1 }, null]);
});

test('the hash of a block stands in its place among the others', () => {
  const hashes = ['a', 'b', 'c'].map((text) => hashOf([Buffer.from(text)]));
  const all = Buffer.from(hashes.join(''), 'hex');
  expect([0, 1, 2].map((block) => hashAt(all, block))).toEqual(hashes);
  expect(hashOf([Buffer.from('a'), Buffer.from('b')])).toBe(hashOf([Buffer.from('ab')]));
});
