// Makes resources/encoder from all-MiniLM-L6-v2 as it is published: node resources/encoder/make/quantise.ts FOLDER [TO]
// FOLDER holds model.safetensors in fp32 and the files beside it. Every matrix becomes 8 bits in the layout of MLX: groups of 64 along
// a row, each with a scale and a bias in f16, code * scale + bias; positions become f16; the rest, 0.2 % of the numbers, stays fp32.
// The same files give the same bytes.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const GROUP = 64;
const CODES = 255;
const KEPT = [
  'tokenizer.json',
  'tokenizer_config.json',
  'modules.json',
  'sentence_bert_config.json',
  'special_tokens_map.json',
];

type Tensor = { dtype: string; shape: readonly number[]; bytes: Uint8Array };

function readTensors(path: string): Map<string, Tensor> {
  const file = readFileSync(path);
  const size = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, 8 + size)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
  return new Map(
    entries.map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to],
        },
      ]) => [name, { dtype, shape, bytes: file.subarray(8 + size + from, 8 + size + to) }],
    ),
  );
}

const floatsOf = ({ bytes }: Tensor): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
const bytesOf = (numbers: Float16Array | Uint8Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** A matrix of whole groups as codes of 8 bits, four to a word, with what they are scaled by. */
function quantised(name: string, tensor: Tensor): [string, Tensor][] {
  const module = name.slice(0, -'.weight'.length);
  const [rows = 0, columns = 0] = tensor.shape;
  if (columns % GROUP !== 0)
    throw new Error(`[quantise] ${name} has ${columns} columns; allowed are multiples of ${GROUP}`);
  const values = floatsOf(tensor);
  const codes = new Uint8Array(values.length);
  const scales = new Float16Array(values.length / GROUP);
  const biases = new Float16Array(values.length / GROUP);
  for (let group = 0; group < scales.length; group++) {
    const own = values.subarray(group * GROUP, (group + 1) * GROUP);
    // What f16 makes of scale and bias is what the codes are chosen for.
    biases[group] = Math.min(...own);
    const bias = biases[group] ?? 0;
    scales[group] = (Math.max(...own) - bias) / CODES;
    const scale = scales[group] || 1;
    for (const [at, value] of own.entries())
      codes[group * GROUP + at] = Math.max(0, Math.min(CODES, Math.round((value - bias) / scale)));
  }
  const groups = [rows, columns / GROUP];
  return [
    [name, { dtype: 'U32', shape: [rows, columns / 4], bytes: codes }],
    [`${module}.scales`, { dtype: 'F16', shape: groups, bytes: bytesOf(scales) }],
    [`${module}.biases`, { dtype: 'F16', shape: groups, bytes: bytesOf(biases) }],
  ];
}

function made(name: string, tensor: Tensor): [string, Tensor][] {
  if (tensor.dtype !== 'F32' || name.startsWith('pooler.')) return []; // position_ids, and what only a classifier reads
  if (name.includes('LayerNorm') || tensor.shape.length < 2 || name.includes('token_type')) return [[name, tensor]];
  if (!name.includes('position_embeddings')) return quantised(name, tensor);
  return [[name, { ...tensor, dtype: 'F16', bytes: bytesOf(Float16Array.from(floatsOf(tensor))) }]];
}

function writeTensors(path: string, tensors: readonly [string, Tensor][]) {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: { format: 'mlx' } };
  for (const [name, { dtype, shape, bytes }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  const text = JSON.stringify(header);
  const head = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(head.length));
  writeFileSync(path, Buffer.concat([size, head, ...tensors.map(([, { bytes }]) => bytes)]));
}

const [from, to = resolve(import.meta.dirname, '..')] = process.argv.slice(2);
if (from === undefined) throw new Error('[quantise] no folder named that holds all-MiniLM-L6-v2');
mkdirSync(join(to, '1_Pooling'), { recursive: true });
const tensors = [...readTensors(join(from, 'model.safetensors'))].sort(([a], [b]) => (a < b ? -1 : 1));
// Words of four bytes first, so that every tensor begins at a multiple of its own size.
const sizes: Readonly<Record<string, number>> = { F32: 0, U32: 0, F16: 1 };
const all = tensors.flatMap(([name, tensor]) => made(name, tensor));
writeTensors(
  join(to, 'model.safetensors'),
  all.toSorted(([, a], [, b]) => (sizes[a.dtype] ?? 0) - (sizes[b.dtype] ?? 0)),
);
const config = JSON.parse(readFileSync(join(from, 'config.json'), 'utf8')) as object;
const quantization = { bits: 8, group_size: GROUP, mode: 'affine' };
writeFileSync(join(to, 'config.json'), `${JSON.stringify({ ...config, quantization }, null, 2)}\n`);
for (const name of [...KEPT, '1_Pooling/config.json']) copyFileSync(join(from, name), join(to, name));
