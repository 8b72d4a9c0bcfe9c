import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../../../app/cli/runtime/safetensors.ts';
import { collectUncaught } from '../../../support/full-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-tensors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'x.safetensors');
const uncaught = collectUncaught();
const tensors = [
  { name: 'a', shape: [2, 2], data: Float32Array.of(1, -2, 3.5, 4) },
  { name: 'ä"b', shape: [1], data: Float32Array.of(Number.NaN) },
];

test('what is written is read again', async () => {
  await writeSafetensors(file, tensors);
  expect(readSafetensors(file)).toEqual(tensors);
  expect(Number(readFileSync(file).readBigUInt64LE()) % 8).toBe(0);
});

test('broken files are a sentence', async () => {
  await writeSafetensors(file, tensors);
  const good = readFileSync(file);
  const bad = (bytes: Buffer) => {
    writeFileSync(file, bytes);
    return () => readSafetensors(file);
  };
  expect(bad(good.subarray(0, 4))).toThrow('has 4 bytes');
  expect(bad(good.subarray(0, 20))).toThrow('says its header has');
  expect(bad(good.subarray(0, good.length - 2))).toThrow('does not fit its shape');
  expect(bad(Buffer.from(good.toString('latin1').replace('"F32"', '"F16"'), 'latin1'))).toThrow('is F16');
  expect(bad(Buffer.from(good.toString('latin1').replace('{', 'x'), 'latin1'))).toThrow('not JSON');
  expect(() => readSafetensors(join(folder, 'none.safetensors'))).toThrow('no such file');
});

test('a disk without room is a sentence, whichever part no longer fits', async (context) => {
  if (process.platform !== 'linux') context.skip('needs Linux: a file that is always full');
  const refused = { code: 'disk-full', message: expect.stringContaining('[--out] /dev/full cannot be written') };
  await expect(writeSafetensors('/dev/full', tensors)).rejects.toMatchObject(refused);
  await expect(writeSafetensors('/dev/full', [])).rejects.toMatchObject(refused);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(uncaught).toEqual([]);
});
