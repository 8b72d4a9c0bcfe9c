import type * as Addon from '../../../../native/addon/index.d.ts';
import type { TemplateRenderer } from '../../../text/jinja/template-renderer.ts';
import type { Generation, PromptMessage } from '../../ipc-protocol.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import type { PictureReader } from './picture-reader.ts';
import { promptIds } from './prompt-tokens.ts';

/** Prefills a finished answer for the next turn while the engine is idle: decoding it token by token left states
 *  that differ in rounding from prefill, and the template may drop the thinking. Stops early when `signal` is set; what was
 *  read by then counts. Returns whether it finished. */
export async function readBack(
  model: LoadedModel,
  { renderer, pictures }: { renderer: TemplateRenderer; pictures: PictureReader },
  { prompt: { messages, thinking, tools }, chatId }: Pick<Generation, 'prompt' | 'chatId'>,
  answer: PromptMessage,
  signal: Addon.AbortFlag,
): Promise<boolean> {
  // The next question is unknown: only the common prefix of two possible ones is prefilled.
  const [one, other] = await Promise.all(
    NEXT.map(async (text) => {
      const next: PromptMessage = { role: 'user', text, thinking: '', ids: null };
      const prompt = { messages: [...messages, answer, next], thinking, continuation: null, ...(tools && { tools }) };
      return promptIds(model.text, renderer, prompt);
    }),
  );
  if (signal.isSet || !one || !other) return false;
  const differs = one.ids.findIndex((id, at) => id !== other.ids[at]);
  const known = Int32Array.from(differs < 0 ? one.ids : one.ids.slice(0, differs));
  if (known.length === 0 || known.length >= model.contextLength('chat')) return true;
  const sessions = model.sessions('chat');
  const session = sessions.take(chatId ?? '');
  try {
    const stopTokens = [...model.text.stopIds];
    const { vision } = model.text;
    const seen = vision ? await pictures.read(one.pictures, vision.preprocessor) : [];
    const { cancelled } = await session.read(known, { stopTokens, owner: chatId ?? '', pictures: seen, signal });
    return !cancelled;
  } finally {
    sessions.giveBack(session);
  }
}

const NEXT = ['And?', '42'];
