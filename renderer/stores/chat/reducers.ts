import {
  type Chat,
  type ChatId,
  type EventPayload,
  type Message,
  type MessageId,
  type PauseAction,
  type ToolUse,
  type TurnEvent,
  type TurnId,
  withDecision,
} from '../../../app/protocol/index.ts';
import type { Messages } from './tree.ts';

//  The tested core of the chat page: plain data in, plain data out.

/** State of a turn that exists only while it runs. Times are of the page's own clock, in ms. */
export type TurnProgress = {
  turnId: TurnId;
  startedAt: number;
  reading: { done: number; total: number; cached: number; since: number } | null;
  thinking: { since: number; until: number | null; tokens: number } | null;
  answerTokens: number;
  firstTokenAt: number | null;
  /** Set while the turn waits for the user, with the start time. */
  pause: { choices: PauseAction[]; suggested: PauseAction; at: number } | null;
  /** The number of similar passages so far, once there are many; they may be intended. */
  similar: { where: 'thinking' | 'answer'; repeats: number } | null;
  /** Characters so far of a call being generated. */
  calling: number | null;
};

/** `shape`: the messages as of the last change other than text of a running answer. Views of the whole chat render from it,
 *  so that a commit costs the same in a long chat as in a short one. */
export type Open = { chat: Chat; messages: Messages; shape: Messages };

export type ChatData = {
  /** Newest first. */
  chats: readonly Chat[];
  /** The chat on screen, once loaded. */
  open: Open | null;
  live: ReadonlyMap<MessageId, TurnProgress>;
  /** Chats in which an answer is being written, or waits for the user. */
  busy: ReadonlyMap<ChatId, 'writing' | 'waiting'>;
  unread: ReadonlySet<ChatId>;
};

export const noChats: ChatData = { chats: [], open: null, live: new Map(), busy: new Map(), unread: new Set() };

export function withChats(data: ChatData, chats: readonly Chat[]): ChatData {
  return { ...data, chats: [...chats].sort(newestFirst) };
}

/** Adds a further page of chats; known ones may have changed meanwhile. */
export function withOlderChats(data: ChatData, older: readonly Chat[]): ChatData {
  const known = new Set(data.chats.map(({ id }) => id));
  return withChats(data, [...data.chats, ...older.filter(({ id }) => !known.has(id))]);
}

const newestFirst = (a: Chat, b: Chat) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1);

export function withChat(data: ChatData, chat: Chat): ChatData {
  const at = data.chats.findIndex(({ id }) => id === chat.id);
  // A draft is saved at every pause in typing, and does not move its chat.
  const stays = data.chats[at]?.updatedAt === chat.updatedAt;
  const open = data.open?.chat.id === chat.id ? { ...data.open, chat } : data.open;
  if (stays) return { ...data, chats: data.chats.with(at, chat), open };
  return { ...withChats(data, [chat, ...data.chats.toSpliced(at, at < 0 ? 0 : 1)]), open };
}

export function withoutChat(data: ChatData, chatId: ChatId): ChatData {
  return {
    ...data,
    chats: data.chats.filter((chat) => chat.id !== chatId),
    open: data.open?.chat.id === chatId ? null : data.open,
  };
}

export function withMessage(data: ChatData, message: Message): ChatData {
  if (data.open?.chat.id !== message.chatId) return data;
  const messages = new Map(data.open.messages).set(message.id, message);
  const live = isRunning(message) ? data.live : without(data.live, message.id);
  return { ...data, open: { ...data.open, messages, shape: messages }, live };
}

/** Removes a queued message that was taken back. */
export function withoutMessage(data: ChatData, chatId: ChatId, messageId: MessageId): ChatData {
  if (data.open?.chat.id !== chatId) return data;
  const messages = new Map(without(data.open.messages, messageId));
  return { ...data, open: { ...data.open, messages, shape: messages } };
}

/** Passages of documents would go to a remote engine: a question to the user, not an error. */
export const asksForPassages = ({ state }: Message): boolean =>
  state.status === 'failed' && state.failure.details?.reason === 'passages-stay';

export const isRunning = (message: Message): boolean =>
  message.state.status === 'running' || message.state.status === 'paused';

export function withOpened(data: ChatData, chat: Chat, messages: readonly Message[]): ChatData {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const busy = new Map(without(data.busy, chat.id));
  const running = messages.find(isRunning);
  if (running) busy.set(chat.id, running.state.status === 'paused' ? 'waiting' : 'writing');
  return { ...data, open: { chat, messages: byId, shape: byId }, busy, unread: withoutMember(data.unread, chat.id) };
}

export type TurnPayload = EventPayload<'turn'>;

/** Applies all events since the last commit in one step. Only messages of the open chat have text here. */
export function withTurnEvents(data: ChatData, batch: readonly TurnPayload[], now: number): ChatData {
  let { open } = data;
  const live = new Map(data.live);
  const busy = new Map(data.busy);
  const unread = new Set(data.unread);
  const changed = new Map<MessageId, Message>();
  let onlyText = true;
  for (const { chatId, messageId, turnId, event } of batch) {
    if (event.type === 'finished' || event.type === 'failed') {
      busy.delete(chatId);
      if (open?.chat.id !== chatId) unread.add(chatId);
    } else busy.set(chatId, waits(event) ? 'waiting' : 'writing');
    const message = changed.get(messageId) ?? (open?.chat.id === chatId ? open.messages.get(messageId) : undefined);
    if (!message) continue;
    changed.set(messageId, applyToMessage(message, turnId, event));
    onlyText &&= textual.has(event.type);
    const next = applyToLive(live.get(messageId), turnId, event, now);
    if (next) live.set(messageId, next);
    else live.delete(messageId);
  }
  if (open && changed.size > 0) {
    const messages = new Map(open.messages);
    for (const [id, message] of changed) messages.set(id, message);
    open = { ...open, messages, shape: onlyText ? open.shape : messages };
  }
  return { ...data, open, live, busy, unread };
}

/** Whether the turn waits for the user. */
const waits = (event: TurnEvent): boolean =>
  event.type === 'paused' || (event.type === 'tool' && event.use.state.status === 'asking');

function pausedBy({ evidence, thought }: TurnEvent & { type: 'paused' }, turnId: TurnId): Message['state'] {
  return { status: 'paused', turnId, ...(evidence && { evidence }), ...(thought !== undefined && { thought }) };
}

/** Events that change only the text of a message. */
const textual: ReadonlySet<TurnEvent['type']> = new Set([
  'delta',
  'retracted',
  'progress',
  'similar',
  'stats',
  'calling',
]);

export function applyToMessage(message: Message, turnId: TurnId, event: TurnEvent): Message {
  switch (event.type) {
    case 'started':
      return { ...message, state: { status: 'running', turnId }, modelName: event.model };
    case 'delta':
      return event.kind === 'answer'
        ? { ...message, text: message.text + event.text }
        : { ...message, thinking: message.thinking + event.text };
    case 'retracted':
      return event.kind === 'answer'
        ? { ...message, text: message.text.slice(0, event.from) }
        : { ...message, thinking: message.thinking.slice(0, event.from) };
    case 'paused':
      return { ...message, state: pausedBy(event, turnId) };
    case 'decided':
      return { ...message, state: { status: 'running', turnId }, loops: withDecision(message.loops, event.choice) };
    case 'loop':
      return { ...message, loops: [...message.loops, event.evidence] };
    case 'grounding':
      return { ...message, grounding: event.grounding };
    case 'finished':
      return {
        ...message,
        state: { status: 'done', reason: event.reason },
        usage: event.usage,
        timings: event.timings,
      };
    case 'failed':
      return {
        ...message,
        state: { status: 'failed', failure: event.failure },
        usage: event.usage ?? message.usage,
        timings: event.timings ?? message.timings,
      };
    case 'tool':
      return { ...message, toolUses: withUse(message.toolUses, event.use) };
    case 'progress':
    case 'calling':
    case 'stats':
    case 'similar':
      return message;
  }
}

function withUse(uses: readonly ToolUse[], use: ToolUse): ToolUse[] {
  const at = uses.findIndex(({ id }) => id === use.id);
  return at < 0 ? [...uses, use] : uses.with(at, use);
}

const fresh = (turnId: TurnId, now: number): TurnProgress => ({
  turnId,
  startedAt: now,
  reading: null,
  thinking: null,
  answerTokens: 0,
  firstTokenAt: null,
  pause: null,
  similar: null,
  calling: null,
});

/** Null once the turn has ended. */
export function applyToLive(
  before: TurnProgress | undefined,
  turnId: TurnId,
  event: TurnEvent,
  now: number,
): TurnProgress | null {
  const live = before?.turnId === turnId ? before : fresh(turnId, now);
  switch (event.type) {
    case 'finished':
    case 'failed':
      return null;
    case 'progress':
      return {
        ...live,
        reading: { done: event.done, total: event.total, cached: event.cached, since: live.reading?.since ?? now },
      };
    case 'delta':
      return withTokens(
        {
          ...live,
          reading: null,
          firstTokenAt: live.firstTokenAt ?? now,
          // Similarity in the thinking says nothing about the answer.
          similar: live.similar?.where === event.kind ? live.similar : null,
        },
        event.kind,
        event.tokens,
        now,
      );
    case 'calling':
      return { ...live, calling: event.characters };
    case 'tool':
    case 'started':
      return { ...live, calling: null };
    case 'similar':
      return { ...live, similar: { where: event.where, repeats: event.repeats } };
    case 'retracted':
      return { ...live, similar: null, calling: null };
    case 'paused':
      return { ...live, similar: null, pause: { choices: event.choices, suggested: event.suggested, at: now } };
    case 'decided':
      return withoutPause(live, now);
    default:
      return live;
  }
}

/** Excludes the time spent waiting for the user. */
function withoutPause(live: TurnProgress, now: number): TurnProgress {
  const waited = live.pause ? now - live.pause.at : 0;
  const { thinking, firstTokenAt } = live;
  return {
    ...live,
    pause: null,
    startedAt: live.startedAt + waited,
    firstTokenAt: firstTokenAt === null ? null : firstTokenAt + waited,
    thinking: thinking?.until === null ? { ...thinking, since: thinking.since + waited } : thinking,
  };
}

function withTokens(live: TurnProgress, kind: 'thinking' | 'answer', tokens: number, now: number): TurnProgress {
  if (kind === 'thinking') {
    const thinking = live.thinking ?? { since: now, until: null, tokens: 0 };
    return { ...live, thinking: { ...thinking, until: null, tokens: thinking.tokens + tokens } };
  }
  const thinking = live.thinking && { ...live.thinking, until: live.thinking.until ?? now };
  return { ...live, thinking, answerTokens: live.answerTokens + tokens };
}

function without<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  if (!map.has(key)) return map;
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

function withoutMember<Member>(set: ReadonlySet<Member>, member: Member): ReadonlySet<Member> {
  return set.has(member) ? new Set([...set].filter((other) => other !== member)) : set;
}
