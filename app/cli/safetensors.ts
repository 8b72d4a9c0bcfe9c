import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { LonghandError } from '../protocol/index.ts';

export type Tensor = { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array };

/** Writes F32 tensors as one safetensors file: 8 bytes of header length, header as JSON, then the data in order. */
export async function writeSafetensors(file: string, tensors: readonly Tensor[]): Promise<void> {
  let offset = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const start = offset;
    offset += data.byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [start, offset] }];
  });
  const json = JSON.stringify(Object.fromEntries(entries));
  // Padded with blanks so that the data begins at a multiple of 8.
  const size = Buffer.byteLength(json);
  const header = Buffer.from(json + ' '.repeat(Math.ceil(size / 8) * 8 - size));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const handle = await open(file, 'w');
  try {
    await handle.write(length);
    await handle.write(header);
    for (const { data } of tensors) await handle.write(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  } finally {
    await handle.close();
  }
}

/** Reads what `writeSafetensors` wrote. @throws LonghandError `unreadable` */
export function readSafetensors(file: string): Tensor[] {
  const broken = (reason: string) => new LonghandError('unreadable', `[${file}] ${reason}`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw broken(error instanceof Error ? error.message : String(error));
  }
  if (bytes.length < 8) throw broken(`has ${bytes.length} bytes, a safetensors file has at least 8`);
  const length = Number(bytes.readBigUInt64LE());
  if (length > bytes.length - 8) throw broken(`says its header has ${length} bytes, the file has ${bytes.length}`);
  let header: Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;
  try {
    header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  } catch {
    throw broken('has a header that is no JSON');
  }
  return Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, { dtype, shape, data_offsets }]) => {
      if (dtype !== 'F32') throw broken(`tensor "${name}" is ${dtype}; only F32 can be compared`);
      const [start, end] = data_offsets;
      const size = shape.reduce((product, dimension) => product * dimension, 4);
      if (end - start !== size || 8 + length + end > bytes.length)
        throw broken(`tensor "${name}" does not fit its shape`);
      const copy = Uint8Array.from(bytes.subarray(8 + length + start, 8 + length + end));
      return { name, shape, data: new Float32Array(copy.buffer) };
    });
}
