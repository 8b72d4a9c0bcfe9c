import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Files of a model besides weights and configuration: tokenizer, chat template, licence. */
const COMPANION =
  /^(tokenizer|special_tokens|added_tokens|vocab|merges|generation_config|chat_template|preprocessor|processor|video_preprocessor|license|notice)/i;

export async function copyCompanions(from: string, to: string): Promise<void> {
  for (const { name, parentPath } of await readdir(from, {
    withFileTypes: true,
  })) {
    if (COMPANION.test(name) && !/\.(safetensors|gguf|bin|index\.json)$/i.test(name))
      await copyFile(join(parentPath, name), join(to, name));
  }
}
