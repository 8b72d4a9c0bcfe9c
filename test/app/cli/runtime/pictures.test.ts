// Pictures that were prepared elsewhere, as `longhand logits --pixels` reads them.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPixels } from '../../../../app/cli/runtime/pictures.ts';
import { writeSafetensors } from '../../../../app/cli/runtime/safetensors.ts';
import { newFolder } from '../../../support/core/core.ts';

const file = () => join(newFolder(), 'pixels.safetensors');
const tensor = (name: string, shape: number[], ...data: number[]) => ({ name, shape, data: Float32Array.from(data) });
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

test('each picture gets the values of its own patches', async () => {
  const path = file();
  await writeSafetensors(path, [
    tensor('pixel_values', [7, 2], ...numbers(14)),
    tensor('image_grid_thw', [3, 3], 1, 2, 2, 1, 1, 1, 2, 1, 1),
  ]);
  expect(readPixels(path)).toEqual([
    { grid: [1, 2, 2], pixels: Float32Array.from(numbers(8)) },
    { grid: [1, 1, 1], pixels: Float32Array.of(8, 9) },
    { grid: [2, 1, 1], pixels: Float32Array.of(10, 11, 12, 13) },
  ]);
});

test('what does not fit together is refused with what is needed', async () => {
  const path = file();
  const of = async (...tensors: ReturnType<typeof tensor>[]) => {
    await writeSafetensors(path, tensors);
    return () => readPixels(path);
  };
  const needed = 'expected "pixel_values" [patches, values] and "image_grid_thw" [pictures, 3]';
  expect(await of()).toThrow(`[--pixels] ${path} has no "pixel_values", ${needed}`);
  const pixels = tensor('pixel_values', [4, 2], ...numbers(8));
  expect(await of(pixels, tensor('image_grid_thw', [3], 1, 2, 2))).toThrow(
    `[--pixels] ${path} has a "image_grid_thw" of shape [3], ${needed}`,
  );
  const counted = (patches: number, had = 4) =>
    `the grids of ${path} take ${patches} patches, "pixel_values" has ${had}`;
  expect(await of(pixels, tensor('image_grid_thw', [1, 3], 1, 1, 3))).toThrow(counted(3));
  expect(await of(pixels, tensor('image_grid_thw', [1, 3], 1, 5, 1))).toThrow(counted(5));
  expect(await of(tensor('pixel_values', [0, 2]), tensor('image_grid_thw', [0, 3]))).toThrow(counted(0, 0));
});
