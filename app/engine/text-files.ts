import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type * as Addon from '../../native/addon/index.d.ts';
import { LonghandError } from '../protocol/index.ts';
import { type ModelText, modelTextFromFiles, modelTextFromGguf } from '../text/model-text.ts';

/** Reads how a model reads and writes: from a GGUF file's metadata, or from the files beside the weights.
 *  @throws LonghandError `model-broken`, naming the file */
export async function readModelText(addon: Pick<typeof Addon, 'ggufMetadata'>, path: string): Promise<ModelText> {
  if (path.toLowerCase().endsWith('.gguf')) return modelTextFromGguf(await addon.ggufMetadata(path));
  const folder = existsSync(path) && statSync(path).isFile() ? dirname(path) : path;
  const chatTemplate = templateOf(folder);
  return modelTextFromFiles({
    tokenizer: readJson(folder, 'tokenizer.json'),
    tokenizerConfig: readJson(folder, 'tokenizer_config.json'),
    generationConfig: readJson(folder, 'generation_config.json'),
    config: readJson(folder, 'config.json'),
    ...(chatTemplate !== undefined && { chatTemplate }),
  });
}

/** A template has a file of its own in newer releases, and two ways to write it; else tokenizer_config.json has it. */
function templateOf(folder: string): string | undefined {
  const jinja = readIfThere(join(folder, 'chat_template.jinja'));
  if (jinja !== undefined) return jinja;
  const file = readJson(folder, 'chat_template.json');
  if (file === undefined) return undefined;
  const template = typeof file === 'object' && file !== null && 'chat_template' in file ? file.chat_template : null;
  if (typeof template !== 'string') throw broken('chat_template.json', 'has no text "chat_template"');
  return template;
}

const broken = (name: string, reason: string) => new LonghandError('model-broken', `[${name}] ${reason}`);

function readIfThere(path: string): string | undefined {
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined;
}

function readJson(folder: string, name: string): unknown {
  const text = readIfThere(join(folder, name));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(name, `is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}
