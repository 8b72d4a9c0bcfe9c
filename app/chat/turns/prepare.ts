import type { Generation, LoadTarget } from '../../engine/ipc-protocol.ts';
import { type Chat, type Grounding, LonghandError, type Message, type TurnId } from '../../protocol/index.ts';
import { messagesOf } from '../../store/chats/messages.ts';
import type { ChatDeps } from '../deps.ts';
import { needPassages } from '../prompt/passages-stay.ts';
import { promptOf } from '../prompt/prompt.ts';
import { NOT_FOUND } from '../prompt/rag-prompt.ts';
import { toolsFor } from '../prompt/tools-for.ts';
import { branch } from '../tree.ts';
import { manualFor } from './about-longhand.ts';
import { ledBy } from './led-by.ts';
import { quotedAnswer } from './quoted-answer.ts';
import { ground, questionOf } from './retrieval-step.ts';
import { softBudgetOf } from './soft-budget.ts';
import type { Prepared } from './turn.ts';

//  Builds the prompt of a turn and finds the sources of its answer.

const SEARCH = 'search_documents';

/** The sources of an answer; undefined: search the chat's documents; null: no sources. */
export type Given = Grounding | null | undefined;

/** The closest passage, treated as if it had been a confident match.
 *  @throws LonghandError `conflict` */
export function closest({ grounding }: Message): Grounding {
  const { quote, sources = [] } = grounding ?? {};
  const source = sources.find(({ number }) => number === quote?.source) ?? sources[0];
  if (!grounding || !source)
    throw new LonghandError('conflict', '[turns.regenerate] no passage came close to this question');
  return {
    ...grounding,
    found: true,
    sources: [{ ...source, number: 1, cited: false }],
    support: [],
    quote: quote ? { ...quote, source: 1 } : null,
  };
}

/** Builds the prompt from what is on disk. A chat with collections is answered from their documents; a continued answer
 *  keeps its sources. */
export async function prepare(
  core: ChatDeps,
  turnId: TurnId,
  chat: Chat,
  answer: Message,
  continuation: boolean,
  given: Given,
): Promise<Prepared> {
  const { target, name, sampling } = core.models.target(chat.modelId);
  const settings = core.settings();
  const thinking = chat.thinking ?? settings.thinkingByDefault ?? core.models.thinksByDefault(target.modelId);
  const path = branch(messagesOf(core.db, chat.id), answer.parentId);
  // The text so far already relies on its sources, or on none.
  const written = continuation && (answer.text !== '' || answer.thinking !== '' || answer.toolUses.length > 0);
  const known = given !== undefined ? given : written ? answer.grounding : undefined;
  const tools = await toolsFor(core, chat, [...path, answer], target);
  needPassages(core.db, chat, target.remote, known);
  // With a search tool, the model decides whether to search, and for what.
  const searches = tools?.schemas.some((tool) => tool.function.name === SEARCH) ?? false;
  const grounding = known === undefined && !searches ? await search(core, chat, path, target) : (known ?? null);
  if (grounding && !grounding.found) return { generation: null, said: NOT_FOUND, grounding };
  // Answering from one chosen passage was asked for explicitly: let the model write it.
  const quoted = grounding && !written && given === undefined ? quotedAnswer(core, target.modelId, grounding) : null;
  if (grounding && quoted !== null) return { generation: null, said: quoted, grounding };
  const sources = grounding?.sources;
  const exemplars = grounding ? [] : await ledBy(core, target.modelId, { chat, path, tools });
  const generation: Generation = {
    turnId,
    chatId: chat.id,
    priority: 'chat',
    target,
    prompt: promptOf(core, { chat, settings, thinking, sources, tools }, path, continuation ? answer : null),
    sampling: { ...settings.sampling, ...sampling, ...chat.sampling },
    stops: [],
    exemplars,
    thinkingBudget: settings.thinkingBudget,
    softBudget: thinking === false ? null : softBudgetOf(core, settings, target.modelId, grounding !== null),
    loopGuard: chat.loopGuard && settings.loopGuard.sensitivity !== 'off' ? settings.loopGuard : null,
  };
  return { generation, modelName: name, grounding, tools };
}

/** Sources from the chat's documents; without documents, from the manual. Null: nothing to search, or
 *  the manual has nothing on it. */
async function search(core: ChatDeps, chat: Chat, path: readonly Message[], target: LoadTarget) {
  const inManual = chat.collectionIds.length === 0 ? manualFor(core.db, target.modelId, path.at(-1)?.text ?? '') : null;
  if (!inManual && chat.collectionIds.length === 0) return null;
  const lookup = inManual ?? { collectionIds: chat.collectionIds, question: questionOf(path) };
  const grounding = await ground(core, chat, lookup, path, target, await core.engine.load(target));
  return inManual && !grounding.found ? null : grounding;
}
