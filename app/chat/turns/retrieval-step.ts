import type { PromptBudget } from '../../documents/answer/rag.ts';
import { type Exchange, withHistory } from '../../documents/search/query-rewrite.ts';
import type { CountedBy, Loaded } from '../../engine/ipc-protocol.ts';
import type { Chat, CollectionId, Grounding, Message } from '../../protocol/index.ts';
import type { ChatDeps } from '../deps.ts';
import { promptOf } from '../prompt/prompt.ts';
import { toolsFor } from '../prompt/tools-for.ts';

//  Retrieval for answers from documents: the query, and how much of the context passages may take.

/** Largest share of the context for passages; the rest is for the chat and the answer. */
const SHARE = 0.5;
const LEAST_TOKENS = 256;
/** Room left for the answer. */
const ANSWER_TOKENS = 512;
/** Models with a smaller context get fewer passages: small models mix them up. */
const SMALL_CONTEXT = 8192;
const FEW_PASSAGES = 4;
const PASSAGES = 6;

/** The query and the collections to search, and how near a known question has to be (known-questions.ts). */
export type Lookup = { question: string; collectionIds: readonly CollectionId[]; known?: number };

/** The last question of `path`, expanded with the topic of earlier ones if it depends on them. */
export const questionOf = (path: readonly Message[]): string =>
  withHistory(path.at(-1)?.text ?? '', exchanges(path.slice(0, -1)));

/** Finds sources for a prompt that already contains `path`. */
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

/** Questions with their answers. A question that was expanded for its search is used in its expanded form. */
function exchanges(path: readonly Message[]): Exchange[] {
  return path.flatMap((message, at) => {
    const reply = path[at + 1];
    if (message.role !== 'user' || reply?.role !== 'assistant') return [];
    return [{ question: reply.grounding?.question ?? message.text, answer: reply.text }];
  });
}
