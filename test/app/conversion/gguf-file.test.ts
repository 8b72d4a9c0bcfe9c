// A GGUF file as it is written piece by piece, and its metadata as they are taken over from another.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGguf, encodeMetadata, ggufBytes, readRawMetadata } from '../../../app/conversion/gguf/file.ts';
import { addon } from '../../support/addon.ts';
import { temporaryFolder } from '../../support/models/formats.ts';

const metadata = {
  'general.architecture': { text: 'llama' },
  'general.name': { text: 'Größe' },
  'llama.block_count': { u32: 4_000_000_000 },
  'llama.epsilon': { f32: 0.5 },
  'a.yes': { bool: true },
  'a.no': { bool: false },
  'a.words': { texts: ['one', '', 'drei'] },
  'a.numbers': { i32s: [-1, 0, 7] },
  'a.factors': { f32s: [0.25, -2] },
};
const tensors = [
  { name: 'small', type: 'F32' as const, shape: [3] },
  { name: 'wide', type: 'Q8_0' as const, shape: [2, 64] },
  { name: 'last', type: 'F16' as const, shape: [1] },
];

async function written() {
  const path = join(temporaryFolder(), 'model.gguf');
  const file = await createGguf(path, [encodeMetadata(metadata)], tensors);
  await file.put('wide', new Uint8Array(68).fill(2), 68);
  await file.put('small', new Uint8Array(Float32Array.of(1, 2, 3).buffer), 0);
  await file.put('wide', new Uint8Array(68).fill(1), 0);
  await file.put('last', Uint8Array.of(9, 8), 0);
  expect(() => file.put('nowhere', new Uint8Array(1), 0)).toThrow('[gguf] nowhere was not announced');
  await file.sync();
  await file.close();
  return path;
}

test('keys of every kind are read as they were written, and each tensor begins at a multiple of 32 bytes', async () => {
  const path = await written();
  expect(tensors.map(ggufBytes)).toEqual([12, 136, 2]);
  expect(await addon.ggufMetadata(path)).toMatchObject({
    ...{ 'general.name': 'Größe', 'llama.block_count': 4_000_000_000, 'llama.epsilon': 0.5 },
    ...{ 'a.yes': true, 'a.no': false, 'a.words': ['one', '', 'drei'] },
  });
  const bytes = readFileSync(path);
  // Three tensors in 32, 160 and 32 bytes.
  const first = bytes.length - (32 + 160 + 32);
  expect(first % 32).toBe(0);
  expect([...new Float32Array(bytes.buffer.slice(bytes.byteOffset + first, bytes.byteOffset + first + 12))]).toEqual([
    1, 2, 3,
  ]);
  expect(bytes.subarray(first + 12, first + 32).every((byte) => byte === 0)).toBe(true);
  expect([first + 32, first + 99, first + 100, first + 167, first + 168].map((at) => bytes[at])).toEqual([
    1, 1, 2, 2, 0,
  ]);
  expect([...bytes.subarray(first + 192, first + 195)]).toEqual([9, 8, 0]);
});

test('a file that is there is not written over, unless it is gone on with', async () => {
  const path = await written();
  const before = readFileSync(path);
  const again = () => createGguf(path, [encodeMetadata(metadata)], tensors);
  await expect(again()).rejects.toMatchObject({ code: 'EEXIST' });
  await (await createGguf(path, [encodeMetadata(metadata)], tensors, { resumes: true })).close();
  expect(readFileSync(path)).toEqual(before);
});

test('metadata are taken over to the last byte, without the keys that are to be others; those without an end are refused', async () => {
  const path = await written();
  const { bytes, count } = encodeMetadata(metadata);
  const all = await readRawMetadata(path, /^$/);
  expect([all.count, all.bytes.equals(bytes)]).toEqual([count, true]);
  const { 'a.words': _, 'a.yes': __, ...others } = metadata;
  const some = await readRawMetadata(path, /^a\.(words|yes)$/);
  const expected = encodeMetadata(others);
  expect([some.count, some.bytes.equals(expected.bytes)]).toEqual([7, true]);
  const torn = join(temporaryFolder(), 'torn.gguf');
  for (const size of [20, 24 + bytes.length - 1]) {
    writeFileSync(torn, readFileSync(path).subarray(0, size));
    await expect(readRawMetadata(torn, /^$/)).rejects.toMatchObject({
      code: 'model-broken',
      message: expect.stringContaining(`the metadata of ${torn} do not end`),
    });
  }
});
