// Which variants of a repository are offered, which is suggested, and what is said of those that were not looked at.
import { expect, test } from 'vitest';
import { folderLabel, offersOf, scaled, suggested } from '../../../../app/models/sources/quantisations.ts';
import type { Repository } from '../../../../app/models/sources/source.ts';
import type { ModelDescription } from '../../../../app/protocol/index.ts';

const repository = (files: Record<string, number>) =>
  ({ files: Object.entries(files).map(([name, size]) => ({ name, size })) }) as unknown as Repository;
const offers = (files: Record<string, number>) =>
  offersOf(repository(files)).map(({ id, label, bytes }) => [id, label, bytes]);

test('GGUF files by their quantisation, parts as one, and the folder of safetensors with what describes it; the largest first', () => {
  expect(
    offers({ 'm-Q4_0.gguf': 4, 'm-Q8_0-00001-of-00002.gguf': 5, 'm-Q8_0-00002-of-00002.gguf': 6, 'README.md': 9 }),
  ).toEqual([
    ['m-Q8_0-00001-of-00002.gguf', 'Q8_0', 11],
    ['m-Q4_0.gguf', 'Q4_0', 4],
  ]);
  const folder = { 'model-1.safetensors': 7, 'model-2.safetensors': 8, 'below/other.safetensors': 100 };
  expect(offers({ ...folder, 'config.json': 1 })).toEqual([['.', '', 15]]);
  expect(offers(folder)).toEqual([]);
  expect(offers({ 'config.json': 1 })).toEqual([]);
});

test('four bits are suggested first, else what comes nearest in the order of what is liked, else the smallest', () => {
  const best = (...labels: string[]) => suggested(labels.map((label) => ({ id: label, label, bytes: 1 })))?.label;
  expect(best('Q8_0', 'Q4_K_S', 'Q4_K_M')).toBe('Q4_K_M');
  expect(best('Q8_0', 'UD-Q4_K_XL')).toBe('UD-Q4_K_XL');
  expect(best('BF16', 'Q8_0', 'Q2_K')).toBe('Q8_0');
  expect(best('BF16', 'Q6_K', 'Q2_K')).toBe('Q2_K');
  expect(best()).toBeUndefined();
});

test('a folder is called after its bits, or after the type of most of its bytes', () => {
  const label = (more: object) => folderLabel({ container: 'safetensors', types: {}, ...more } as ModelDescription);
  expect(label({ container: 'mlx', weightBytes: 4.5e9, parameters: 8e9 })).toBe('4-bit');
  expect(label({ container: 'mlx', weightBytes: 1, parameters: 0 })).toBe('8-bit');
  expect(label({ types: { f32: 5, bf16: 90, f16: 7 } })).toBe('BF16');
  expect(label({})).toBe('');
});

test('of another quantisation only the sizes are scaled', () => {
  const description = {
    family: 'qwen3',
    types: { bf16: 8 },
    weightBytes: 800,
    activeBytes: 400,
    stateBytes: 3,
  } as unknown as ModelDescription;
  expect(scaled(description, 200, 50)).toEqual({ ...description, types: {}, weightBytes: 200, activeBytes: 100 });
  expect(scaled(description, 0, 50)).toEqual({ ...description, types: {} });
});
