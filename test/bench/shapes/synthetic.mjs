// GGUF files of random weights in published shapes, made when needed and never committed.
//   node test/bench/shapes/synthetic.mjs SHAPE TYPE FILE      for example "Qwen3-0.6B" Q4_K_M /tmp/model.gguf
// Blocks hold random codes, with scales that keep activations at their usual size: speed and memory are those of a real file.
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SHAPES } from './shapes.mjs';

/** The type number in ggml, elements and bytes of a block, and the byte offsets of its half-precision scales. */
const BLOCKS = {
  F32: { number: 0, elements: 1, bytes: 4, halves: [] },
  Q4_0: { number: 2, elements: 32, bytes: 18, halves: [0] },
  Q8_0: { number: 8, elements: 32, bytes: 34, halves: [0] },
  Q4_K: { number: 12, elements: 256, bytes: 144, halves: [0, 2] },
  Q6_K: { number: 14, elements: 256, bytes: 210, halves: [208] },
  BF16: { number: 30, elements: 1, bytes: 2, halves: [] },
};
/** Half-precision scales that give weights of about 0.02. */
const SCALES = { Q4_0: 0x1c00, Q8_0: 0x0c00, Q4_K: 0x0400, Q6_K: 0x0080 };

/** As llama.cpp mixes types: the better one for values, down projections and the ends; in Q4_K_M for some of the layers. */
const FILE_TYPES = {
  Q4_0: (kind, name) => (kind === 'wide' && !name.startsWith('blk.') ? 'Q6_K' : 'Q4_0'),
  Q8_0: () => 'Q8_0',
  Q4_K_M: (kind, name, layers) => (kind === 'wide' && wantsMoreBits(name, layers) ? 'Q6_K' : 'Q4_K'),
  BF16: () => 'BF16',
};

function wantsMoreBits(name, layers) {
  const layer = Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? 0);
  const eighth = Math.floor(layers / 8);
  return !name.startsWith('blk.') || layer < eighth || layer >= 7 * eighth || (layer - eighth) % 3 === 2;
}

const u32 = (value) => {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
};
const u64 = (value) => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
};
const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const real = (value) => Buffer.from(Float32Array.of(value).buffer);

function valueBytes(value) {
  if (typeof value === 'string') return [u32(8), text(value)];
  if (typeof value === 'number') return [u32(4), u32(value)];
  if (!Array.isArray(value)) return [u32(6), real(value.f32)];
  const [number, item] = typeof value[0] === 'string' ? [8, text] : [5, u32]; // signed, as llama.cpp asks
  return [u32(9), u32(number), u64(value.length), Buffer.concat(value.map(item))];
}

/** A vocabulary that any reader accepts: the 256 bytes, then words without merges. */
function tokenizer(vocabulary, pre, merged) {
  const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
  let next = 256;
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
  const tokens = Array.from({ length: vocabulary }, (_, i) => bytes[i] ?? `word${i}`);
  const merges = [];
  for (let i = 256; merged && i < vocabulary; i++) {
    const [left, right] = [(i - 256) >> 8, (i - 256) & 255];
    // Two bytes, then two bytes and one.
    const first = left < 256 ? bytes[left] : tokens[left];
    tokens[i] = first + bytes[right];
    merges.push(`${first} ${bytes[right]}`);
  }
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': pre,
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': tokens.map(() => 1),
    'tokenizer.ggml.merges': merged ? merges : ['a b'],
    'tokenizer.ggml.bos_token_id': vocabulary - 1,
    'tokenizer.ggml.eos_token_id': vocabulary - 1,
  };
}

/** Random bytes of whole blocks, the same for each type; repeated to fill a tensor. */
export function pattern(type) {
  const { bytes, halves } = BLOCKS[type];
  const count = Math.floor((1 << 22) / bytes);
  const out = Buffer.alloc(count * bytes);
  let state = 0x9e3779b9;
  for (let i = 0; i < out.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out[i] = state >>> 24;
  }
  for (let block = 0; block < count; block++) {
    for (const half of halves) out.writeUInt16LE(SCALES[type], block * bytes + half);
    // A sign, an exponent of about 2^-6, seven bits of mantissa.
    if (type === 'BF16') out[2 * block + 1] = 0x3c | (out[2 * block + 1] & 0x80);
  }
  return out;
}

function vectorBytes({ kind, name, sizes }) {
  const count = sizes.reduce((product, size) => product * size, 1);
  const values = new Float32Array(count);
  const norm = name.endsWith('norm.weight');
  for (let i = 0; i < count; i++)
    values[i] = kind === 'decay' ? -(1 + (i % 7)) : norm ? 1 : ((i * 37) % 101) / 1010 - 0.05;
  return Buffer.from(values.buffer);
}

/** Writes `bytes` bytes of `source`, repeated as needed. */
export function writeRepeated(file, source, bytes) {
  for (let done = 0; done < bytes; done += source.length)
    writeSync(file, source, 0, Math.min(source.length, bytes - done));
}

const bytesOf = ({ type, sizes }) =>
  (sizes.reduce((product, size) => product * size, 1) / BLOCKS[type].elements) * BLOCKS[type].bytes;
const padded = (size) => Math.ceil(size / 32) * 32;

function header(keys, tensors) {
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(keys).length)];
  for (const [key, value] of Object.entries(keys)) parts.push(text(key), ...valueBytes(value));
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(text(tensor.name), u32(tensor.sizes.length), ...tensor.sizes.toReversed().map(u64));
    parts.push(u32(BLOCKS[tensor.type].number), u64(offset));
    offset += padded(bytesOf(tensor));
  }
  const all = Buffer.concat(parts);
  return Buffer.concat([all, Buffer.alloc(padded(all.length) - all.length)]);
}

/** Writes the file; returns the bytes of its weights. `merged`: words are merged from others, as in a real vocabulary; merges are
 *  most of what a tokenizer keeps in memory. */
export function writeSynthetic(name, fileType, path, { merged = false } = {}) {
  const shape = SHAPES[name];
  const typeOf = FILE_TYPES[fileType];
  if (!shape || !typeOf) {
    throw new Error(
      `[synthetic] ${name} as ${fileType}: known are ${Object.keys(SHAPES).join('; ')} as ${Object.keys(FILE_TYPES).join(', ')}`,
    );
  }
  const { keys, tensors: wanted } = shape.build(shape);
  const tensors = wanted.map((tensor) => ({
    ...tensor,
    type: tensor.kind === 'matrix' || tensor.kind === 'wide' ? typeOf(tensor.kind, tensor.name, shape.layers) : 'F32',
  }));
  const architecture = Object.keys(keys)[0].split('.')[0];
  const metadata = {
    'general.architecture': architecture,
    'general.name': `${name} ${fileType}, random`,
    ...keys,
    ...tokenizer(shape.vocabulary, shape.pre, merged),
  };
  const patterns = new Map();
  const partial = `${path}.part`;
  const file = openSync(partial, 'w');
  writeSync(file, header(metadata, tensors));
  for (const tensor of tensors) {
    const bytes = bytesOf(tensor);
    if (tensor.type === 'F32') writeSync(file, vectorBytes(tensor));
    else {
      if (!patterns.has(tensor.type)) patterns.set(tensor.type, pattern(tensor.type));
      writeRepeated(file, patterns.get(tensor.type), bytes);
    }
    writeSync(file, Buffer.alloc(padded(bytes) - bytes));
  }
  closeSync(file);
  renameSync(partial, path);
  return tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', fileType = '', path = ''] = process.argv.slice(2);
  console.log(`${writeSynthetic(name, fileType, path)} bytes of weights`);
}
