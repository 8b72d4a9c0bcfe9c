// The golden files of test/golden/ops.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../golden');

export interface GoldenTensor {
  shape: readonly number[];
  data: Float32Array;
  ints: Int32Array;
  bytes: Uint8Array;
}

export const goldenJson = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8')) as T;

/** All tensors of a safetensors file, as their bytes and, where they have that length, 32-bit numbers. */
export function goldenTensors(path: string): (name: string) => GoldenTensor {
  const file = readFileSync(join(root, path));
  const headerBytes = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + headerBytes).toString('utf8')) as Record<
    string,
    { shape: number[]; data_offsets: [number, number] }
  >;
  return (name) => {
    const entry = header[name];
    if (!entry) throw new Error(`${path} has no tensor ${name}`);
    const [begin, end] = entry.data_offsets;
    const copy = new Uint8Array(file.subarray(8 + headerBytes + begin, 8 + headerBytes + end));
    const words = copy.length % 4 === 0 ? copy.buffer : new ArrayBuffer(0);
    return { shape: entry.shape, data: new Float32Array(words), ints: new Int32Array(words), bytes: copy };
  };
}
