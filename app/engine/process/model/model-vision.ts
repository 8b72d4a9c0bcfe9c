import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { type Preprocessor, preprocessorOf } from '../../../pictures/preprocessor.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { ModelText } from '../../../text/model-text.ts';
import type { LoadTarget } from '../../ipc-protocol.ts';
import { brokenFile, readModelJson } from './model-json.ts';
import { readModelText } from './tokenizer-files.ts';

/** Vision of a model: the placeholder token for a row, and the preprocessing. */
export type ModelVision = { readonly token: number; readonly preprocessor: Preprocessor };

/** A model's tokenizer and template and, with vision, its picture preprocessing. */
export type EngineText = ModelText & { readonly vision: ModelVision | null };

type Reader = Pick<typeof Addon, 'ggufMetadata' | 'inspect'>;

/** @throws LonghandError `model-broken`, naming the file; `model-missing` if the chosen vision tower is gone */
export async function readEngineText(
  addon: Reader,
  { path, vision: tower }: Pick<LoadTarget, 'path' | 'vision'>,
): Promise<EngineText> {
  const [text, vision] = await Promise.all([readModelText(addon, path), visionOf(addon, path, tower)]);
  return { ...text, vision };
}

/** `tower`: the vision tower file of a GGUF model, if one was chosen. */
async function visionOf(addon: Reader, path: string, tower: string | undefined): Promise<ModelVision | null> {
  if (path.toLowerCase().endsWith('.gguf')) return visionOfGguf(addon, path, tower);
  const folder = statSync(path, { throwIfNoEntry: false })?.isFile() ? dirname(path) : path;
  const file = 'preprocessor_config.json';
  // Reading the headers of many gigabytes is slow, and most models have no vision.
  if (!existsSync(join(folder, file)) && !configSees(folder)) return null;
  const { vision } = await addon.inspect(path);
  if (!vision) return null;
  const preprocessor = preprocessorOf(readModelJson(folder, file));
  if (preprocessor.merge === vision.merge) return { token: vision.token, preprocessor };
  throw brokenFile(file, `merges ${preprocessor.merge} patches a side, the weights ${vision.merge}`);
}

/** The tower's own file contains the preprocessing. */
async function visionOfGguf(addon: Reader, path: string, tower: string | undefined): Promise<ModelVision | null> {
  if (tower === undefined && !(await readdir(dirname(path))).some((name) => /mmproj.*\.gguf$/i.test(name))) return null;
  if (tower !== undefined && !existsSync(tower)) {
    throw new LonghandError(
      'model-missing',
      `[vision] nothing is at ${tower}, which was chosen for ${basename(path)}`,
      {
        details: { reason: 'vision-gone' },
      },
    );
  }
  const { vision, files } = await addon.inspect(path, tower === undefined ? {} : { vision: tower });
  const file = files.at(-1);
  if (!vision || file === undefined) return null;
  const metadata = await addon.ggufMetadata(file);
  const of = (key: string) => metadata[`clip.vision.${key}`];
  const preprocessor = preprocessorOf({
    patch_size: of('patch_size'),
    merge_size: vision.merge,
    min_pixels: of('image_min_pixels'),
    max_pixels: of('image_max_pixels'),
    image_mean: of('image_mean'),
    image_std: of('image_std'),
  });
  return { token: vision.token, preprocessor };
}

function configSees(folder: string): boolean {
  const config = readModelJson(folder, 'config.json');
  return typeof config === 'object' && config !== null && 'vision_config' in config;
}
