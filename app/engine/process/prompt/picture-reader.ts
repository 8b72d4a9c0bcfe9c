import type * as Addon from '../../../../native/addon/index.d.ts';
import { patchesOf } from '../../../pictures/patches.ts';
import { createPictureDecoder, type PictureSource } from '../../../pictures/picture-decoder.ts';
import { type Preprocessor, tokensFor, withDetail } from '../../../pictures/preprocessor.ts';
import type { RgbPicture } from '../../../pictures/resample.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { PromptPicture } from '../../ipc-protocol.ts';

/** Prepares pictures of prompts for the vision tower. */
export type PictureReader = {
  /** @throws LonghandError `unreadable`, `too-large` and file system errors */
  read(pictures: readonly PromptPicture[], preprocessor: Preprocessor): Promise<Addon.Picture[]>;
  close(): Promise<void>;
};

/** Cache of resized pictures: every turn of a chat needs them again. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** `worker`: the file of picture-process. */
export function createPictureReader(worker: string): PictureReader {
  const decoder = createPictureDecoder({ worker });
  /** Used longest ago first. */
  const resized = new Map<string, RgbPicture>();

  async function resizedOf(source: PictureSource, preprocessor: Preprocessor): Promise<RgbPicture> {
    if (!('path' in source)) return decoder.pixels(source, preprocessor);
    const key = JSON.stringify([source.path, preprocessor]);
    const picture = resized.get(key) ?? (await decoder.pixels(source, preprocessor));
    resized.delete(key);
    resized.set(key, picture);
    let bytes = [...resized.values()].reduce((sum, { data }) => sum + data.length, 0);
    for (const [oldest, { data }] of resized) {
      if (bytes <= KEPT_BYTES) break;
      resized.delete(oldest);
      bytes -= data.length;
    }
    return picture;
  }

  async function one({ source, detail, ...size }: PromptPicture, own: Preprocessor): Promise<Addon.Picture> {
    const preprocessor = withDetail(own, detail);
    const { pixels, grid } = patchesOf(await resizedOf(source, preprocessor), preprocessor);
    const rows = grid[1] * grid[2];
    const expected = tokensFor(preprocessor, size) * preprocessor.merge ** 2;
    if (rows === expected) return { pixels, grid };
    throw new LonghandError(
      'unreadable',
      `[pictures] ${rows} patches came, ${expected} were counted: the file changed`,
    );
  }

  return {
    async read(pictures, preprocessor) {
      const read: Addon.Picture[] = [];
      for (const picture of pictures) read.push(await one(picture, preprocessor));
      return read;
    },
    close: decoder.close,
  };
}
