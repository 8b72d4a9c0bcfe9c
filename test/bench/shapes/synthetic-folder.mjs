// Folders with config.json and model.safetensors of random BF16 weights in published shapes, made when needed, never committed.
//   node test/bench/shapes/synthetic-folder.mjs SHAPE FOLDER      for example "SmolLM-1.7B-MLA-d_kv_32" /tmp/model
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FOLDER_SHAPES } from './folder-shapes.mjs';
import { pattern, writeRepeated } from './synthetic.mjs';

const bytesOf = ({ sizes }) => 2 * sizes.reduce((product, size) => product * size, 1);
/** 1.0 as BF16, little-endian. */
const ONE = Buffer.from([0x80, 0x3f]);

/** The length, then the JSON header, padded to 8 bytes with spaces. */
function header(tensors) {
  let offset = 0;
  const table = {};
  for (const tensor of tensors) {
    const end = offset + bytesOf(tensor);
    table[tensor.name] = { dtype: 'BF16', shape: tensor.sizes, data_offsets: [offset, end] };
    offset = end;
  }
  const text = JSON.stringify(table);
  const padded = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded]);
}

/** Writes the folder; returns the bytes of its weights. */
export function writeSyntheticFolder(name, folder) {
  const shape = FOLDER_SHAPES[name];
  if (!shape) throw new Error(`[synthetic] ${name}: known are ${Object.keys(FOLDER_SHAPES).join('; ')}`);
  const { config, tensors } = shape.build();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config, null, 2));
  const file = openSync(join(folder, 'model.safetensors'), 'w');
  writeSync(file, header(tensors));
  const random = pattern('BF16');
  for (const tensor of tensors) writeRepeated(file, tensor.kind === 'norm' ? ONE : random, bytesOf(tensor));
  closeSync(file);
  return tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', folder = ''] = process.argv.slice(2);
  console.log(`${writeSyntheticFolder(name, folder)} bytes of weights`);
}
