import { setImmediate } from 'node:timers/promises';
import { tokensFor, withDetail } from '../../../pictures/preprocessor.ts';
import { LonghandError } from '../../../protocol/index.ts';
import { type ChatMessage, promptOf as renderPrompt } from '../../../text/chat-template.ts';
import { fillInIds } from '../../../text/fill-in.ts';
import type { TemplateRenderer } from '../../../text/jinja/template-renderer.ts';
import type { ModelText } from '../../../text/model-text.ts';
import type { Tokenizer } from '../../../text/tokenizer/tokenizer.ts';
import type { Prompt, PromptMessage, PromptPicture, RawPrompt } from '../../ipc-protocol.ts';
import type { EngineText, ModelVision } from '../model/model-vision.ts';

export type PromptIds = {
  ids: number[];
  /** Generation starts inside thinking. */
  inThinking: boolean;
  /** Tokens of the continued answer, at the end of `ids`. */
  continuation: readonly number[];
  /** The pictures behind the placeholder tokens. */
  pictures: readonly PromptPicture[];
};

/** `thinking`: null follows the template's default. */
type AskedPrompt = Omit<Prompt, 'thinking'> & { thinking: boolean | null };

/** Without `vision`, treated as a model without vision. */
type PromptText = ModelText & Partial<Pick<EngineText, 'vision'>>;

/** @throws LonghandError `template-failed`; `model-unsupported` for pictures with a model without vision */
export async function promptIds(text: PromptText, renderer: TemplateRenderer, prompt: AskedPrompt): Promise<PromptIds> {
  const written = await writtenIds(text, renderer, prompt);
  const pictures = prompt.messages.flatMap((message) => message.pictures ?? []);
  return { ...written, ids: withPictures(written.ids, pictures, text.vision ?? null), pictures };
}

/** The template emits one token per picture; it is expanded to as many as the tower yields rows. */
function withPictures(ids: number[], pictures: readonly PromptPicture[], vision: ModelVision | null): number[] {
  if (pictures.length === 0) return ids;
  if (!vision) throw new LonghandError('model-unsupported', '[pictures] this model does not see pictures');
  const places = ids.filter((id) => id === vision.token).length;
  if (places !== pictures.length) {
    throw new LonghandError(
      'template-failed',
      `[template] it has room for ${places} pictures, the conversation shows ${pictures.length}`,
    );
  }
  const counts = pictures.map((picture) => tokensFor(withDetail(vision.preprocessor, picture.detail), picture));
  let next = 0;
  return ids.flatMap((id) => (id === vision.token ? Array<number>(counts[next++] ?? 1).fill(id) : [id]));
}

type Written = Omit<PromptIds, 'pictures'>;

async function writtenIds(text: ModelText, renderer: TemplateRenderer, prompt: AskedPrompt): Promise<Written> {
  const { continuation, raw } = prompt;
  if (raw) return { ids: rawIds(text, raw), inThinking: false, continuation: [] };
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

/** Names of control tokens are parsed as tokens, for clients with their own template; but with a suffix both are plain text.
 *  @throws LonghandError `bad-request`, `model-unsupported` */
function rawIds({ tokenizer, before }: ModelText, { text, suffix }: RawPrompt): number[] {
  const written = suffix === null ? tokenizer.encode(tokenizer.split(text)) : fillInIds(tokenizer, text, suffix);
  const begun = before.every((id, index) => written[index] === id);
  const ids = begun ? written : [...before, ...written];
  if (ids.length > 0) return ids;
  throw new LonghandError('bad-request', '[prompt] is empty, and this model has no token that starts a text');
}

/** Prompts with more characters are counted by parts before they are rendered: rendered and tokenized whole, ten million
 *  characters take more than a gigabyte. */
const LONG = 1_000_000;
/** More characters per token than nearly any text has: such a prompt hardly fits, which counting by parts finds sooner. */
const CHARACTERS_A_TOKEN = 8;

/** Tokens of the prompt. For a very long one an estimate: its parts without what the template adds. */
export const countPrompt = async (text: PromptText, renderer: TemplateRenderer, prompt: Prompt): Promise<number> =>
  isLong(prompt, LONG)
    ? countParts(text, prompt, Number.POSITIVE_INFINITY)
    : (await promptIds(text, renderer, prompt)).ids.length;

/** The tokens of a prompt, leaving room for an answer. A very long one is refused before it is rendered.
 *  @throws LonghandError `context-full`, and as `promptIds` */
export async function promptWithin(
  text: PromptText,
  renderer: TemplateRenderer,
  prompt: Prompt,
  limit: number,
): Promise<PromptIds> {
  if (isLong(prompt, Math.min(LONG, limit * CHARACTERS_A_TOKEN)))
    demandRoom(await countParts(text, prompt, limit), limit);
  const written = await promptIds(text, renderer, prompt);
  demandRoom(written.ids.length, limit);
  return written;
}

function demandRoom(used: number, limit: number): void {
  if (used < limit) return;
  throw new LonghandError('context-full', `[context] needs ${used} tokens, has room for ${limit}`, {
    details: { used, limit },
  });
}

/** Everything supplied by the client: messages, and the tools that the template puts before them. */
const partsOfPrompt = ({ messages, raw, tools }: Prompt) => [
  ...(raw ? [raw.text, raw.suffix ?? ''] : []),
  ...(tools ?? []).map((tool) => JSON.stringify(tool)),
  ...messages.flatMap(({ text, thinking, ids, calls }) =>
    ids ? [] : [text, thinking, ...(calls ?? []).map((call) => JSON.stringify(call))],
  ),
];

const isLong = (prompt: Prompt, characters: number): boolean =>
  partsOfPrompt(prompt).reduce((sum, part) => sum + part.length, 0) >= characters;

/** Stops once there are more than `most`. */
async function countParts(text: PromptText, prompt: Prompt, most: number): Promise<number> {
  let tokens = prompt.messages.reduce((sum, { ids }) => sum + (ids?.length ?? 0), 0);
  for (const part of partsOfPrompt(prompt)) {
    if (tokens > most) break;
    tokens += await countText(text.tokenizer, part, most - tokens);
  }
  return tokens;
}

/** @throws LonghandError `model-unsupported` without vision, `unreadable` for extreme aspect ratios */
export function countPicture({ vision }: EngineText, { detail, ...size }: Omit<PromptPicture, 'source'>): number {
  if (vision) return tokensFor(withDetail(vision.preprocessor, detail), size);
  throw new LonghandError('model-unsupported', '[pictures] this model does not see pictures');
}

const countedAtOnce = 4096;

/** Tokens of a text, a few thousand characters at a time, so that a long one does not stall running answers. Cut at
 *  line ends, which tokens rarely span. Stops once there are more than `most`. */
export async function countText(tokenizer: Tokenizer, text: string, most = Number.POSITIVE_INFINITY): Promise<number> {
  let count = 0;
  for (let start = 0; start < text.length && count <= most; ) {
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
  { thinking, tools }: Pick<AskedPrompt, 'thinking' | 'tools'>,
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
  if (message.role !== 'assistant') {
    const { role, pictures = [] } = message;
    if (pictures.length === 0) return { role, content: message.text };
    return { role, content: [...pictures.map(() => ({ type: 'image' })), { type: 'text', text: message.text }] };
  }
  return {
    role: 'assistant',
    content: message.text,
    ...(message.thinking !== '' && { reasoning_content: message.thinking }),
    ...(message.calls && message.calls.length > 0 && { tool_calls: message.calls }),
    ...(message.ids && { ids: partsOf(text, message) }),
  };
}

/** Splits the tokens of an answer at the end of its thinking. */
function partsOf(text: ModelText, { ids, thinking }: PromptMessage): NonNullable<ChatMessage['ids']> {
  if (!ids) return {};
  if (thinking === '' || !text.thinking) return { content: ids };
  const open = text.tokenizer.idOf(text.thinking.open);
  const close = text.tokenizer.idOf(text.thinking.close);
  const end = close === undefined ? -1 : ids.indexOf(close);
  if (end < 0) return {};
  return { reasoning: ids.slice(ids[0] === open ? 1 : 0, end), content: ids.slice(end + 1) };
}
