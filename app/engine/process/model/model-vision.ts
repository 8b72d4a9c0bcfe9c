import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { type Preprocessor, preprocessorOf } from '../../../pictures/preprocessor.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { brokenFile, readModelJson } from './model-json.ts';
import { readModelText } from './tokenizer-files.ts';

/** What a model that sees does with pictures: the token that stands for a row of one, and how one is prepared. */
export type ModelVision = { readonly token: number; readonly preprocessor: Preprocessor };

/** How a model reads text and, where it can, pictures. */
export type EngineText = ModelText & { readonly vision: ModelVision | null };

type Reader = Pick<typeof Addon, 'ggufMetadata' | 'inspect'>;

/** @throws LonghandError `model-broken`, naming the file */
export async function readEngineText(addon: Reader, path: string): Promise<EngineText> {
  const [text, vision] = await Promise.all([readModelText(addon, path), visionOf(addon, path)]);
  return { ...text, vision };
}

async function visionOf(addon: Reader, path: string): Promise<ModelVision | null> {
  const folder = statSync(path, { throwIfNoEntry: false })?.isFile() ? dirname(path) : path;
  const file = 'preprocessor_config.json';
  // Headers of many gigabytes take a moment, and most models are blind.
  if (!existsSync(join(folder, file)) && !configSees(folder)) return null;
  const { vision } = await addon.inspect(path);
  if (!vision) return null;
  const preprocessor = preprocessorOf(readModelJson(folder, file));
  if (preprocessor.merge === vision.merge) return { token: vision.token, preprocessor };
  throw brokenFile(file, `merges ${preprocessor.merge} patches a side, the weights ${vision.merge}`);
}

function configSees(folder: string): boolean {
  const config = readModelJson(folder, 'config.json');
  return typeof config === 'object' && config !== null && 'vision_config' in config;
}
