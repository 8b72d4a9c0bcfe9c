// A long working session: chats that grow, edits, regenerated answers, branches, thinking that a template drops, titles and
// other chats in between, and now and then a restart of the app. Each turn reports how much of its prompt was read.
import type { GenerateResult, Model, Session } from '../../../native/addon/index.d.ts';
import { someTokens } from './models.ts';
import { dice, END } from './prompt-trees.ts';

const TURNS = ['append', 'retry', 'edit', 'branch', 'other chat', 'thinking dropped', 'title between'] as const;
export const KINDS = [...TURNS, 'restart'] as const;
export type Kind = (typeof KINDS)[number];
/** The app is restarted after this many turns. */
const RESTART_EVERY = 9;

export type Turn = {
  kind: Kind;
  prompt: number;
  /** Tokens of the prompt that had not been seen before, as counted by the script. */
  fresh: number;
  cached: number;
  /** Tokens that had been seen before and were read again. */
  again: number;
  reason: GenerateResult['reuse']['reason'];
  firstTokenMs: number;
};

export type Script = {
  /** The model as after a restart: only the cache on disk is known. */
  open: () => Promise<Model>;
  turns: number;
  seed: number;
  contextLength: number;
  /** Lengths in tokens: of a first message, and of the longest later ones. */
  long: number;
  short: number;
  /** The length of an answer, in tokens. */
  answer: number;
  onTurn?: (turn: Turn, index: number) => void;
};

type Chat = { tokens: number[]; ends: number[] };

const ASK = 5;
const OWNER = 'chat';

/** What follows the last message of a prompt: the opening of the answer. */
const opened = (chat: Chat): Int32Array => Int32Array.from([...chat.tokens, ASK]);

const grown = (chat: Chat, message: readonly number[]): Chat => {
  const tokens = [...chat.tokens, ...message];
  return { tokens, ends: [...chat.ends, tokens.length] };
};
const cut = ({ tokens, ends }: Chat, messages: number): Chat => ({
  tokens: tokens.slice(0, ends[messages - 1]),
  ends: ends.slice(0, messages),
});

/** A prompt that has been read. After a restart only its whole messages are known; the beginning of a message that was edited
 *  is not. */
type Read = { tokens: readonly number[]; restarted: boolean };

/** The longest prefix of a prompt that has been read before, in tokens. */
function seenOf(prompt: Int32Array, read: readonly Read[]): number {
  const alike = ({ tokens, restarted }: Read) => {
    const differs = prompt.findIndex((id, at) => id !== tokens[at]);
    const end = differs < 0 ? prompt.length : differs;
    return restarted && end < tokens.length ? tokens.lastIndexOf(END, end - 1) + 1 : end;
  };
  return Math.max(0, ...read.map(alike));
}

async function opening(script: Script) {
  const model = await script.open();
  const [session, title] = [1, 2].map(() => model.createSession({ contextLength: script.contextLength }));
  return { model, session: session as Session, title: title as Session };
}

/** Whether a turn reads no more than it may: at most one chunk of known tokens, each with a reason. */
export const isWithin = ({ again, reason }: Turn): boolean =>
  again <= 512 && (again === 0 || (reason !== 'nothing' && reason !== 'cold'));

export async function playTurns(script: Script): Promise<Turn[]> {
  const { turns, seed, contextLength, long, short, answer } = script;
  const roll = dice(seed);
  let now = await opening(script);
  const message = (length: number) => [...someTokens(Math.max(1, length - 1), 1 + roll(1e6)), END];
  const system: Chat = grown({ tokens: [], ends: [] }, message(60));
  const chats = [grown(system, message(long)), grown(system, message(long))];
  let read: Read[] = [];
  const out: Turn[] = [];
  let at = 0;

  for (let turn = 0; turn < turns; turn++) {
    const restarts = turn % RESTART_EVERY === RESTART_EVERY - 1;
    const kind: Kind = restarts ? 'restart' : turn < 2 ? 'append' : (TURNS[roll(TURNS.length)] as Kind);
    if (kind === 'restart') {
      await now.model.flushPromptCache();
      now.model.close();
      now = await opening(script);
      read = read.map(({ tokens }) => ({ tokens, restarted: true }));
    }
    if (kind === 'other chat') at = (at + 1) % chats.length;
    let chat = chats[at] as Chat;
    let kept: number[] = []; // of a message that is edited: how it begins
    if (turn >= 2 && kind !== 'retry') {
      // An edit or a branch goes back to an answer in the middle: after the system prompt, questions and answers alternate.
      const pairs = Math.floor((chat.ends.length - 1) / 2);
      const back = 1 + 2 * roll(Math.max(1, pairs));
      if (kind === 'edit') kept = chat.tokens.slice(chat.ends[back - 1], chat.ends[back]).slice(0, roll(short));
      if (kind === 'edit') chat = cut(chat, back);
      else if (kind === 'branch') {
        chat = cut(chat, back);
        at = chats.push(chat) - 1;
      } else if (chat.ends.length % 2 === 0) chat = cut(chat, chat.ends.length - 1);
      chat = grown(chat, [...kept.filter((id) => id !== END), ...message(8 + roll(short))]);
    } else if (kind === 'retry' && chat.ends.length % 2 === 1) chat = cut(chat, chat.ends.length - 1);
    if (chat.tokens.length > contextLength - 3 * answer) chat = grown(system, message(long));
    if (chats.length > 5) chats.splice(at === 0 ? 1 : 0, 1);
    at = Math.min(at, chats.length - 1);

    if (kind === 'title between') {
      const asked = Int32Array.from([...message(40), ...chat.tokens.slice(-Math.min(200, chat.tokens.length)), ASK]);
      await now.title.generate(asked, { maxTokens: 3, stopTokens: [END], cachePrompt: false });
    }
    const { turn: said, tokens } = await asked(now.session, chat, { kind, answer, read });
    out.push(said);
    script.onTurn?.(said, turn);
    // The template drops the first half of the answer once the next question follows.
    const stays = kind === 'thinking dropped' ? tokens.slice(Math.floor(tokens.length / 2)) : tokens;
    const next = grown(chat, [...stays.filter((id) => id !== END), END]);
    chats[at] = next;
    await now.session.read(Int32Array.from(next.tokens), { stopTokens: [END], owner: OWNER });
    read.push(...[[...opened(chat)], next.tokens].map((tokens) => ({ tokens, restarted: false })));
  }
  // What is still being written would come into a folder that the test removes.
  await now.model.flushPromptCache();
  now.model.close();
  return out;
}

type Asked = { kind: Kind; answer: number; read: readonly Read[] };

async function asked(session: Session, chat: Chat, { kind, answer, read }: Asked) {
  const prompt = opened(chat);
  const seen = seenOf(prompt, read);
  const { timings, reuse, tokens } = await session.generate(prompt, {
    maxTokens: answer,
    stopTokens: [END],
    temperature: 0.8,
    seed: 1,
    owner: OWNER,
  });
  const turn: Turn = {
    kind,
    prompt: prompt.length,
    fresh: prompt.length - seen,
    cached: timings.cachedTokens,
    // The last token is always read: its logits are needed.
    again: Math.max(0, Math.min(seen, prompt.length - 1) - timings.cachedTokens),
    reason: reuse.reason,
    firstTokenMs: timings.firstTokenMs,
  };
  return { turn, tokens };
}
