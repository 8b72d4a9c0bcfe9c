import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';
import { readRegularSync } from '../../store/folder/open-regular.ts';
import { UsageError } from './command.ts';

/** The largest buffer Node supports on every platform. */
const MAX_BYTES = 2 ** 32;

export type Tensor = { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array };

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The path of `--out`, validated before a model is loaded. */
export function outputFile(here: string, given: string): string {
  const file = resolve(here, given);
  if (isFolder(file)) throw new UsageError(`[--out] ${file} is a folder, expected a file`);
  if (!isFolder(dirname(file))) throw new UsageError(`[--out] the folder ${dirname(file)} does not exist`);
  return file;
}

const WRITE_FAILURES: Record<string, 'disk-full' | 'permission' | 'read-only'> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EACCES: 'permission',
  EPERM: 'permission',
  EROFS: 'read-only',
};

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
  try {
    const handle = await open(file, 'w');
    try {
      await handle.writeFile(Buffer.concat([length, header]));
      for (const { data } of tensors) {
        await handle.writeFile(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new LonghandError(WRITE_FAILURES[code] ?? 'internal', `[--out] ${file} cannot be written: ${message}`);
  }
}

const WIDTHS: Readonly<Record<string, number>> = { F32: 4, I32: 4, I64: 8 };

function floats(dtype: string, bytes: Uint8Array): Float32Array {
  const { buffer } = Uint8Array.from(bytes);
  if (dtype === 'F32') return new Float32Array(buffer);
  return dtype === 'I32'
    ? Float32Array.from(new Int32Array(buffer))
    : Float32Array.from(new BigInt64Array(buffer), Number);
}

/** Reads the output of `writeSafetensors`, and integer tensors too. @throws LonghandError `unreadable` */
export function readSafetensors(file: string): Tensor[] {
  const broken = (reason: string) => new LonghandError('unreadable', `[${file}] ${reason}`);
  let bytes: Buffer;
  try {
    bytes = readRegularSync(file, MAX_BYTES);
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
    throw broken('has a header that is not JSON');
  }
  return Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, { dtype, shape, data_offsets }]) => {
      const width = WIDTHS[dtype];
      if (width === undefined) throw broken(`tensor "${name}" is ${dtype}; only F32, I32 and I64 can be compared`);
      const [start, end] = data_offsets;
      const size = shape.reduce((product, dimension) => product * dimension, width);
      if (end - start !== size || 8 + length + end > bytes.length)
        throw broken(`tensor "${name}" does not fit its shape`);
      return { name, shape, data: floats(dtype, bytes.subarray(8 + length + start, 8 + length + end)) };
    });
}
