import { type FileHandle, open } from 'node:fs/promises';
import { LonghandError } from '../../protocol/index.ts';
import { writeAll } from '../safetensors-file.ts';

export type GgufType = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_0' | 'Q5_0' | 'Q5_1' | 'Q4_K' | 'Q5_K' | 'Q6_K';
/** Number in the file, elements and bytes of a block (ggml.h). */
const TYPES: Readonly<Record<GgufType, readonly [id: number, elements: number, bytes: number]>> = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  BF16: [30, 1, 2],
  Q4_0: [2, 32, 18],
  Q5_0: [6, 32, 22],
  Q5_1: [7, 32, 24],
  Q8_0: [8, 32, 34],
  Q4_K: [12, 256, 144],
  Q5_K: [13, 256, 176],
  Q6_K: [14, 256, 210],
};
export const blockOf = (type: GgufType): number => TYPES[type][1];
/** `shape`: outermost first, as everywhere else. */
export const ggufBytes = ({ type, shape }: { type: GgufType; shape: readonly number[] }): number =>
  (shape.reduce((product, size) => product * size, 1) / TYPES[type][1]) * TYPES[type][2];

export type GgufValue =
  | { u32: number }
  | { f32: number }
  | { bool: boolean }
  | { text: string }
  | { texts: readonly string[] }
  | { i32s: readonly number[] }
  | { f32s: readonly number[] };
export type Metadata = Readonly<Record<string, GgufValue>>;

const ALIGNMENT = 32;
const aligned = (size: number) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

class Bytes {
  readonly parts: Buffer[] = [];
  u32(value: number): this {
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32LE(value);
    return this.raw(buffer);
  }
  i32(value: number): this {
    return this.u32(value >>> 0);
  }
  f32(value: number): this {
    const buffer = Buffer.alloc(4);
    buffer.writeFloatLE(value);
    return this.raw(buffer);
  }
  u64(value: number): this {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64LE(BigInt(value));
    return this.raw(buffer);
  }
  text(value: string): this {
    const buffer = Buffer.from(value);
    return this.u64(buffer.length).raw(buffer);
  }
  raw(buffer: Buffer): this {
    this.parts.push(buffer);
    return this;
  }
}

/** Type numbers of values: u32 4, i32 5, f32 6, bool 7, string 8, array 9. */
function putValue(to: Bytes, value: GgufValue): void {
  if ('u32' in value) to.u32(4).u32(value.u32);
  else if ('f32' in value) to.u32(6).f32(value.f32);
  else if ('bool' in value) to.u32(7).raw(Buffer.of(value.bool ? 1 : 0));
  else if ('text' in value) to.u32(8).text(value.text);
  else if ('texts' in value) {
    to.u32(9).u32(8).u64(value.texts.length);
    for (const text of value.texts) to.text(text);
  } else if ('i32s' in value) {
    to.u32(9).u32(5).u64(value.i32s.length);
    for (const number of value.i32s) to.i32(number);
  } else {
    to.u32(9).u32(6).u64(value.f32s.length);
    for (const number of value.f32s) to.f32(number);
  }
}

export function encodeMetadata(metadata: Metadata): RawMetadata {
  const to = new Bytes();
  for (const [key, value] of Object.entries(metadata)) putValue(to.text(key), value);
  return { count: Object.keys(metadata).length, bytes: Buffer.concat(to.parts) };
}

/** Keys and values as raw bytes of a file. */
export type RawMetadata = { count: number; bytes: Buffer };

const SIZES: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
/** Vocabularies of 250,000 tokens with their merges take 12 MB. */
const MAX_METADATA = 256 * 1024 * 1024;

/** The metadata of a file that the engine has already validated, without the keys in `without`. */
export async function readRawMetadata(path: string, without: RegExp): Promise<RawMetadata> {
  const handle = await open(path, 'r');
  try {
    const size = Math.min((await handle.stat()).size, MAX_METADATA);
    const bytes = Buffer.alloc(size);
    await handle.read(bytes, 0, size, 0);
    return cutMetadata(bytes, without);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new LonghandError('model-broken', `[gguf] the metadata of ${path} do not end within ${MAX_METADATA} bytes`);
  } finally {
    await handle.close();
  }
}

function cutMetadata(bytes: Buffer, without: RegExp): RawMetadata {
  let at = 16;
  const take = (size: number): number => {
    at += size;
    return at - size;
  };
  const u64 = () => Number(bytes.readBigUInt64LE(take(8)));
  const u32 = () => bytes.readUInt32LE(take(4));
  const skip = (type: number): void => {
    if (type === 8) {
      take(u64());
    } else if (type === 9) {
      const inner = u32();
      for (let left = u64(); left > 0; --left) skip(inner);
    } else take(SIZES[type] ?? Number.POSITIVE_INFINITY);
  };
  const entries: Buffer[] = [];
  for (let left = u64(); left > 0; --left) {
    const begin = at;
    const length = u64();
    const first = take(length);
    const key = bytes.toString('utf8', first, first + length);
    skip(u32());
    if (at > bytes.length) throw new RangeError('past the end');
    if (!without.test(key)) entries.push(bytes.subarray(begin, at));
  }
  return { count: entries.length, bytes: Buffer.concat(entries) };
}

export type GgufFile = {
  /** `at`: bytes from the beginning of the tensor. */
  put(name: string, bytes: Uint8Array, at: number): Promise<void>;
  /** What was put is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
};

export async function createGguf(
  path: string,
  metadata: readonly RawMetadata[],
  tensors: readonly { name: string; type: GgufType; shape: readonly number[] }[],
  { resumes = false }: { resumes?: boolean } = {},
): Promise<GgufFile> {
  const head = new Bytes().raw(Buffer.from('GGUF')).u32(3).u64(tensors.length);
  head.u64(metadata.reduce((sum, { count }) => sum + count, 0));
  for (const { bytes } of metadata) head.raw(bytes);
  const places = new Map<string, number>();
  let end = 0;
  for (const { name, type, shape } of tensors) {
    head.text(name).u32(shape.length);
    for (const size of shape.toReversed()) head.u64(size);
    head.u32(TYPES[type][0]).u64(end);
    places.set(name, end);
    end = aligned(end + ggufBytes({ type, shape }));
  }
  const bytes = Buffer.concat(head.parts);
  const first = aligned(bytes.length);
  const handle: FileHandle = await open(path, resumes ? 'r+' : 'wx');
  try {
    await writeAll(handle, bytes, 0);
    // The last tensor is padded like the others.
    await handle.truncate(first + end);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    put(name, data, at) {
      const place = places.get(name);
      if (place === undefined) throw new Error(`[gguf] ${name} was not announced`);
      return writeAll(handle, data, first + place + at);
    },
    sync: () => handle.sync(),
    async close() {
      await handle.sync().finally(() => handle.close());
    },
  };
}
