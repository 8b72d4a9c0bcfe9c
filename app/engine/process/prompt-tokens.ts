import { setImmediate } from 'node:timers/promises';
import { LonghandError } from '../../protocol/index.ts';
import { type ChatMessage, promptOf as renderPrompt } from '../../text/chat-template.ts';
import type { TemplateRenderer } from '../../text/jinja/template-renderer.ts';
import type { ModelText } from '../../text/model-text.ts';
import type { Tokenizer } from '../../text/tokenizer/tokenizer.ts';
import type { Prompt, PromptMessage } from '../ipc-protocol.ts';

export type PromptIds = {
  ids: number[];
  /** The first token comes inside the thinking. */
  inThinking: boolean;
  /** Tokens of the answer that is gone on with, at the end of `ids`. */
  continuation: readonly number[];
};

/** @throws LonghandError `template-failed` */
export async function promptIds(text: ModelText, renderer: TemplateRenderer, prompt: Prompt): Promise<PromptIds> {
  const { continuation } = prompt;
  const messages = prompt.messages.map((message) => chatMessage(text, message));
  if (!continuation || (continuation.ids === null && continuation.text === '' && continuation.thinking === '')) {
    return { ...(await render(text, renderer, messages, prompt, false)), continuation: [] };
  }
  if (continuation.ids !== null) {
    const open = await render(text, renderer, messages, prompt, false);
    return { ids: [...open.ids, ...continuation.ids], inThinking: open.inThinking, continuation: continuation.ids };
  }
  const last = chatMessage(text, { role: 'assistant', ...continuation });
  return { ...(await render(text, renderer, [...messages, last], prompt, true)), continuation: [] };
}

export const countPrompt = async (text: ModelText, renderer: TemplateRenderer, prompt: Prompt): Promise<number> =>
  (await promptIds(text, renderer, prompt)).ids.length;

const countedAtOnce = 4096;

/** Tokens of a text, a few thousand characters at a time, so that a long one does not stop what is being written. Cut at
 *  line ends, where tokens hardly ever go on. */
export async function countText(tokenizer: Tokenizer, text: string): Promise<number> {
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const line = text.indexOf('\n', start + countedAtOnce);
    const end = line < 0 || line > start + 4 * countedAtOnce ? start + 4 * countedAtOnce : line + 1;
    count += tokenizer.encodeText(text.slice(start, end)).length;
    start = end;
    if (start < text.length) await setImmediate();
  }
  return count;
}

async function render(
  text: ModelText,
  renderer: TemplateRenderer,
  messages: ChatMessage[],
  { thinking, tools }: Pick<Prompt, 'thinking' | 'tools'>,
  continues: boolean,
) {
  const { template } = text;
  if (template === null) {
    throw new LonghandError('template-failed', '[template] this model has none, so it cannot hold a conversation');
  }
  const { ids, inThinking } = await renderPrompt({ ...text, template }, renderer, {
    messages,
    thinking,
    continues,
    ...(tools && tools.length > 0 && { tools }),
  });
  return { ids, inThinking };
}

function chatMessage(text: ModelText, message: PromptMessage): ChatMessage {
  if (message.role === 'tool') {
    const { callId, name } = message.answers ?? {};
    return {
      role: 'tool',
      content: message.text,
      ...(callId !== undefined && { tool_call_id: callId }),
      ...(name !== undefined && { name }),
    };
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.text };
  return {
    role: 'assistant',
    content: message.text,
    ...(message.thinking !== '' && { reasoning_content: message.thinking }),
    ...(message.calls && message.calls.length > 0 && { tool_calls: message.calls }),
    ...(message.ids && { ids: partsOf(text, message) }),
  };
}

/** Parts the tokens of an answer where its thinking ends. */
function partsOf(text: ModelText, { ids, thinking }: PromptMessage): NonNullable<ChatMessage['ids']> {
  if (!ids) return {};
  if (thinking === '' || !text.thinking) return { content: ids };
  const open = text.tokenizer.idOf(text.thinking.open);
  const close = text.tokenizer.idOf(text.thinking.close);
  const end = close === undefined ? -1 : ids.indexOf(close);
  if (end < 0) return {};
  return { reasoning: ids.slice(ids[0] === open ? 1 : 0, end), content: ids.slice(end + 1) };
}
