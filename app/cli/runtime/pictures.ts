import type { Picture } from '../../../native/addon/index.d.ts';
import { UsageError } from './command.ts';
import { readSafetensors } from './safetensors.ts';

/** Pictures in the format of Hugging Face preprocessors: `pixel_values` [patches, values], one picture after the
 *  other, and `image_grid_thw` [pictures, 3].
 *  @throws UsageError, LonghandError `unreadable` */
export function readPixels(file: string): Picture[] {
  const tensors = readSafetensors(file);
  const tensor = (name: string) => {
    const found = tensors.find((each) => each.name === name);
    if (found?.shape.length === 2) return found;
    const came = found ? `a "${name}" of shape [${found.shape.join(', ')}]` : `no "${name}"`;
    throw new UsageError(
      `[--pixels] ${file} has ${came}, expected "pixel_values" [patches, values] and "image_grid_thw" [pictures, 3]`,
    );
  };
  const pixels = tensor('pixel_values');
  const grids = tensor('image_grid_thw');
  const [patches = 0, values = 0] = pixels.shape;
  const pictures: Picture[] = [];
  let from = 0;
  for (let at = 0; at < grids.data.length; at += 3) {
    const grid = Array.from(grids.data.subarray(at, at + 3));
    const until = from + grid.reduce((product, side) => product * side, 1);
    pictures.push({
      pixels: pixels.data.slice(from * values, until * values),
      grid,
    });
    from = until;
  }
  if (from === patches && pictures.length > 0) return pictures;
  throw new UsageError(`[--pixels] the grids of ${file} take ${from} patches, "pixel_values" has ${patches}`);
}
