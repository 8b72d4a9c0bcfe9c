import { type FileHandle, open } from 'node:fs/promises';

export type StoredType = 'F32' | 'F16' | 'BF16' | 'U32';
export type Entry = {
  name: string;
  type: StoredType;
  shape: readonly number[];
};
export const BYTES: Record<StoredType, number> = {
  F32: 4,
  F16: 2,
  BF16: 2,
  U32: 4,
};

export const bytesOf = ({ type, shape }: Pick<Entry, 'type' | 'shape'>): number =>
  shape.reduce((product, size) => product * size, BYTES[type]);

/** Rounds to nearest, ties to even. */
export function encoded(values: Float32Array, type: StoredType): Uint8Array {
  if (type === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (type === 'F16') return new Uint8Array(new Float16Array(values).buffer);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return new Uint8Array(Uint16Array.from(bits, (word) => (word + 0x7fff + ((word >>> 16) & 1)) >>> 16).buffer);
}

/** A safetensors file whose tensors are known and whose data come in any order, a piece at a time. */
export type SafetensorsFile = {
  /** `at`: bytes from the beginning of the tensor. */
  put(name: string, bytes: Uint8Array, at: number): Promise<void>;
  /** What was put is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
};

export async function createSafetensors(
  path: string,
  entries: readonly Entry[],
  format: 'pt' | 'mlx',
  { resumes = false }: { resumes?: boolean } = {},
): Promise<SafetensorsFile> {
  const places = new Map<string, number>();
  const header: Record<string, unknown> = { __metadata__: { format } };
  let end = 0;
  for (const { name, type, shape } of entries) {
    places.set(name, end);
    const next = end + bytesOf({ type, shape });
    header[name] = { dtype: type, shape, data_offsets: [end, next] };
    end = next;
  }
  const json = JSON.stringify(header);
  // Padded with blanks so that the data begin at a multiple of 8.
  const size = Math.ceil(Buffer.byteLength(json) / 8) * 8;
  const head = Buffer.alloc(8 + size, ' ');
  head.writeBigUInt64LE(BigInt(size));
  head.write(json, 8);
  const handle = await open(path, resumes ? 'r+' : 'wx');
  try {
    await writeAll(handle, head, 0);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    put(name, bytes, at) {
      const place = places.get(name);
      if (place === undefined) throw new Error(`[safetensors] ${name} was not announced`);
      return writeAll(handle, bytes, 8 + size + place + at);
    },
    sync: () => handle.sync(),
    async close() {
      await handle.sync().finally(() => handle.close());
    },
  };
}

export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
