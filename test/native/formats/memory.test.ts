// A model file is mapped, never read: opening costs no memory, refusing leaves nothing behind.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { golden } from '../../support/addon.ts';
import {
  f32,
  formats,
  type GgufTensor,
  gguf,
  llama,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

/** `head` followed by zeros that take no room on disk. */
function sparse(path: string, head: Uint8Array, size: number): void {
  const file = openSync(path, 'w');
  writeSync(file, head);
  ftruncateSync(file, size);
  closeSync(file);
}
const gigabyte = 2 ** 30;
const resident = () => process.memoryUsage().rss;

describe('four gigabytes', () => {
  test('of safetensors open at once, in place', () => {
    const folder = temporaryFolder({ 'config.json': '{}' });
    const entry = { dtype: 'F32', shape: [4, gigabyte / 4], data_offsets: [0, 4 * gigabyte] };
    const head = safetensors({}, () => ({ w: entry }));
    sparse(join(folder, 'model.safetensors'), head, head.length + 4 * gigabyte);
    const before = resident();
    const { tensors } = formats.openCheckpoint(folder);
    expect(tensors).toMatchObject([{ name: 'w', bytes: 4 * gigabyte, hasData: true }]);
    expect(resident() - before).toBeLessThan(32 << 20);
  });

  test('of GGUF open at once, in place', () => {
    const path = join(temporaryFolder(), 'm.gguf');
    const tensor: GgufTensor = { name: 'w', type: 'F32', shape: [4, gigabyte / 4], bytes: new Uint8Array(0) };
    const head = gguf(llama, [tensor]);
    sparse(path, head, head.length + 4 * gigabyte);
    const before = resident();
    expect(formats.openCheckpoint(path).tensors).toMatchObject([{ name: 'w', bytes: 4 * gigabyte }]);
    expect(resident() - before).toBeLessThan(32 << 20);
  });
});

describe('every tensor is used where it lies in the file', () => {
  const models = [
    'containers/sharded',
    'gguf_models/qwen35/model-mixed.gguf',
    'mlx_models/qwen3_5_4bit',
    'mlx_models/qwen3_5_moe_4bit',
    'qwen3_5_moe/top3',
  ];
  for (const model of models) test(model, () => expect(formats.copiedTensors(join(golden, model))).toEqual([]));

  test('but FP8, which becomes bf16', () => {
    const codes = { dtype: 'F8_E4M3', shape: [2, 2], bytes: new Uint8Array(4) };
    const scale = { dtype: 'F32', shape: [1], bytes: f32(1) };
    const file = safetensors({ a: codes, a_scale: scale, b: scale });
    const folder = temporaryFolder({ 'config.json': '{}', 'model.safetensors': file });
    expect(formats.copiedTensors(folder)).toEqual(['a']);
  });
});

test('what a file claims is not allocated', () => {
  const before = resident();
  const claims: Uint8Array[] = [1e11, 1e14, 2 ** 62].map((bytes) =>
    safetensors({}, () => ({ w: { dtype: 'U8', shape: [bytes], data_offsets: [0, bytes] } })),
  );
  for (const file of claims) expect(() => formats.readSafetensors(file)).toThrow('[safetensors]');
  expect(resident() - before).toBeLessThan(16 << 20);
});

// Where the system lists no mappings, the two tests above still bound the memory.
test.runIf(process.platform === 'linux')('nothing stays mapped, whether a file was opened or refused', () => {
  const folder = temporaryFolder({ 'config.json': '{}' });
  const path = join(folder, 'model.safetensors');
  const mapped = () =>
    readFileSync('/proc/self/maps', 'utf8')
      .split('\n')
      .filter((line) => line.endsWith(path)).length;
  const head = safetensors({}, () => ({ w: { dtype: 'U8', shape: [gigabyte], data_offsets: [0, gigabyte] } }));
  for (const size of [head.length + gigabyte, head.length + gigabyte - 1, head.length + gigabyte + 1]) {
    sparse(path, head, size);
    if (size === head.length + gigabyte) formats.openCheckpoint(folder);
    else expect(() => formats.openCheckpoint(folder)).toThrow('[safetensors]');
    expect(mapped()).toBe(0);
  }
});
