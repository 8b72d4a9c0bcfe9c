import type { Generation, LoadTarget } from '../engine/ipc-protocol.ts';
import { type ChatId, guarded, type TurnId } from '../protocol/index.ts';
import { distinctTitle, findChat, updateChat } from '../store/chats/chats.ts';
import { messagesOf } from '../store/chats/messages.ts';
import { newId } from '../store/database/uuid.ts';
import type { ChatDeps } from './deps.ts';
import { plain } from './prompt/prompt.ts';
import { branch } from './tree.ts';

const idleMs = 800;
const longestTitle = 60;
const maxWords = 8;
const readCharacters = 1200;
/** Of 25 conversations, a 135M model gave three a fitting title and others a false one. Until a smaller model is shown to
 *  do better, chats of models below this size are named by the first words of the question. */
const leastParameters = 1e9;

/** Has the model write titles of new chats, only while it is idle. */
export type Titles = { want(chatId: ChatId): void; close(): void };

export function createTitles(core: ChatDeps, busy: () => boolean): Titles {
  const { report } = core.saving;
  const wanted = new Set<ChatId>();
  let timer: NodeJS.Timeout | undefined;
  let writing: TurnId | null = null;

  function schedule() {
    clearTimeout(timer);
    if (wanted.size > 0) timer = setTimeout(guarded(report, next), idleMs);
  }

  function next() {
    if (busy() || writing) return schedule();
    const [chatId] = wanted;
    if (chatId === undefined) return;
    wanted.delete(chatId);
    try {
      write(chatId);
    } finally {
      if (writing === null) schedule();
    }
  }

  function write(chatId: ChatId) {
    const question = chatToName(core, chatId);
    const target = titleTarget(core, chatId);
    if (question === null || target === null) return;
    const turnId = newId(core.now()) as TurnId;
    writing = turnId;
    let text = '';
    core.engine.generate(titleGeneration(turnId, target, question), (updates) => {
      for (const { event } of updates) {
        if (event.type === 'delta' && event.kind === 'answer') text += event.text;
        if (event.type !== 'failed' && event.type !== 'finished') continue;
        writing = null;
        const reason = event.type === 'finished' ? event.reason : 'error';
        // Preempted by a chat turn: retry when it is over.
        if (reason === 'cancelled') wanted.add(chatId);
        schedule();
        // A title that was cut off would end in the middle of a word.
        if (reason === 'stop') keep(chatId, titleFrom(text, question));
      }
    });
  }

  /** A title that another chat already has says less than the first words of the question. */
  function keep(chatId: ChatId, title: string | null) {
    const chat = findChat(core.db, chatId);
    if (chat?.titleSource !== 'none' || title === null) return;
    if (distinctTitle(core.db, title, chatId) !== title) return;
    core.emit('chat.changed', updateChat(core.db, chatId, { title, titleSource: 'model' }));
  }

  return {
    want(chatId) {
      if (!core.settings().autoTitle || findChat(core.db, chatId)?.titleSource !== 'none') return;
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

/** The model in memory if it is large enough. A chat on a remote engine is named there: the text its title is made from was
 *  sent there already, and no other chat's text is sent. */
function titleTarget(core: ChatDeps, chatId: ChatId): LoadTarget | null {
  const own = core.models.remote(findChat(core.db, chatId)?.modelId ?? null);
  if (own) return own;
  const target = core.engine.target();
  return target && core.models.parametersOf(target.modelId) >= leastParameters ? target : null;
}

/** The beginning of the conversation, or null if there is nothing to name. */
function chatToName(core: ChatDeps, chatId: ChatId): string | null {
  const chat = findChat(core.db, chatId);
  if (chat?.titleSource !== 'none') return null;
  const [question, answer] = branch(messagesOf(core.db, chatId), chat.leafId);
  if (!question || !answer) return null;
  return `${question.text.slice(0, readCharacters)}\n\n${answer.text.slice(0, readCharacters)}`;
}

const INSTRUCTION = '\n\n---\nWrite a title of two to six words for this conversation. Answer with the title only.';

const titleGeneration = (turnId: TurnId, target: LoadTarget, text: string): Generation => ({
  turnId,
  chatId: null,
  priority: 'title',
  target,
  prompt: {
    messages: [plain('user', `${text}${INSTRUCTION}`)],
    thinking: false,
    continuation: null,
  },
  sampling: { temperature: 0, maxTokens: 24 },
  stops: ['\n'],
  thinkingBudget: { tokens: 0, seconds: null },
  loopGuard: null,
});

/** The title in the model's output, or null if there is none: empty, a sentence, an announcement, an echo of the instruction, or
 *  about something that was not said. The first words of the question are used then. */
export function titleFrom(written: string, conversation: string): string | null {
  const title = written
    .replace(/^[\s#*"'“”‘’«»`]*(title\s*:)?[\s*"'“”‘’«»`]*/i, '')
    .replace(/[\s*"'“”‘’«»`.]+$/, '')
    .trim();
  const found = words(title);
  if (title === '' || title.length > longestTitle || allWords(title).length > maxWords) return null;
  // "Here is a title:", and a sentence with an end in the middle or a quotation without one.
  if (/:$|[.!?]\s/.test(title) || title.split('"').length % 2 === 0) return null;
  const said = words(conversation);
  const asked = new Set(words(INSTRUCTION));
  if (found.some((word) => asked.has(word) && !said.includes(word))) return null;
  const stems = new Set(said.map(stem));
  const known = found.filter((word) => stems.has(stem(word)));
  // A number that does not occur in the conversation is invented.
  if (found.some((word) => /\d/.test(word) && !said.includes(word))) return null;
  return known.length * 2 > found.length && known.some((word) => word.length >= 2) ? title : null;
}

/** "Boiling" and "boil" count as the same word. */
const stem = (word: string) => word.slice(0, 4);

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

const allWords = (text: string): string[] =>
  [...segmenter.segment(text.toLowerCase())].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);

const words = (text: string): string[] => allWords(text).filter((word) => !common.has(word));
