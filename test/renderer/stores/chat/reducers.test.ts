import { describe, expect, test } from 'vitest';
import type { Message, TurnEvent, TurnId } from '../../../../app/protocol/index.ts';
import {
  applyToLive,
  type ChatData,
  noChats,
  type TurnPayload,
  withChat,
  withMessage,
  withOpened,
  withoutChat,
  withoutMessage,
  withTurnEvents,
} from '../../../../renderer/stores/chat/reducers.ts';
import { branchOf, queueOf, versionsOf } from '../../../../renderer/stores/chat/tree.ts';
import { newChat, newMessage, turnFigures } from '../../../support/fakes/world.ts';

const turnId = 'turn-1' as TurnId;
const { usage, timings } = turnFigures;

function opened(): { data: ChatData; answer: Message } {
  const chat = newChat();
  const question = newMessage(chat.id, 'user', { text: 'why?' });
  const answer = newMessage(chat.id, 'assistant', { parentId: question.id, state: { status: 'running', turnId } });
  return { data: withOpened(withChat(noChats, chat), { ...chat, leafId: answer.id }, [question, answer]), answer };
}

const happened = (answer: Message, ...events: TurnEvent[]): TurnPayload[] =>
  events.map((event) => ({ chatId: answer.chatId, messageId: answer.id, turnId, event }));

const messageOf = (data: ChatData, answer: Message) => data.open?.messages.get(answer.id) as Message;

describe('events of a turn', () => {
  test('deltas of one batch become one text, thinking apart', () => {
    const { data, answer } = opened();
    const batch = happened(
      answer,
      { type: 'delta', kind: 'thinking', text: 'hm', tokens: 1 },
      { type: 'delta', kind: 'answer', text: 'Be', tokens: 1 },
      { type: 'delta', kind: 'answer', text: 'cause', tokens: 1 },
    );
    const next = withTurnEvents(data, batch, 50);
    expect(messageOf(next, answer)).toMatchObject({ text: 'Because', thinking: 'hm' });
    expect(next.live.get(answer.id)).toMatchObject({ answerTokens: 2, thinking: { tokens: 1, until: 50 } });
    expect(next.busy.get(answer.chatId)).toBe('writing');
  });

  test('similar passages are counted while they are written, and forgotten when the answer begins or stops for a card', () => {
    const { data, answer } = opened();
    const similar: TurnEvent = { type: 'similar', where: 'thinking', repeats: 12, text: 'the same' };
    const counted = withTurnEvents(data, happened(answer, similar), 0);
    expect(counted.live.get(answer.id)?.similar).toEqual({ where: 'thinking', repeats: 12 });
    expect(counted.open?.shape).toBe(data.open?.shape);
    const went: TurnEvent = { type: 'delta', kind: 'answer', text: 'So', tokens: 1 };
    expect(withTurnEvents(counted, happened(answer, went), 0).live.get(answer.id)?.similar).toBeNull();
    const paused: TurnEvent = { type: 'paused', choices: ['stop'], suggested: 'stop' };
    expect(withTurnEvents(counted, happened(answer, paused), 0).live.get(answer.id)?.similar).toBeNull();
  });

  test('other messages keep their identity', () => {
    const { data, answer } = opened();
    const next = withTurnEvents(data, happened(answer, { type: 'delta', kind: 'answer', text: 'x', tokens: 1 }), 0);
    const question = answer.parentId as Message['id'];
    expect(next.open?.messages.get(question)).toBe(data.open?.messages.get(question));
  });

  test('text leaves the shape of the chat as it was; everything else renews it', () => {
    const { data, answer } = opened();
    const text: TurnEvent = { type: 'delta', kind: 'answer', text: 'x', tokens: 1 };
    const written = withTurnEvents(data, happened(answer, text, text), 0);
    expect(written.open?.messages).not.toBe(data.open?.messages);
    expect(written.open?.shape).toBe(data.open?.shape);
    const ended = withTurnEvents(
      written,
      happened(answer, text, { type: 'finished', reason: 'stop', usage, timings }),
      0,
    );
    expect(ended.open?.shape).toBe(ended.open?.messages);
    expect(ended.open?.shape.get(answer.id)?.text).toBe('xxx');
  });

  test('a chat that is opened while it is written, or waits, says so before the next event', () => {
    const { data, answer } = opened();
    const { chat } = data.open as NonNullable<ChatData['open']>;
    expect(data.busy.get(chat.id)).toBe('writing');
    const paused = withOpened(data, chat, [{ ...answer, state: { status: 'paused', turnId } }]);
    expect(paused.busy.get(chat.id)).toBe('waiting');
    const done = withOpened(paused, chat, [{ ...answer, state: { status: 'done', reason: 'stop' } }]);
    expect(done.busy.has(chat.id)).toBe(false);
  });

  test('text that is taken back goes', () => {
    const { data, answer } = opened();
    const batch = happened(
      answer,
      { type: 'delta', kind: 'answer', text: 'one two', tokens: 2 },
      { type: 'retracted', kind: 'answer', from: 3 },
    );
    expect(messageOf(withTurnEvents(data, batch, 0), answer).text).toBe('one');
  });

  test('a pause waits, a decision goes on, the end clears what was only live', () => {
    const { data, answer } = opened();
    const paused = withTurnEvents(
      data,
      happened(answer, { type: 'paused', choices: ['answer-now', 'stop'], suggested: 'answer-now' }),
      0,
    );
    expect(paused.busy.get(answer.chatId)).toBe('waiting');
    expect(messageOf(paused, answer).state.status).toBe('paused');
    const ended = withTurnEvents(
      paused,
      happened(answer, { type: 'decided', choice: 'stop' }, { type: 'finished', reason: 'cancelled', usage, timings }),
      1,
    );
    expect(messageOf(ended, answer)).toMatchObject({ state: { status: 'done', reason: 'cancelled' }, usage, timings });
    expect(ended.live.size).toBe(0);
    expect(ended.busy.size).toBe(0);
  });

  test('the time in which nobody decided is no time of thinking', () => {
    const { data, answer } = opened();
    const thought = withTurnEvents(
      data,
      happened(answer, { type: 'delta', kind: 'thinking', text: 'a', tokens: 1 }),
      100,
    );
    const paused = withTurnEvents(
      thought,
      happened(answer, { type: 'paused', choices: ['keep-going'], suggested: 'keep-going' }),
      400,
    );
    expect(paused.live.get(answer.id)?.pause?.at).toBe(400);
    const decided = withTurnEvents(paused, happened(answer, { type: 'decided', choice: 'keep-going' }), 9400);
    expect(decided.live.get(answer.id)).toMatchObject({
      pause: null,
      firstTokenAt: 9100,
      thinking: { since: 9100, until: null },
    });
  });

  test('a failure keeps the text and what is known of its cost', () => {
    const { data, answer } = opened();
    const failure = { code: 'engine-lost' as const, message: '[engine] gone' };
    const next = withTurnEvents(
      data,
      happened(answer, { type: 'delta', kind: 'answer', text: 'half', tokens: 1 }, { type: 'failed', failure }),
      0,
    );
    expect(messageOf(next, answer)).toMatchObject({ text: 'half', state: { status: 'failed', failure } });
  });

  test('an answer in a chat that is not on screen makes it unread, and opening it reads it', () => {
    const { data } = opened();
    const other = newChat();
    const away = newMessage(other.id, 'assistant');
    const next = withTurnEvents(
      withChat(data, other),
      happened(away, { type: 'finished', reason: 'stop', usage, timings }),
      0,
    );
    expect(next.unread.has(other.id)).toBe(true);
    expect(withOpened(next, other, []).unread.has(other.id)).toBe(false);
  });

  test('a new turn of the same message starts its own clock', () => {
    const first = applyToLive(undefined, turnId, { type: 'started', model: 'm', backEnd: 'cpu' }, 10);
    const again = applyToLive(
      first ?? undefined,
      'turn-2' as TurnId,
      { type: 'started', model: 'm', backEnd: 'cpu' },
      90,
    );
    expect(again?.startedAt).toBe(90);
  });
});

describe('the list', () => {
  test('is newest first, replaces what it knows, forgets what is deleted', () => {
    const old = newChat({ updatedAt: 1 });
    const recent = newChat({ updatedAt: 2 });
    const data = withChat(withChat(noChats, recent), old);
    expect(data.chats.map((chat) => chat.id)).toEqual([recent.id, old.id]);
    expect(withChat(data, { ...old, updatedAt: 3 }).chats[0]?.id).toBe(old.id);
    expect(withoutChat(data, old.id).chats).toHaveLength(1);
  });

  test('a draft that is kept moves no chat and makes no other row anew', () => {
    const chats = [3, 2, 1].map((updatedAt) => newChat({ updatedAt }));
    const data = chats.reduce(withChat, noChats);
    const last = data.chats.at(-1);
    if (!last) throw new Error('no chat');
    const typed = withChat(data, { ...last, draft: 'half a sen' });
    expect(typed.chats.map(({ id }) => id)).toEqual(data.chats.map(({ id }) => id));
    expect(typed.chats.at(-1)?.draft).toBe('half a sen');
    expect(typed.chats.slice(0, -1).every((chat, at) => chat === data.chats[at])).toBe(true);
  });

  test('a draft that is kept costs no sorting: of ten thousand chats only its own tells when it changed', () => {
    let looks = 0;
    const watched = (chat: ReturnType<typeof newChat>) => {
      const get = () => {
        looks++;
        return chat.updatedAt;
      };
      return Object.defineProperty({ ...chat }, 'updatedAt', { enumerable: true, get });
    };
    const chats = Array.from({ length: 10_000 }, (_, at) => newChat({ updatedAt: 10_000 - at }));
    const data: ChatData = { ...noChats, chats: chats.map(watched) };
    const middle = chats[5000] as (typeof chats)[number];
    withChat(data, { ...middle, draft: 'half a sen' });
    expect(looks).toBeLessThanOrEqual(2);
    expect(withChat(data, { ...middle, updatedAt: 20_000 }).chats[0]?.id).toBe(middle.id);
    expect(looks).toBeGreaterThan(2);
  });

  test('a message that was taken back is gone, and only it', () => {
    const { data, answer } = opened();
    expect([...(withoutMessage(data, answer.chatId, answer.id).open?.messages.keys() ?? [])]).toEqual([
      answer.parentId,
    ]);
  });

  test('a message of another chat changes nothing', () => {
    const { data } = opened();
    expect(withMessage(data, newMessage(newChat().id, 'user'))).toBe(data);
  });
});

describe('the tree', () => {
  test('a branch goes from the root to its leaf, without what waits', () => {
    const chat = newChat();
    const a = newMessage(chat.id, 'user');
    const b = newMessage(chat.id, 'assistant', { parentId: a.id });
    const c = newMessage(chat.id, 'user', { parentId: b.id, state: { status: 'queued' } });
    const messages = new Map([a, b, c].map((message) => [message.id, message]));
    expect(branchOf(messages, c.id).map((message) => message.id)).toEqual([a.id, b.id]);
    expect(queueOf(messages).map((message) => message.id)).toEqual([c.id]);
  });

  test('what waits goes by its place, of two in one place the older first', () => {
    const chat = newChat();
    const waits = (place?: number) => newMessage(chat.id, 'user', { state: { status: 'queued', place } });
    const [second, third, first, last] = [waits(), waits(0), waits(-1), waits(2)];
    const messages = new Map([last, third, second, first].map((message) => [message.id, message]));
    expect(queueOf(messages).map(({ id }) => id)).toEqual([first, second, third, last].map(({ id }) => id));
  });

  test('a circle or a lost parent ends the walk', () => {
    const chat = newChat();
    const a = newMessage(chat.id, 'user');
    const b = newMessage(chat.id, 'assistant', { parentId: a.id });
    expect(branchOf(new Map([[b.id, b]]), b.id)).toEqual([b]);
    const circle = new Map([
      [a.id, { ...a, parentId: b.id }],
      [b.id, b],
    ]);
    expect(branchOf(circle, b.id)).toHaveLength(2);
  });

  test('versions are siblings of one role, oldest first, and the same list as long as nothing changed', () => {
    const chat = newChat();
    const a = newMessage(chat.id, 'user');
    const first = newMessage(chat.id, 'assistant', { parentId: a.id, createdAt: 2 });
    const second = newMessage(chat.id, 'assistant', { parentId: a.id, createdAt: 1 });
    const messages = new Map([a, first, second].map((message) => [message.id, message]));
    const versions = versionsOf(messages, [a, first], new Map());
    expect(versions.get(first.id)).toEqual([second.id, first.id]);
    expect(versionsOf(messages, [a, first], versions).get(first.id)).toBe(versions.get(first.id));
  });
});
