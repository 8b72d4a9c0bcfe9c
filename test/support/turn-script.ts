// A long session of somebody at work: chats that grow, edits, answers once more, branches, thinking that a template drops,
// titles and other chats in between. Each turn says what of its prompt was read.
import type { GenerateResult, Model, Session } from '../../native/addon/index.d.ts';
import { someTokens } from './models.ts';
import { dice, END, readAgain } from './prompt-trees.ts';

export const KINDS = ['append', 'retry', 'edit', 'branch', 'other chat', 'thinking dropped', 'title between'] as const;
export type Kind = (typeof KINDS)[number];

export type Turn = {
  kind: Kind;
  prompt: number;
  /** Tokens of the prompt that nobody had seen before. */
  fresh: number;
  cached: number;
  /** Known tokens that were read again. */
  again: number;
  reason: GenerateResult['reuse']['reason'];
  firstTokenMs: number;
};

export type Script = {
  model: Model;
  turns: number;
  seed: number;
  contextLength: number;
  /** Tokens of a first message, and of the longest others. */
  long: number;
  short: number;
  /** Tokens of an answer. */
  answer: number;
};

type Chat = { tokens: number[]; ends: number[] };

const ASK = 5;

/** What follows the last message in a prompt: as a template opens an answer. */
const opened = (chat: Chat): Int32Array => Int32Array.from([...chat.tokens, ASK]);

const grown = (chat: Chat, message: readonly number[]): Chat => {
  const tokens = [...chat.tokens, ...message];
  return { tokens, ends: [...chat.ends, tokens.length] };
};
const cut = ({ tokens, ends }: Chat, messages: number): Chat => ({
  tokens: tokens.slice(0, ends[messages - 1]),
  ends: ends.slice(0, messages),
});

export async function playTurns({ model, turns, seed, contextLength, long, short, answer }: Script): Promise<Turn[]> {
  const roll = dice(seed);
  const session = model.createSession({ contextLength });
  const title = model.createSession({ contextLength });
  const message = (length: number) => [...someTokens(Math.max(1, length - 1), 1 + roll(1e6)), END];
  const system: Chat = grown({ tokens: [], ends: [] }, message(60));
  const chats = [grown(system, message(long)), grown(system, message(long))];
  const out: Turn[] = [];
  let at = 0;

  for (let turn = 0; turn < turns; turn++) {
    const kind: Kind = turn < 2 ? 'append' : (KINDS[roll(KINDS.length)] as Kind);
    if (kind === 'other chat') at = (at + 1) % chats.length;
    let chat = chats[at] as Chat;
    if (turn >= 2 && kind !== 'retry') {
      // An edit or a branch goes back behind an answer in the middle: the system prompt, then question and answer in turns.
      const pairs = Math.floor((chat.ends.length - 1) / 2);
      const back = 1 + 2 * roll(Math.max(1, pairs));
      if (kind === 'edit') chat = cut(chat, back);
      else if (kind === 'branch') {
        chat = cut(chat, back);
        at = chats.push(chat) - 1;
      } else if (chat.ends.length % 2 === 0) chat = cut(chat, chat.ends.length - 1);
      chat = grown(chat, message(8 + roll(short)));
    } else if (kind === 'retry' && chat.ends.length % 2 === 1) chat = cut(chat, chat.ends.length - 1);
    if (chat.tokens.length > contextLength - 3 * answer) chat = grown(system, message(long));
    if (chats.length > 5) chats.splice(at === 0 ? 1 : 0, 1);
    at = Math.min(at, chats.length - 1);

    if (kind === 'title between') {
      const asked = Int32Array.from([...message(40), ...chat.tokens.slice(-Math.min(200, chat.tokens.length)), ASK]);
      await title.generate(asked, { maxTokens: 3, stopTokens: [END], cachePrompt: false });
    }
    const { turn: said, tokens } = await asked(session, chat, kind, answer);
    out.push(said);
    // The template drops the first half of the answer once the next question is there.
    const stays = kind === 'thinking dropped' ? tokens.slice(Math.floor(tokens.length / 2)) : tokens;
    chats[at] = grown(chat, [...stays.filter((id) => id !== END), END]);
    await session.read(Int32Array.from((chats[at] as Chat).tokens), { stopTokens: [END] });
  }
  session.close();
  title.close();
  return out;
}

async function asked(session: Session, chat: Chat, kind: Kind, answer: number) {
  const prompt = opened(chat);
  const result = await session.generate(prompt, { maxTokens: answer, stopTokens: [END], temperature: 0.8, seed: 1 });
  const { timings, reuse } = result;
  const turn: Turn = {
    kind,
    prompt: prompt.length,
    fresh: Math.max(0, prompt.length - reuse.known),
    cached: timings.cachedTokens,
    again: readAgain(result),
    reason: reuse.reason,
    firstTokenMs: timings.firstTokenMs,
  };
  return { turn, tokens: result.tokens };
}
