// The readers of model files as tests see them, and writers for files that nobody would publish.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { addon } from '../addon.ts';

export interface TensorFacts {
  name: string;
  type: string;
  shape: number[];
  bytes: number;
  file: number;
  hasData: boolean;
}
export interface CheckpointFacts {
  container: 'safetensors' | 'mlx' | 'gguf';
  config: Record<string, unknown>;
  files: string[];
  notices: string[];
  tensors: TensorFacts[];
}

/** native/addon/testing/testing_formats.cc */
export const formats = addon.testing as unknown as {
  openCheckpoint(path: string, headersOnly?: boolean): CheckpointFacts;
  fromHeaders(
    container: CheckpointFacts['container'],
    config: string,
    tensors: { name: string; type: string; shape: number[] }[],
  ): CheckpointFacts;
  dequantise(path: string, tensor: string): Float32Array;
  metadataStrings(path: string, key: string): string[];
  verifyWeights(path: string, allValues?: boolean): void;
  parseJson(bytes: Uint8Array): unknown;
  readSafetensors(bytes: Uint8Array): TensorFacts[];
  readGguf(bytes: Uint8Array): TensorFacts[];
  copiedTensors(path: string): string[];
  unsupportedQuantisation(config: string): string | null;
  assemble(config: string, safetensors: Uint8Array): CheckpointFacts;
};

/** A folder that is removed after the test. */
export function temporaryFolder(files: Record<string, string | Uint8Array> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-formats-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

export interface StoredTensor {
  dtype: string;
  shape: number[];
  bytes: Uint8Array;
}

/** A well-formed safetensors file; `patch` may damage the header before it is written. */
export function safetensors(
  tensors: Record<string, StoredTensor>,
  patch: (header: Record<string, unknown>) => unknown = (header) => header,
): Uint8Array {
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const [name, tensor] of Object.entries(tensors)) {
    const end = offset + tensor.bytes.length;
    header[name] = { dtype: tensor.dtype, shape: tensor.shape, data_offsets: [offset, end] };
    offset = end;
  }
  const text = Buffer.from(JSON.stringify(patch(header)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...Object.values(tensors).map((tensor) => tensor.bytes)]);
}

export function readSafetensors(file: Uint8Array): Record<string, StoredTensor> {
  const buffer = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const end = 8 + Number(buffer.readBigUInt64LE(0));
  const header = JSON.parse(buffer.subarray(8, end).toString()) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
  return Object.fromEntries(
    entries.map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [first, last],
        },
      ]) => [name, { dtype, shape, bytes: Uint8Array.from(buffer.subarray(end + first, end + last)) }],
    ),
  );
}

export const f32 = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
export const asFloats = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);

/** The value types of GGUF metadata, and what the writer takes for them. */
export type GgufValue =
  | { type: 'u32' | 'u16' | 'i32' | 'f32'; value: number }
  | { type: 'u64'; value: bigint }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string | Uint8Array }
  | { type: 'strings'; value: string[] }
  | { type: 'i32s' | 'f32s'; value: number[] }
  /** A value type by its number, and what is written for it. */
  | { type: number; value: Uint8Array };

const valueTypes = {
  u16: 2,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  strings: 9,
  i32s: 9,
  f32s: 9,
  u64: 10,
} as const;

const u32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
};
const u64 = (value: number | bigint): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
};
const text = (value: string | Uint8Array): Buffer => {
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
};

function valueBytes(entry: Exclude<GgufValue, { type: number }>): Buffer {
  switch (entry.type) {
    case 'u16': {
      const buffer = Buffer.alloc(2);
      buffer.writeUInt16LE(entry.value);
      return buffer;
    }
    case 'u32':
      return u32(entry.value);
    case 'i32': {
      const buffer = Buffer.alloc(4);
      buffer.writeInt32LE(entry.value);
      return buffer;
    }
    case 'f32':
      return Buffer.from(f32(entry.value));
    case 'u64':
      return u64(entry.value);
    case 'bool':
      return Buffer.from([entry.value ? 1 : 0]);
    case 'string':
      return text(entry.value);
    case 'strings':
      return Buffer.concat([u32(valueTypes.string), u64(entry.value.length), ...entry.value.map(text)]);
    case 'i32s':
      return Buffer.concat([
        u32(valueTypes.i32),
        u64(entry.value.length),
        Buffer.from(Int32Array.from(entry.value).buffer),
      ]);
    case 'f32s':
      return Buffer.concat([u32(valueTypes.f32), u64(entry.value.length), Buffer.from(f32(...entry.value))]);
  }
}

/** The numbers of ggml's tensor types. */
export const ggmlTypes = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q8_0: 8,
  Q2_K: 10,
  Q3_K: 11,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
  IQ4_NL: 20,
  IQ4_XS: 23,
  BF16: 30,
  MXFP4: 39,
} as const;
export type GgmlType = keyof typeof ggmlTypes;

export interface GgufTensor {
  name: string;
  type: GgmlType | number;
  /** Row-major; written in GGUF's reversed order. */
  shape: (number | bigint)[];
  bytes: Uint8Array;
}

/** A GGUF 3 file with alignment 32. */
export function gguf(metadata: Record<string, GgufValue>, tensors: GgufTensor[], version = 3): Uint8Array {
  const parts: Buffer[] = [Buffer.from('GGUF'), u32(version), u64(tensors.length), u64(Object.keys(metadata).length)];
  for (const [key, entry] of Object.entries(metadata)) {
    const number = typeof entry.type === 'number' ? entry.type : valueTypes[entry.type];
    parts.push(text(key), u32(number), typeof entry.type === 'number' ? Buffer.from(entry.value) : valueBytes(entry));
  }
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(text(tensor.name), u32(tensor.shape.length), ...[...tensor.shape].reverse().map((size) => u64(size)));
    parts.push(u32(typeof tensor.type === 'number' ? tensor.type : ggmlTypes[tensor.type]), u64(offset));
    offset += Math.ceil(tensor.bytes.length / 32) * 32;
  }
  const padding = (length: number): Buffer => Buffer.alloc((32 - (length % 32)) % 32);
  const header = Buffer.concat(parts);
  const data = tensors.flatMap((tensor) => [Buffer.from(tensor.bytes), padding(tensor.bytes.length)]);
  return Buffer.concat([header, padding(header.length), ...data]);
}

export const llama: Record<string, GgufValue> = { 'general.architecture': { type: 'string', value: 'llama' } };
