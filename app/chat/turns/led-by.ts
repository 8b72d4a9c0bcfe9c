import type { Exemplar } from '../../engine/ipc-protocol.ts';
import { ASSISTANT, type Chat, type Message, type ModelId } from '../../protocol/index.ts';
import { attachedTo } from '../../store/chats/attachments.ts';
import { messagesOf } from '../../store/chats/messages.ts';
import type { ChatDeps, ChatTools } from '../deps.ts';

//  Which written answer leads the model, if any.

/** Only the built-in assistant is led, and only where it answers by itself: not from documents or by tools, and not in a part that
 *  somebody gave it. When it tries again, it is led by another answer. */
export async function ledBy(
  core: ChatDeps,
  modelId: ModelId,
  { chat, path, tools }: { chat: Chat; path: readonly Message[]; tools: ChatTools | null },
): Promise<Exemplar[]> {
  const message = path.at(-1);
  if (modelId !== ASSISTANT || message?.role !== 'user' || (tools?.schemas.length ?? 0) > 0) return [];
  if ((chat.systemPrompt || core.settings().systemPrompt) !== '' || attachedTo(core.db, message.id).length > 0)
    return [];
  const answers = messagesOf(core.db, chat.id).filter(({ parentId }) => parentId === message.id);
  const given = answers.map(({ text }) => text);
  const exemplar = await core.writtenAnswers.like(message.text, { later: path.length > 1, given });
  return exemplar ? [exemplar] : [];
}
