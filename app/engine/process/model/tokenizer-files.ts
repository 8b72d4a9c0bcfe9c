import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { LonghandError } from '../../../protocol/index.ts';
import { type ModelText, modelTextFromFiles, modelTextFromGguf } from '../../../text/model-text.ts';
import { brokenFile, readModelJson, readModelText as readText } from './model-json.ts';

/** Reads tokenizer and template: from a GGUF file's metadata, or from the files beside the weights.
 *  @throws LonghandError `model-broken`, naming the file */
export async function readModelText(addon: Pick<typeof Addon, 'ggufMetadata'>, path: string): Promise<ModelText> {
  if (path.toLowerCase().endsWith('.gguf')) return modelTextFromGguf(await addon.ggufMetadata(path));
  const folder = statSync(path, { throwIfNoEntry: false })?.isFile() ? dirname(path) : path;
  const chatTemplate = templateOf(folder);
  return modelTextFromFiles({
    tokenizer: readModelJson(folder, 'tokenizer.json'),
    tokenizerConfig: readModelJson(folder, 'tokenizer_config.json'),
    generationConfig: readModelJson(folder, 'generation_config.json'),
    config: readModelJson(folder, 'config.json'),
    ...(chatTemplate !== undefined && { chatTemplate }),
  });
}

/** Null if the model has no tokenizer: work on token ids needs none. */
export async function textIfAny(addon: Pick<typeof Addon, 'ggufMetadata'>, path: string): Promise<ModelText | null> {
  try {
    return await readModelText(addon, path);
  } catch (error) {
    // A GGUF file without a vocabulary declares none, or lacks the keys.
    const missing = /tokenizer\.json is missing|^\[gguf\] tokenizer\.ggml\.model/;
    if (error instanceof LonghandError && missing.test(error.message)) return null;
    throw error;
  }
}

/** Newer releases have the template in a file of its own, of two possible names; otherwise it is in tokenizer_config.json. */
function templateOf(folder: string): string | undefined {
  const jinja = readText(folder, 'chat_template.jinja');
  if (jinja !== undefined) return jinja;
  const file = readModelJson(folder, 'chat_template.json');
  if (file === undefined) return undefined;
  const template = typeof file === 'object' && file !== null && 'chat_template' in file ? file.chat_template : null;
  if (typeof template !== 'string') throw brokenFile('chat_template.json', 'has no text "chat_template"');
  return template;
}
