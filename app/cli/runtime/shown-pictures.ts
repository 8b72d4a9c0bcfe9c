import { resolve } from 'node:path';
import type { Picture } from '../../../native/addon/index.d.ts';
import type { PromptMessage, PromptPicture } from '../../engine/ipc-protocol.ts';
import { readEngineText } from '../../engine/process/model/model-vision.ts';
import { createPictureReader } from '../../engine/process/prompt/picture-reader.ts';
import { promptIds } from '../../engine/process/prompt/prompt-tokens.ts';
import { createPictureDecoder } from '../../pictures/picture-decoder.ts';
import { LonghandError, type PictureDetail } from '../../protocol/index.ts';
import type { TemplateRenderer } from '../../text/jinja/template-renderer.ts';
import type { Context } from './command.ts';
import type { Opened } from './open-model.ts';

type PicturePrompt = {
  readonly files: readonly string[];
  readonly detail: PictureDetail;
  readonly prompt: string;
  readonly system: string | undefined;
  readonly thinking: boolean | null;
};

/** A prompt with pictures in front: its tokens, and the pictures as input of the vision tower.
 *  @throws LonghandError `model-unsupported` for a model without vision, `unreadable`, `too-large`, `not-found` */
export async function promptWithPictures(
  { places }: Context,
  { addon, path, tower }: Opened,
  renderer: TemplateRenderer,
  { files, detail, prompt, system, thinking }: PicturePrompt,
): Promise<{ ids: number[]; inThinking: boolean; pictures: Picture[] }> {
  const text = await readEngineText(addon, { path, ...(tower !== undefined && { vision: tower }) });
  if (!text.vision) throw new LonghandError('model-unsupported', '[--image] this model does not see pictures');
  const { preprocessor } = text.vision;
  const decoder = createPictureDecoder({ worker: places.pictureWorker });
  const reader = createPictureReader(places.pictureWorker);
  try {
    const shown: PromptPicture[] = [];
    for (const file of files) {
      const source = { path: resolve(places.here, file) };
      const { width, height } = await decoder.measure(source);
      shown.push({ source, width, height, detail });
    }
    const said = (role: PromptMessage['role'], words: string): PromptMessage => ({
      role,
      text: words,
      thinking: '',
      ids: null,
    });
    const messages = [
      ...(system === undefined ? [] : [said('system', system)]),
      { ...said('user', prompt), pictures: shown },
    ];
    const { ids, inThinking, pictures } = await promptIds(text, renderer, { messages, thinking, continuation: null });
    return { ids, inThinking, pictures: await reader.read(pictures, preprocessor) };
  } finally {
    await Promise.all([decoder.close(), reader.close()]);
  }
}
