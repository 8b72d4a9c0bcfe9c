import type { Prompt, PromptMessage } from '../../engine/ipc-protocol.ts';
import type { Chat, Message, Settings, Source } from '../../protocol/index.ts';
import { type AttachedText, textsOf } from '../../store/attachments.ts';
import type { Database } from '../../store/database.ts';
import { idsOf } from '../../store/messages.ts';
import { inView } from '../tree.ts';
import { groundedSystem } from './rag-prompt.ts';

/** `sources`: passages of documents to answer from. */
type Setting = { chat: Chat; settings: Settings; thinking: boolean; sources?: readonly Source[] | undefined };

/** What the model is sent for a branch. `begun`: the answer that is gone on with. */
export function promptOf(
  db: Database,
  { chat, settings, thinking, sources }: Setting,
  path: readonly Message[],
  begun: Message | null,
): Prompt {
  const { messages, summary } = inView(path);
  const earlier = summary === null ? '' : `Summary of the conversation before this point:\n${summary}`;
  const own = [chat.systemPrompt || settings.systemPrompt, earlier].filter((part) => part !== '').join('\n\n');
  const system = sources ? groundedSystem(sources, own) : own;
  return {
    messages: [
      ...(system === '' ? [] : [plain('system', system)]),
      ...messages.map((message) => promptMessage(db, message)),
    ],
    thinking,
    continuation: begun && { text: begun.text, thinking: begun.thinking, ids: idsOf(db, begun.id) },
  };
}

export const plain = (role: PromptMessage['role'], text: string): PromptMessage => ({
  role,
  text,
  thinking: '',
  ids: null,
});

function promptMessage(db: Database, message: Message): PromptMessage {
  if (message.role === 'user') return plain('user', withAttachments(message.text, textsOf(db, message.id)));
  return { role: 'assistant', text: message.text, thinking: message.thinking, ids: idsOf(db, message.id) };
}

/** Files come before the question, each between fences that its own text does not hold. */
export function withAttachments(text: string, files: readonly AttachedText[]): string {
  const parts = files.map((file) => {
    const fence = fenceFor(file.text);
    return `${file.name}:\n${fence}\n${file.text.replace(/\n$/, '')}\n${fence}\n`;
  });
  return [...parts, text].join('\n');
}

function fenceFor(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  return '`'.repeat(longest + 1);
}
