// What an event of a turn makes of its message, field by field, and what the list does with chats that come later.
import { expect, test } from 'vitest';
import type { ChatId, LoopEvidence, Message, ToolUse, TurnEvent, TurnId } from '../../../../app/protocol/index.ts';
import {
  applyToLive,
  applyToMessage,
  asksForPassages,
  type ChatData,
  noChats,
  withChat,
  withMessage,
  withOlderChats,
  withOpened,
  withoutChat,
  withoutMessage,
  withTurnEvents,
} from '../../../../renderer/stores/chat/reducers.ts';
import { newChat, newMessage, turnFigures } from '../../../support/fakes/world.ts';

const turnId = 'turn-1' as TurnId;
const chat = newChat();
const running = newMessage(chat.id, 'assistant', { state: { status: 'running', turnId } });
const after = (event: TurnEvent, before: Message = running) => applyToMessage(before, turnId, event);
const { usage, timings } = turnFigures;
const failure = { code: 'engine-lost' as const, message: '[engine] gone' };
const asking = (id: string, status = 'asking'): ToolUse => ({ id, state: { status } }) as unknown as ToolUse;

test('a pause carries what it is about, and nothing where it is about nothing', () => {
  const pause = (more: object) => after({ type: 'paused', choices: ['stop'], suggested: 'stop', ...more }).state;
  const evidence = { where: 'answer', repeats: 3 } as unknown as LoopEvidence;
  expect(pause({})).toStrictEqual({ status: 'paused', turnId });
  expect(pause({ evidence })).toStrictEqual({ status: 'paused', turnId, evidence });
  expect(pause({ thought: 0 })).toStrictEqual({ status: 'paused', turnId, thought: 0 });
});

test('thinking that is taken back is cut where it begins again, and the answer stays', () => {
  const written = { ...running, text: 'one two', thinking: 'hm hm hm' };
  expect(after({ type: 'retracted', kind: 'thinking', from: 2 }, written)).toMatchObject({
    text: 'one two',
    thinking: 'hm',
  });
});

test('a decision is kept with its loop', () => {
  const evidence = { where: 'answer', repeats: 3 } as unknown as LoopEvidence;
  const looped = after({ type: 'loop', evidence });
  expect(looped.loops).toEqual([evidence]);
  const decided = after({ type: 'decided', choice: 'rewind' }, { ...looped, state: { status: 'paused', turnId } });
  expect(decided.state).toEqual({ status: 'running', turnId });
  expect(decided.loops.at(-1)).toMatchObject({ decided: 'rewind' });
});

test('a failure says what it cost, or leaves what was known', () => {
  const known = { ...running, usage, timings };
  expect(after({ type: 'failed', failure }, known)).toMatchObject({ usage, timings });
  const more = { ...usage, answerTokens: 9 };
  const later = { ...timings, totalMs: 9 };
  expect(after({ type: 'failed', failure, usage: more, timings: later }, known)).toMatchObject({
    usage: more,
    timings: later,
  });
});

test('a call that changes stays in its place; one that asks lets the chat wait, one that runs does not', () => {
  const first = after({ type: 'tool', use: asking('a') });
  const second = after({ type: 'tool', use: asking('b') }, first);
  const changed = after({ type: 'tool', use: asking('a', 'running') }, second);
  expect(changed.toolUses).toEqual([asking('a', 'running'), asking('b')]);
  const data = withOpened(withChat(noChats, chat), chat, [running]);
  const busy = (use: ToolUse) =>
    withTurnEvents(data, [{ chatId: chat.id, messageId: running.id, turnId, event: { type: 'tool', use } }], 0).busy;
  expect(busy(asking('a')).get(chat.id)).toBe('waiting');
  expect(busy(asking('a', 'running')).get(chat.id)).toBe('writing');
});

test('reading is timed from its beginning; waiting moves the beginning of the turn along', () => {
  const read = (done: number): TurnEvent => ({ type: 'progress', done, total: 100, cached: 10 });
  const begun = applyToLive(undefined, turnId, read(20), 100) ?? undefined;
  const on = applyToLive(begun, turnId, read(60), 400);
  expect(on?.reading).toEqual({ done: 60, total: 100, cached: 10, since: 100 });
  const paused = applyToLive(begun, turnId, { type: 'paused', choices: ['stop'], suggested: 'stop' }, 500) ?? undefined;
  const decided = applyToLive(paused, turnId, { type: 'decided', choice: 'keep-going' }, 2500);
  expect(decided).toMatchObject({ startedAt: 2100, firstTokenAt: null, pause: null });
  // A decision without a pause moves nothing.
  expect(applyToLive(begun, turnId, { type: 'decided', choice: 'keep-going' }, 2500)?.startedAt).toBe(100);
});

test('events of a message that is not there change nothing on the page', () => {
  const data = withOpened(withChat(noChats, chat), chat, [running]);
  const lost = newMessage(chat.id, 'assistant');
  const event: TurnEvent = { type: 'delta', kind: 'answer', text: 'x', tokens: 1 };
  const next = withTurnEvents(data, [{ chatId: chat.id, messageId: lost.id, turnId, event }], 0);
  expect(next.open).toBe(data.open);
  expect(next.live.size).toBe(0);
  const elsewhere = withTurnEvents(noChats, [{ chatId: chat.id, messageId: running.id, turnId, event }], 0);
  expect(elsewhere.open).toBeNull();
});

test('a further page of chats adds what is not known, and changes nothing of what is', () => {
  const [newer, older] = [newChat({ updatedAt: 5 }), newChat({ updatedAt: 3 })];
  const data = withChat(noChats, newer);
  const next = withOlderChats(data, [{ ...newer, title: 'stale', updatedAt: 1 }, older]);
  expect(next.chats).toEqual([newer, older]);
});

test('of two chats of one moment the later name stands first, whichever came first', () => {
  const at = (id: string) => newChat({ id: id as ChatId, updatedAt: 5 });
  const ids = (...chats: ReturnType<typeof newChat>[]) => chats.reduce(withChat, noChats).chats.map(({ id }) => id);
  expect(ids(at('a'), at('b'))).toEqual(['b', 'a']);
  expect(ids(at('b'), at('a'))).toEqual(['b', 'a']);
});

test('the first chat of the list can be moved too; the open one follows what it is told, another does not', () => {
  const [first, second] = [newChat({ updatedAt: 9 }), newChat({ updatedAt: 8 })];
  const data = withOpened([first, second].reduce(withChat, noChats), first, []);
  const moved = withChat(data, { ...first, title: 'New', updatedAt: 10 });
  expect(moved.chats.map(({ id }) => id)).toEqual([first.id, second.id]);
  expect(moved.open?.chat.title).toBe('New');
  expect(withChat(data, { ...second, title: 'Other', updatedAt: 10 }).open?.chat.id).toBe(first.id);
  expect(withoutChat(data, second.id)).toMatchObject({ chats: [{ id: first.id }], open: { chat: { id: first.id } } });
  expect(withoutChat(data, first.id)).toMatchObject({ chats: [{ id: second.id }], open: null });
});

test('a message that has ended writes no longer; one that runs goes on', () => {
  const data = withOpened(withChat(noChats, chat), chat, [running]);
  const event: TurnEvent = { type: 'delta', kind: 'answer', text: 'x', tokens: 1 };
  const live = withTurnEvents(data, [{ chatId: chat.id, messageId: running.id, turnId, event }], 0);
  expect(withMessage(live, running).live.has(running.id)).toBe(true);
  const done: Message = { ...running, state: { status: 'done', reason: 'stop' }, text: 'whole' };
  const ended = withMessage(live, done);
  expect(ended.live.has(running.id)).toBe(false);
  expect(ended.open?.messages.get(running.id)).toBe(done);
  expect(withoutMessage(ended, newChat().id, running.id)).toBe(ended);
});

test('a question about passages is no error, and every other failure is one', () => {
  const failed = (reason?: string): Message => ({
    ...running,
    state: { status: 'failed', failure: { ...failure, ...(reason && { details: { reason } }) } },
  });
  expect(asksForPassages(failed('passages-stay'))).toBe(true);
  expect(asksForPassages(failed('engine-key'))).toBe(false);
  expect(asksForPassages(failed())).toBe(false);
  expect(asksForPassages(running)).toBe(false);
  const empty: ChatData = noChats;
  expect(withoutMessage(empty, chat.id, running.id)).toBe(empty);
});
