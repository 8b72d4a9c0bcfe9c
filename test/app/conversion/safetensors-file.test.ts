// A file of tensors, as it is written piece by piece and read by others.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bytesOf, createSafetensors, type Entry, encoded } from '../../../app/conversion/safetensors-file.ts';
import { asFloats, readSafetensors, temporaryFolder } from '../../support/models/formats.ts';

const entries: Entry[] = [
  { name: 'a', type: 'F32', shape: [2, 3] },
  { name: 'b', type: 'U32', shape: [1] },
  { name: 'c', type: 'F16', shape: [2] },
];

test('tensors are where the header says, whatever order their pieces come in, and data begin at a multiple of eight', async () => {
  const path = join(temporaryFolder(), 'model.safetensors');
  const file = await createSafetensors(path, entries, 'mlx');
  const values = encoded(Float32Array.of(1, 2, 3, 4, 5, 6), 'F32');
  await file.put('c', Uint8Array.of(1, 2, 3, 4), 0);
  await file.put('a', values.subarray(8), 8);
  await file.put('b', Uint8Array.of(9, 8, 7, 6), 0);
  await file.put('a', values.subarray(0, 8), 0);
  expect(() => file.put('d', values, 0)).toThrow('[safetensors] d was not announced');
  await file.sync();
  await file.close();
  const bytes = readFileSync(path);
  const size = Number(bytes.readBigUInt64LE());
  expect([size % 8, bytes.length]).toEqual([0, 8 + size + 24 + 4 + 4]);
  expect(bytes.toString('utf8', 8, 8 + size)).toMatch(/\} {0,7}$/);
  expect(JSON.parse(bytes.toString('utf8', 8, 8 + size))).toEqual({
    __metadata__: { format: 'mlx' },
    a: { dtype: 'F32', shape: [2, 3], data_offsets: [0, 24] },
    b: { dtype: 'U32', shape: [1], data_offsets: [24, 28] },
    c: { dtype: 'F16', shape: [2], data_offsets: [28, 32] },
  });
  const { a, b, c } = readSafetensors(bytes);
  expect([...asFloats(a?.bytes ?? new Uint8Array())]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([[...(b?.bytes ?? [])], [...(c?.bytes ?? [])]]).toEqual([
    [9, 8, 7, 6],
    [1, 2, 3, 4],
  ]);
  await expect(createSafetensors(path, entries, 'mlx')).rejects.toMatchObject({ code: 'EEXIST' });
  const resumed = await createSafetensors(path, entries, 'mlx', { resumes: true });
  await resumed.put('b', Uint8Array.of(1, 1, 1, 1), 0);
  await resumed.close();
  expect(readFileSync(path).subarray(8 + size, 8 + size + 24)).toEqual(Buffer.from(values));
});

test('numbers are rounded to the nearest, of two as near to the even one', () => {
  const bits = (type: 'F16' | 'BF16', ...values: number[]) =>
    [...new Uint16Array(encoded(Float32Array.from(values), type).buffer)].map((word) => word.toString(16));
  expect(bits('BF16', 1, -2, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, 1 + 2 ** -9)).toEqual([
    '3f80',
    'c000',
    '3f80',
    '3f82',
    '3f81',
    '3f80',
  ]);
  expect(bits('F16', 1, -2, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 65_504)).toEqual(['3c00', 'c000', '3c00', '3c02', '7bff']);
  expect([bytesOf({ type: 'BF16', shape: [3, 5] }), bytesOf({ type: 'U32', shape: [] })]).toEqual([30, 4]);
});
