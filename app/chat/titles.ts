import type { Generation, LoadTarget } from '../engine/asks.ts';
import type { ChatId, TurnId } from '../protocol/index.ts';
import { findChat, updateChat } from '../store/chats.ts';
import { newId } from '../store/identity.ts';
import { messagesOf } from '../store/messages.ts';
import type { Core } from './core.ts';
import { plain } from './prompt.ts';
import { branch } from './tree.ts';

const idleMs = 800;
const longestTitle = 60;
const readCharacters = 1200;

/** Writes titles of new chats by the model, only while nobody waits for it. */
export type Titles = { want(chatId: ChatId): void; close(): void };

export function createTitles(core: Core, busy: () => boolean): Titles {
  const wanted = new Set<ChatId>();
  let timer: NodeJS.Timeout | undefined;
  let writing: TurnId | null = null;

  function schedule() {
    clearTimeout(timer);
    if (wanted.size > 0) timer = setTimeout(next, idleMs);
  }

  function next() {
    if (busy() || writing) return schedule();
    const [chatId] = wanted;
    if (chatId === undefined) return;
    wanted.delete(chatId);
    write(chatId);
  }

  function write(chatId: ChatId) {
    const question = chatToName(core, chatId);
    const target = core.engine.target();
    if (question === null || target === null) return schedule();
    const turnId = newId(core.now()) as TurnId;
    writing = turnId;
    let text = '';
    core.engine.generate(titleGeneration(turnId, target, question), (updates) => {
      for (const { event } of updates) {
        if (event.type === 'delta' && event.kind === 'answer') text += event.text;
        if (event.type === 'failed' || event.type === 'finished') {
          writing = null;
          schedule();
          // A chat turn came first: again when it is over.
          if (event.type === 'finished' && event.reason === 'cancelled') wanted.add(chatId);
          else if (event.type === 'finished') keep(chatId, titleFrom(text, question));
        }
      }
    });
  }

  function keep(chatId: ChatId, title: string | null) {
    const chat = findChat(core.db, chatId);
    if (chat?.titled !== 'none' || title === null) return;
    core.emit('chat.changed', updateChat(core.db, chatId, { title, titled: 'model' }));
  }

  return {
    want(chatId) {
      if (!core.settings().titlesByModel || findChat(core.db, chatId)?.titled !== 'none') return;
      wanted.add(chatId);
      schedule();
    },
    close() {
      clearTimeout(timer);
      wanted.clear();
      if (writing) core.engine.cancel(writing);
    },
  };
}

/** The begin of the conversation, or null when there is nothing to name. */
function chatToName(core: Core, chatId: ChatId): string | null {
  const chat = findChat(core.db, chatId);
  if (chat?.titled !== 'none') return null;
  const [question, answer] = branch(messagesOf(core.db, chatId), chat.leafId);
  if (!question || !answer) return null;
  return `${question.text.slice(0, readCharacters)}\n\n${answer.text.slice(0, readCharacters)}`;
}

const INSTRUCTION = '\n\n---\nWrite a title of two to six words for this conversation. Answer with the title only.';

const titleGeneration = (turnId: TurnId, target: LoadTarget, text: string): Generation => ({
  turnId,
  priority: 'title',
  target,
  prompt: {
    messages: [plain('user', `${text}${INSTRUCTION}`)],
    thinking: false,
    begun: null,
  },
  sampling: { temperature: 0, maxTokens: 24 },
  stops: ['\n'],
  thinkingBudget: { tokens: 0, seconds: null },
  loopGuard: null,
});

/** The title in what a model wrote, or null when it is no title: empty, too long, an echo of the instruction, or with no
 *  word of the conversation (then it is about something else, and the first words of the question stay). */
export function titleFrom(written: string, conversation: string): string | null {
  const title = written
    .replace(/^[\s#*"'“”‘’«»`]*(title\s*:)?[\s*"'“”‘’«»`]*/i, '')
    .replace(/[\s*"'“”‘’«»`.]+$/, '')
    .trim();
  if (title === '' || title.length > longestTitle) return null;
  const said = new Set(words(conversation));
  const asked = new Set(words(INSTRUCTION));
  const found = words(title);
  const echoed = found.filter((word) => asked.has(word) && !said.has(word)).length;
  if (echoed * 2 > found.length) return null;
  return found.some((word) => word.length >= 2 && said.has(word)) ? title : null;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
const common = new Set([
  'the',
  'and',
  'for',
  'you',
  'your',
  'with',
  'this',
  'that',
  'in',
  'of',
  'to',
  'is',
  'it',
  'on',
  'an',
  'at',
  'as',
]);

function words(text: string): string[] {
  return [...segmenter.segment(text.toLowerCase())]
    .filter(({ isWordLike, segment }) => isWordLike && !common.has(segment))
    .map(({ segment }) => segment);
}
