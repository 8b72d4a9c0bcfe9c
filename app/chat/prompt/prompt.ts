import { cutCitations } from '../../documents/answer/citations.ts';
import type { Prompt, PromptMessage } from '../../engine/ipc-protocol.ts';
import type { Chat, Message, Settings, Source } from '../../protocol/index.ts';
import { type Attached, attachedTo } from '../../store/chats/attachments.ts';
import type { ChatDeps, ChatTools } from '../deps.ts';
import { inView } from '../tree.ts';
import { type AnswerSteps, answerSteps } from './answer-steps.ts';
import { groundedSystem } from './rag-prompt.ts';

/** `sources`: passages of documents to answer from. `tools`: the tools that may be called; null: the template does not support tools. */
type Setting = {
  chat: Chat;
  settings: Settings;
  thinking: boolean;
  sources?: readonly Source[] | undefined;
  tools: ChatTools | null;
};

type PromptDeps = Pick<ChatDeps, 'db' | 'pictures'> & { models: Pick<ChatDeps['models'], 'sees'> };

/** The prompt for a branch. `continuation`: the answer to be continued. */
export function promptOf(
  core: PromptDeps,
  { chat, settings, thinking, sources, tools }: Setting,
  path: readonly Message[],
  continuation: Message | null,
): Prompt {
  const { messages, summary } = inView(path);
  const detail = core.models.sees(chat.modelId) ? settings.pictureDetail : null;
  const earlier = summary === null ? '' : `Summary of the conversation before this point:\n${summary}`;
  const own = [chat.systemPrompt || settings.systemPrompt, earlier].filter((part) => part !== '').join('\n\n');
  const earlierSteps = continuation && answerSteps(core.db, continuation, tools);
  const system = sources ? groundedSystem(sources, own) : own;
  return {
    messages: [
      ...(system === '' ? [] : [plain('system', system)]),
      ...messages.flatMap((message) => promptMessages(core, message, { tools, detail, cites: sources !== undefined })),
      ...(earlierSteps?.done ?? []),
    ],
    thinking,
    continuation: earlierSteps?.last ?? null,
    ...(tools && tools.schemas.length > 0 && { tools: tools.schemas }),
  };
}

export const plain = (role: PromptMessage['role'], text: string): PromptMessage => ({
  role,
  text,
  thinking: '',
  ids: null,
});

/** `detail`: the resolution of pictures; null for a model without vision. `cites`: the next answer is from documents, too. */
type Reading = { tools: ChatTools | null; detail: Settings['pictureDetail'] | null; cites: boolean };

function promptMessages(core: PromptDeps, message: Message, { tools, detail, cites }: Reading): PromptMessage[] {
  if (message.role === 'user') {
    const attached = attachedTo(core.db, message.id);
    return [
      { ...plain('user', withAttachments(message.text, attached, detail !== null)), ...shown(core, attached, detail) },
    ];
  }
  const { done, last } = answerSteps(core.db, message, tools);
  const silent = done.length > 0 && last.text === '' && last.thinking === '';
  if (silent) return done;
  return [...done, { role: 'assistant', ...(message.grounding && !cites ? unmarked(last) : last) }];
}

/** Without its citations, which a small model would go on with where nothing is cited. */
function unmarked(said: AnswerSteps['last']): AnswerSteps['last'] {
  const text = cutCitations(said.text);
  return text === said.text ? said : { ...said, text, ids: null };
}

function shown(core: PromptDeps, attached: readonly Attached[], detail: Reading['detail']) {
  if (detail === null) return {};
  const pictures = attached.flatMap(({ picture }) => {
    if (picture === null) return [];
    const { stored, width, height } = picture;
    return [{ source: { path: core.pictures.pathOf(stored) }, width, height, detail }];
  });
  return pictures.length > 0 ? { pictures } : {};
}

/** Files come before the question, each between fences that do not occur in its text. */
export function withAttachments(text: string, files: readonly Attached[], sees: boolean): string {
  const parts = files.flatMap((file) => {
    if (file.picture !== null) return sees ? [] : [`(A picture, ${file.name}, which you cannot see.)\n`];
    const fence = fenceFor(file.text);
    return `${file.name}:\n${fence}\n${file.text.replace(/\n$/, '')}\n${fence}\n`;
  });
  return [...parts, text].join('\n');
}

function fenceFor(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  return '`'.repeat(longest + 1);
}
