import type { PromptBudget } from '../../documents/answer/rag.ts';
import { type Exchange, withHistory } from '../../documents/search/query-rewrite.ts';
import type { CountedBy, Loaded } from '../../engine/ipc-protocol.ts';
import type { Chat, CollectionId, Grounding, Message } from '../../protocol/index.ts';
import type { ChatDeps } from '../deps.ts';
import { promptOf } from '../prompt/prompt.ts';
import { toolsFor } from '../prompt/tools-for.ts';

//  Answers from documents: what is looked for, and in how much room.

/** Of the context, at most so much for passages; the rest is the chat and the answer. */
const SHARE = 0.5;
const LEAST_TOKENS = 256;
/** Left free for the answer. */
const ANSWER_TOKENS = 512;
/** Small models mix up more than a few passages. */
const SMALL_CONTEXT = 8192;
const FEW_PASSAGES = 4;
const PASSAGES = 6;

/** What is looked up, and where. */
export type Lookup = { question: string; collectionIds: readonly CollectionId[] };

/** The last question of `path`, with what the ones before it were about when it needs that. */
export const questionOf = (path: readonly Message[]): string =>
  withHistory(path.at(-1)?.text ?? '', exchanges(path.slice(0, -1)));

/** Looks something up for a prompt that has `path` already. */
export async function ground(
  core: ChatDeps,
  chat: Chat,
  lookup: Lookup,
  path: readonly Message[],
  model: CountedBy,
  { contextLength }: Loaded,
): Promise<Grounding> {
  const { engine, answering, settings } = core;
  const tools = await toolsFor(core, chat, path, model);
  const prompt = promptOf(core, { chat, settings: settings(), thinking: false, tools }, path, null);
  const used = await engine.ask('count', { model, prompt });
  const budget: PromptBudget = {
    tokens: Math.max(LEAST_TOKENS, Math.min(contextLength * SHARE, contextLength - used - ANSWER_TOKENS)),
    passages: contextLength <= SMALL_CONTEXT ? FEW_PASSAGES : PASSAGES,
    count: (text) => engine.ask('countText', { model, text }),
  };
  return answering.ground({ ...lookup, budget });
}

/** Questions with their answers. A question that was searched with words of the chat counts with those. */
function exchanges(path: readonly Message[]): Exchange[] {
  return path.flatMap((message, at) => {
    const reply = path[at + 1];
    if (message.role !== 'user' || reply?.role !== 'assistant') return [];
    return [{ question: reply.grounding?.question ?? message.text, answer: reply.text }];
  });
}
