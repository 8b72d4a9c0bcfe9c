import type { Preprocessor } from './preprocessor.ts';
import type { RgbPicture } from './resample.ts';

export type Patches = {
  /** [patches, channel * frame * row * column]: the patches of one token follow each other. */
  readonly pixels: Float32Array;
  /** Frames, rows and columns, in patches. */
  readonly grid: [number, number, number];
};

/** A picture whose sides are multiples of a token's, as the tower takes it (the order of transformers'
 *  Qwen2VLImageProcessor): normalised, every frame the same, block after block of merge x merge patches. */
export function patchesOf({ width, height, data }: RgbPicture, preprocessor: Preprocessor): Patches {
  const { patch, merge, frames } = preprocessor;
  const [rows, columns] = [height / patch, width / patch];
  const values = tablesOf(preprocessor);
  const frame = patch * patch;
  const pixels = new Float32Array(rows * columns * 3 * frames * frame);
  let to = 0;
  for (let block = 0; block < (rows * columns) / merge ** 2; block++) {
    const [blockRow, blockColumn] = [Math.floor(block / (columns / merge)), block % (columns / merge)];
    for (let inner = 0; inner < merge * merge; inner++) {
      const top = (blockRow * merge + Math.floor(inner / merge)) * patch;
      const left = (blockColumn * merge + (inner % merge)) * patch;
      for (let channel = 0; channel < 3; channel++) {
        const table = values[channel] as Float32Array;
        for (let y = 0; y < patch; y++) {
          let from = ((top + y) * width + left) * 3 + channel;
          for (let x = 0; x < patch; x++, from += 3) pixels[to + y * patch + x] = table[data[from] as number] as number;
        }
        for (let copy = 1; copy < frames; copy++) pixels.copyWithin(to + copy * frame, to, to + frame);
        to += frames * frame;
      }
    }
  }
  return { pixels, grid: [1, rows, columns] };
}

/** Lookup table of normalised values per channel. */
const tablesOf = ({ mean, deviation }: Preprocessor): Float32Array[] =>
  mean.map((center, channel) =>
    Float32Array.from({ length: 256 }, (_, byte) => (byte / 255 - center) / (deviation[channel] as number)),
  );
