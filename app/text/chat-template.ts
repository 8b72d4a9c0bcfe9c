import type { TemplateRenderer } from './jinja/template-renderer.ts';
import { Ids, protect } from './special-token-escape.ts';
import { closingIds, opensThinking, type ThinkingMarkers } from './thinking.ts';
import type { Segment, Tokenizer } from './tokenizer/tokenizer.ts';

/** A message in the format of chat templates (as in transformers and OpenAI's API). */
export type ChatMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  /** The generated tokens of `content` and `reasoning_content`: reused verbatim if they still decode to the same text. */
  readonly ids?: { readonly content?: readonly number[]; readonly reasoning?: readonly number[] };
};
export type ToolCall = {
  readonly id?: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: unknown };
};
export type Tool = {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly [key: string]: unknown };
};

export type Conversation = {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly Tool[];
  /** null follows the template's default. */
  readonly thinking?: boolean | null;
  /** Continue the last message, which is the assistant's, instead of starting a new one. */
  readonly continues?: boolean;
  /** Further variables of a template (`preserve_thinking`, ...). */
  readonly variables?: Readonly<Record<string, unknown>>;
};

/** Everything needed to turn a conversation into tokens. */
export type ChatText = {
  readonly tokenizer: Tokenizer;
  readonly template: string;
  readonly thinking: ThinkingMarkers | null;
  readonly bosToken: string | null;
  readonly eosToken: string | null;
  /** Decodes ids, to check whether stored ids still match the text of a message. */
  decode(ids: readonly number[]): string;
};

export type Prompt = {
  readonly ids: number[];
  readonly segments: readonly Segment[];
  /** Generation starts inside thinking. */
  readonly inThinking: boolean;
};

/** @throws LonghandError `template-failed` */
export async function promptOf(
  text: ChatText,
  renderer: TemplateRenderer,
  conversation: Conversation,
): Promise<Prompt> {
  const messages = conversation.messages.map((message) => messageFor(text, message));
  const input = protect({ messages, tools: conversation.tools ?? null }, text.template, text.tokenizer);
  const rendered = await renderer.render(text.template, {
    ...(input.value as object),
    ...conversation.variables,
    add_generation_prompt: !conversation.continues,
    ...(typeof conversation.thinking === 'boolean' && { enable_thinking: conversation.thinking }),
    bos_token: text.bosToken ?? '',
    eos_token: text.eosToken ?? '',
  });
  const segments = conversation.continues ? reopened(input.restore(rendered), text) : input.restore(rendered);
  const begun = text.thinking !== null && opensThinking(writtenBy(segments, text.tokenizer), text.thinking);
  const closed = begun && conversation.thinking === false && text.thinking !== null;
  const all = closed ? [...segments, { ids: closingIds(text.tokenizer, text.thinking) }] : segments;
  return { ids: text.tokenizer.encode(all), segments: all, inThinking: begun && !closed };
}

/** A message for the template: stored ids are replaced by placeholders, leading thinking becomes a separate field. */
function messageFor(text: ChatText, message: ChatMessage): object {
  const { ids, ...rest } = message;
  if (message.role !== 'assistant') return rest;
  const split = separated(message, text.thinking);
  const content = sameText(text, ids?.content, split.content) ?? split.content;
  const reasoning = sameText(text, ids?.reasoning, split.reasoning_content) ?? split.reasoning_content;
  return { ...rest, content, ...(reasoning !== undefined && { reasoning_content: reasoning }) };
}

function separated(
  message: ChatMessage,
  markers: ThinkingMarkers | null,
): Pick<ChatMessage, 'content' | 'reasoning_content'> {
  const { content, reasoning_content } = message;
  if (reasoning_content !== undefined) return { content, reasoning_content };
  if (!markers || typeof content !== 'string') return { content };
  const body = content.trimStart();
  const end = body.indexOf(markers.close);
  if (!body.startsWith(markers.open) || end < 0) return { content };
  return {
    content: body.slice(end + markers.close.length).trimStart(),
    reasoning_content: body.slice(markers.open.length, end).trim(),
  };
}

function sameText(
  text: ChatText,
  ids: readonly number[] | undefined,
  written: ChatMessage['content'] | undefined,
): Ids | null {
  if (!ids?.length || typeof written !== 'string' || written.trim() === '') return null;
  return text.decode(ids).trim() === written.trim() ? new Ids(ids) : null;
}

/** Removes the end-of-turn that the template adds after the last message. */
function reopened(segments: readonly Segment[], { tokenizer }: ChatText): Segment[] {
  const last = segments.findLastIndex((segment) => 'ids' in segment && isEnd(segment.ids, tokenizer));
  const after = segments.slice(last + 1);
  const blank = after.every((segment) => 'text' in segment && segment.text.trim() === '');
  return last >= 0 && blank ? segments.slice(0, last) : [...segments];
}

const isEnd = (ids: readonly number[], tokenizer: Tokenizer): boolean =>
  ids.length === 1 && tokenizer.markerOf(ids[0] ?? -1)?.special === true;

/** The end of the prompt as text, with only the markers that come from the template. */
function writtenBy(segments: readonly Segment[], tokenizer: Tokenizer): string {
  return segments
    .slice(-8)
    .map((segment) =>
      'text' in segment
        ? tokenizer
            .cut(segment.text)
            .filter((_, i) => i % 2 === 0)
            .join('')
        : segment.ids.map((id) => tokenizer.markerOf(id)?.text ?? ' ').join(''),
    )
    .join('');
}
