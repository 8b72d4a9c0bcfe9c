import type { Generation } from '../../engine/ipc-protocol.ts';
import {
  LonghandError,
  type Message,
  type MessageId,
  type Request,
  type Response,
  type TurnId,
} from '../../protocol/index.ts';
import { getChat } from '../../store/chats/chats.ts';
import { getMessage, updateMessage } from '../../store/chats/messages.ts';
import { newId } from '../../store/database/uuid.ts';
import type { ChatDeps } from '../deps.ts';
import { plain, promptOf } from '../prompt/prompt.ts';
import { toolsFor } from '../prompt/tools-for.ts';
import { inView } from '../tree.ts';
import { countingOf, countPath, measureContext, pathOf } from './context-usage.ts';

//  Makes room in a full context by excluding the oldest turns, with or without a summary in their place. Nothing is
//  deleted, and everything can be included again.

type Plan = Response<'context.overflowOptions'>;

/** Longest summary: a small part of the context if its length is known. */
const summaryTokens = (limit: number): number => (limit === 0 ? 400 : Math.min(400, Math.floor(limit / 8)));
/** Minimum room left for the answer. */
const ANSWER_TOKENS = 512;

/** How many of the oldest turns have to go: estimated from text lengths, then counted. */
export async function overflowOptions(core: ChatDeps, asked: Request<'context.overflowOptions'>): Promise<Plan> {
  const { used, draft, limit } = await measureContext(core, asked);
  const { target: model } = countingOf(core, asked.chatId);
  const path = pathOf(core, asked);
  const { messages } = inView(path);
  // Without a draft, the last question is the one being answered.
  const last = draft === 0 ? messages.length - 1 : messages.length;
  const ends = messages.slice(0, last).filter(({ role, state }) => role === 'assistant' && state.status !== 'running');
  const free = limit - draft - Math.min(ANSWER_TOKENS, limit / 4);
  const offer = async (room: number) => {
    const whole = sizeOf(messages);
    for (const [index, end] of ends.entries()) {
      const rest = messages.slice(messages.indexOf(end) + 1);
      if (used * (sizeOf(rest) / whole) > room * 1.1) continue;
      const left = await countPath(core, asked.chatId, rest, model);
      if (left <= room) return { upTo: end.id, turns: index + 1, frees: Math.max(0, used - left), seconds: null };
    }
    return null;
  };
  const aside = await offer(free);
  const length = summaryTokens(limit);
  const summed = used + length <= limit ? await offer(free - length) : null;
  const summary = summed && {
    ...summed,
    frees: Math.max(0, summed.frees - length),
    seconds: secondsToWrite(messages, summed.frees, length),
  };
  return { trim: aside, summary: summary && summary.frees > 0 ? summary : null };
}

/** Rough equivalent of one picture in characters. */
const CHARACTERS_OF_PICTURE = 4096;

const sizeOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, { text, attachments }) => {
    const attached = attachments.reduce((size, one) => size + (one.picture ? CHARACTERS_OF_PICTURE : one.bytes), 0);
    return sum + text.length + attached + 16;
  }, 1);

/** Time to read what is summarised and to write the summary, at the speed of the last answer. */
function secondsToWrite(messages: readonly Message[], toRead: number, toWrite: number): number | null {
  const last = messages.findLast(({ timings }) => timings?.tokensPerSecond);
  if (!last?.timings?.tokensPerSecond || !last.usage) return null;
  const fresh = last.usage.promptTokens - last.usage.cachedTokens;
  const reading = fresh > 0 && last.timings.prefillMs > 0 ? (toRead * last.timings.prefillMs) / fresh / 1000 : 0;
  return reading + toWrite / last.timings.tokensPerSecond;
}

export function excludeFromContext(core: ChatDeps, messageId: MessageId, summary: string | null): Message {
  const { role } = getMessage(core.db, messageId);
  if (role !== 'assistant') throw new LonghandError('bad-request', '[context.exclude] a turn ends with its answer');
  return updateMessage(core.db, messageId, { contextCutoff: { since: core.now(), summary, restored: false } });
}

export function includeInContext(core: ChatDeps, messageId: MessageId): Message {
  const { contextCutoff } = getMessage(core.db, messageId);
  if (!contextCutoff) throw new LonghandError('conflict', '[context.include] nothing was excluded there');
  return updateMessage(core.db, messageId, { contextCutoff: { ...contextCutoff, since: core.now(), restored: true } });
}

export type Summaries = {
  /** @throws LonghandError `cancelled` if stopped, and any error of the engine */
  write(messageId: MessageId): Promise<{ text: string }>;
  stop(messageId: MessageId): void;
};

const questionFor = (tokens: number): string =>
  `Summarise our conversation so far in at most ${Math.floor(tokens / 2)} words, so that it can go on from the summary alone: ` +
  'what was asked, what was found and decided, and every name, number and wish that still matters. Answer with the summary only.';

export function createSummaries(core: ChatDeps): Summaries {
  const running = new Map<MessageId, { turnId: TurnId; stopped: boolean }>();

  return {
    async write(messageId) {
      if (running.has(messageId))
        throw new LonghandError('conflict', '[context.summarise] a summary is already being written');
      const turnId = newId(core.now()) as TurnId;
      const one = { turnId, stopped: false };
      running.set(messageId, one);
      const generation = await question(core, messageId, turnId).catch((error) => {
        running.delete(messageId);
        throw error;
      });
      if (one.stopped) {
        running.delete(messageId);
        throw new LonghandError('cancelled', '[context.summarise] stopped');
      }
      let text = '';
      return new Promise((resolve, reject) => {
        core.engine.generate(generation, (updates) => {
          for (const { event } of updates) {
            if (event.type === 'delta' && event.kind === 'answer') {
              text += event.text;
              core.emit('context.summary', { messageId, text });
            }
            if (event.type !== 'finished' && event.type !== 'failed') continue;
            running.delete(messageId);
            if (event.type === 'failed') reject(new LonghandError(event.failure.code, event.failure.message));
            else if (event.reason === 'cancelled')
              reject(new LonghandError('cancelled', '[context.summarise] stopped'));
            else if (text.trim() === '')
              reject(new LonghandError('engine-failed', '[context.summarise] the model wrote an empty summary'));
            else resolve({ text: text.trim() });
          }
        });
      });
    },
    stop(messageId) {
      const one = running.get(messageId);
      if (!one) return;
      one.stopped = true;
      core.engine.cancel(one.turnId);
    },
  };
}

async function question(core: ChatDeps, messageId: MessageId, turnId: TurnId): Promise<Generation> {
  const { chatId } = getMessage(core.db, messageId);
  const chat = getChat(core.db, chatId);
  const path = pathOf(core, { chatId, parentId: messageId });
  const { target, limit } = countingOf(core, chatId);
  const tools = await toolsFor(core, chat, path, target);
  const prompt = promptOf(core, { chat, settings: core.settings(), thinking: false, tools }, path, null);
  const maxTokens = summaryTokens(limit);
  return {
    turnId,
    chatId,
    priority: 'chat',
    target,
    prompt: { ...prompt, messages: [...prompt.messages, plain('user', questionFor(maxTokens))] },
    sampling: { temperature: 0, maxTokens },
    stops: [],
    thinkingBudget: { tokens: 0, seconds: null },
    loopGuard: null,
  };
}
