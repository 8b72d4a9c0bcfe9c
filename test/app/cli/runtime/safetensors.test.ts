import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { outputFile, readSafetensors, writeSafetensors } from '../../../../app/cli/runtime/safetensors.ts';
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
});

test('data begins at the next multiple of eight bytes, however long the names are', async () => {
  for (let letters = 1; letters <= 9; letters++) {
    await writeSafetensors(file, [{ name: 'ä'.repeat(letters), shape: [1], data: Float32Array.of(7) }]);
    const bytes = readFileSync(file);
    const begin = Number(bytes.readBigUInt64LE());
    const padding = /} *$/.exec(bytes.toString('utf8', 8, 8 + begin))?.[0].length ?? 0;
    expect([begin % 8, bytes.length - begin, bytes.readFloatLE(8 + begin)]).toEqual([0, 12, 7]);
    expect(padding - 1).toBeLessThan(8);
  }
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
  const longer = Buffer.from(good);
  longer.writeBigUInt64LE(BigInt(good.length - 7));
  expect(bad(longer)).toThrow(`says its header has ${good.length - 7} bytes, the file has ${good.length}`);
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

test('tensors of numbers of other kinds are read too, and what is no tensor is left out', () => {
  const write = (header: object, ...data: Uint8Array[]) => {
    const json = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(json.length));
    writeFileSync(file, Buffer.concat([length, json, ...data]));
    return () => readSafetensors(file);
  };
  const bytes = (array: Int32Array | BigInt64Array) => new Uint8Array(array.buffer);
  const read = write(
    {
      __metadata__: { format: 'pt' },
      small: { dtype: 'I32', shape: [2], data_offsets: [0, 8] },
      wide: { dtype: 'I64', shape: [1, 2], data_offsets: [8, 24] },
    },
    bytes(Int32Array.of(1, -2)),
    bytes(BigInt64Array.of(3n, -4n)),
  );
  expect(read()).toEqual([
    { name: 'small', shape: [2], data: Float32Array.of(1, -2) },
    { name: 'wide', shape: [1, 2], data: Float32Array.of(3, -4) },
  ]);
  // Eight bytes are a file without tensors once the header is as short as it says.
  writeFileSync(file, Buffer.alloc(8));
  expect(() => readSafetensors(file)).toThrow('not JSON');
  expect(write({ a: { dtype: 'I32', shape: [2], data_offsets: [4, 8] } }, Buffer.alloc(8))).toThrow('does not fit');
  expect(write({})()).toEqual([]);
});

test('a file to write is refused where no file can be, before anything is computed', () => {
  expect(outputFile(folder, 'new.safetensors')).toBe(join(folder, 'new.safetensors'));
  expect(() => outputFile(folder, '.')).toThrow(`[--out] ${folder} is a folder, expected a file`);
  expect(() => outputFile(folder, 'none/new')).toThrow(`[--out] the folder ${join(folder, 'none')} does not exist`);
  writeFileSync(file, '');
  expect(outputFile(folder, 'x.safetensors')).toBe(file);
  expect(() => outputFile(file, 'new')).toThrow(`the folder ${file} does not exist`);
});
