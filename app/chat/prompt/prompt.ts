import type { Prompt, PromptMessage } from '../../engine/ipc-protocol.ts';
import type { Chat, Message, Settings, Source } from '../../protocol/index.ts';
import { type AttachedText, textsOf } from '../../store/attachments.ts';
import type { Database } from '../../store/database.ts';
import type { ChatTools } from '../deps.ts';
import { inView } from '../tree.ts';
import { answerSteps } from './answer-steps.ts';
import { groundedSystem } from './rag-prompt.ts';

/** `sources`: passages of documents to answer from. `tools`: what may be called; null: the template knows no tools. */
type Setting = {
  chat: Chat;
  settings: Settings;
  thinking: boolean;
  sources?: readonly Source[] | undefined;
  tools: ChatTools | null;
};

/** What the model is sent for a branch. `begun`: the answer that is gone on with. */
export function promptOf(
  db: Database,
  { chat, settings, thinking, sources, tools }: Setting,
  path: readonly Message[],
  begun: Message | null,
): Prompt {
  const { messages, summary } = inView(path);
  const earlier = summary === null ? '' : `Summary of the conversation before this point:\n${summary}`;
  const own = [chat.systemPrompt || settings.systemPrompt, earlier].filter((part) => part !== '').join('\n\n');
  const begunSteps = begun && answerSteps(db, begun, tools !== null);
  const system = sources ? groundedSystem(sources, own) : own;
  return {
    messages: [
      ...(system === '' ? [] : [plain('system', system)]),
      ...messages.flatMap((message) => promptMessages(db, message, tools !== null)),
      ...(begunSteps?.done ?? []),
    ],
    thinking,
    continuation: begunSteps?.last ?? null,
    ...(tools && tools.schemas.length > 0 && { tools: tools.schemas }),
  };
}

export const plain = (role: PromptMessage['role'], text: string): PromptMessage => ({
  role,
  text,
  thinking: '',
  ids: null,
});

function promptMessages(db: Database, message: Message, toolsKnown: boolean): PromptMessage[] {
  if (message.role === 'user') return [plain('user', withAttachments(message.text, textsOf(db, message.id)))];
  const { done, last } = answerSteps(db, message, toolsKnown);
  const silent = done.length > 0 && last.text === '' && last.thinking === '';
  return silent ? done : [...done, { role: 'assistant', ...last }];
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
