// Low-rank adapters: the model with an adapter on it is the model with the sums worked out here in its file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import {
  asFloats,
  f32,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

const folder = join(golden, 'bert', 'tiny');
const stored = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
const { hidden_size: hidden, intermediate_size: width } = config;
const RANK = 3;
const ALPHA = 6;

let state = 5;
function made(...shape: number[]): StoredTensor {
  const values = Array.from({ length: shape.reduce((a, b) => a * b) }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state / 1_073_741_824 - 1) * 0.3;
  });
  return { dtype: 'F32', shape, bytes: f32(...values) };
}

const at = Object.keys(stored).some((name) => name.startsWith('bert.')) ? 'bert.' : '';
const modules: Record<string, [out: number, size: number]> = {
  [`${at}encoder.layer.0.attention.self.query`]: [hidden, hidden],
  [`${at}encoder.layer.1.output.dense`]: [hidden, width],
};
const head = {
  [`${at}pooler.dense.weight`]: made(hidden, hidden),
  [`${at}pooler.dense.bias`]: made(hidden),
  'classifier.weight': made(1, hidden),
  'classifier.bias': made(1),
};
const adapter: Record<string, StoredTensor> = Object.fromEntries([
  ...Object.entries(head).map(([name, tensor]) => [`base_model.model.${name}`, tensor]),
  ...Object.entries(modules).flatMap(([name, [out, size]]) => [
    [`base_model.model.${name}.lora_A.weight`, made(RANK, size)],
    [`base_model.model.${name}.lora_B.weight`, made(out, RANK)],
  ]),
]);
const adapterOf = (tensors: Record<string, StoredTensor>, settings: object = {}) =>
  temporaryFolder({
    'adapter_config.json': JSON.stringify({ r: RANK, lora_alpha: ALPHA, ...settings }),
    'adapter_model.safetensors': safetensors(tensors),
  });

/** W + alpha / r * B A */
function withAdapter(name: string, [out, size]: [number, number]): StoredTensor {
  const of = (tensor: StoredTensor | undefined) => asFloats(tensor?.bytes ?? new Uint8Array());
  const w = of(stored[`${name}.weight`]);
  const a = of(adapter[`base_model.model.${name}.lora_A.weight`]);
  const b = of(adapter[`base_model.model.${name}.lora_B.weight`]);
  const values = [...w].map((value, place) => {
    const [row, column] = [Math.floor(place / size), place % size];
    const sum = Array.from({ length: RANK }, (_, r) => (b[row * RANK + r] ?? 0) * (a[r * size + column] ?? 0));
    return value + (ALPHA / RANK) * sum.reduce((x, y) => x + y, 0);
  });
  return { dtype: 'F32', shape: [out, size], bytes: f32(...values) };
}

/** As the header says: FNV-1a over the first 4096 bytes of each matrix. */
function checksum(): string {
  let sum = 0xcbf29ce484222325n;
  for (const name of Object.keys(modules).sort()) {
    for (const byte of stored[`${name}.weight`]?.bytes.subarray(0, 4096) ?? []) {
      sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
    }
  }
  return sum.toString(16).padStart(16, '0');
}

test('an encoder with an adapter scores as one whose weights are the sums', async () => {
  const sums = Object.entries(modules).map(([name, size]) => [`${name}.weight`, withAdapter(name, size)]);
  const whole = temporaryFolder({
    'config.json': JSON.stringify(config),
    'model.safetensors': safetensors({ ...stored, ...head, ...Object.fromEntries(sums) }),
  });
  const [one, other] = await Promise.all([
    addon.load(folder, { adapter: adapterOf(adapter, { base_checksum: ['0123456789abcdef', checksum()] }) }),
    addon.load(whole),
  ]);
  expect(one.description).toMatchObject({ reranker: true, notices: ['an adapter is put on 2 matrices'] });
  const text = [Int32Array.of(1, 9, 30, 2, 44, 12, 7, 2), Int32Array.of(4), Int32Array.of(8)] as const;
  const [score, wanted] = [await one.rank(...text), await other.rank(...text)];
  expect(score[0]).toBeCloseTo(wanted[0] ?? Number.NaN, 5);
  one.close();
  other.close();
  // The model itself is as it was.
  const plain = await addon.load(folder);
  expect(plain.description.reranker).toBe(false);
  plain.close();
});

const [query = ''] = Object.keys(modules);
const key = (end: string) => `base_model.model.${query}.${end}`;
const without = (name: string) => Object.fromEntries(Object.entries(adapter).filter(([own]) => own !== name));

test.each([
  ['another model', () => adapterOf(adapter, { base_checksum: '0123456789abcdef' }), 'this one has'],
  ['none of several models', () => adapterOf(adapter, { base_checksum: ['0123456789abcdef', 'f'] }), 'this one has'],
  ['a checksum that is no text', () => adapterOf(adapter, { base_checksum: ['f', 7] }), 'nor a list of texts'],
  ['no lora_A', () => adapterOf(without(key('lora_A.weight'))), 'has no lora_A'],
  ['no lora_B', () => adapterOf(without(key('lora_B.weight'))), 'has no lora_B'],
  ['another rank', () => adapterOf(adapter, { r: 4 }), 'allowed: [out, 4] by [4, in]'],
  ['a rank beyond any', () => adapterOf(adapter, { r: 4097 }), '"r" is not a whole number from 1 to 4096'],
  ['the highest rank', () => adapterOf(adapter, { r: 4096 }), 'allowed: [out, 4096] by [4096, in]'],
  ['half a rank', () => adapterOf(adapter, { r: 2.5 }), '"r" is not a whole number from 1 to 4096'],
  ['an empty list of checksums', () => adapterOf(adapter, { base_checksum: [] }), 'nor a list of texts'],
  [
    'settings of more than a megabyte',
    () => adapterOf(adapter, { note: 'x'.repeat(1 << 20) }),
    'bytes; at most 1048576 are read',
  ],
  ['no rank', () => adapterOf(adapter, { r: 0 }), '"r" is not a whole number from 1'],
  ['no alpha', () => adapterOf(adapter, { lora_alpha: 'much' }), '"lora_alpha" is not a number'],
  ['a matrix that the model has not', () => adapterOf({ ...adapter, ...alien }), 'the model has no "lm_head.weight"'],
  ['a name of nobody', () => adapterOf({ ...adapter, x: made(1) }), 'does not begin with base_model.model.'],
  ['a head of another size', () => adapterOf({ ...adapter, ...wide }), 'of the model ['],
  ['integers', () => adapterOf({ ...adapter, [key('lora_A.weight')]: codes }), 'is of type'],
  [
    'half a file',
    () => temporaryFolder({ 'adapter_config.json': '{"r": 3, "lora_alpha": 6}', 'adapter_model.safetensors': 'half' }),
    '[safetensors]',
  ],
  [
    'no file',
    () => temporaryFolder({ 'adapter_config.json': '{"r": 3, "lora_alpha": 6}' }),
    'adapter_model.safetensors',
  ],
  ['no settings', () => temporaryFolder({}), 'adapter_config.json'],
])('%s: refused by name', async (_, folderOf, reason) => {
  await expect(addon.load(folder, { adapter: folderOf() })).rejects.toMatchObject({
    code: 'format',
    message: expect.stringContaining(reason),
  });
});

const alien = {
  'base_model.model.lm_head.lora_A.weight': made(RANK, hidden),
  'base_model.model.lm_head.lora_B.weight': made(hidden, RANK),
};
const wide = { [`base_model.model.${at}embeddings.LayerNorm.weight`]: made(hidden + 1) };
const codes: StoredTensor = { dtype: 'I32', shape: [RANK, hidden], bytes: new Uint8Array(4 * RANK * hidden) };
