import { expect, test } from 'vitest';
import type { ChatId, Message, MessageId } from '../../../../app/protocol/index.ts';
import { branchesOf, firstWords, isForked } from '../../../../renderer/stores/chat/branches.ts';
import { markersOf, newestEnd } from '../../../../renderer/stores/chat/tree.ts';
import { visibleBranch } from '../../../../renderer/stores/chat/visible-branch.ts';
import { newChat, newMessage } from '../../../support/fakes/world.ts';

const chatId = 'chat' as ChatId;

/** One message a line: its name, the name of the one before it, what it says. Each a minute younger than the last. */
function tree(...lines: [string, string | null, Partial<Message>?][]): Map<MessageId, Message> {
  return new Map(
    lines.map(([id, parentId, change], at) => {
      const role = id.startsWith('q') ? 'user' : 'assistant';
      const placed = { id: id as MessageId, parentId: parentId as MessageId | null, createdAt: at * 60_000 };
      return [id as MessageId, newMessage(chatId, role, { ...placed, text: id, ...change })];
    }),
  );
}

const shown = (messages: Map<MessageId, Message>) =>
  branchesOf(messages).map(({ leaf, begin, after, count }) => [leaf, begin.id, after?.id ?? null, count]);

test('on screen is the branch that the chat was left at, and where a new one begins, what stands before it', () => {
  const messages = tree(['q1', null], ['a1', 'q1'], ['a1b', 'q1']);
  const open = { chat: newChat({ leafId: 'a1b' as MessageId }), messages, shape: messages };
  const onScreen = (branchFrom: string | null) =>
    visibleBranch({ open, branchFrom: branchFrom as MessageId | null, editing: null }).map(({ id }) => id);
  expect(onScreen(null)).toEqual(['q1', 'a1b']);
  expect(onScreen('a1')).toEqual(['q1', 'a1']);
});

test('a chat without versions is one branch, and not forked', () => {
  const messages = tree(['q1', null], ['a1', 'q1'], ['q2', 'a1'], ['a2', 'q2']);
  expect(shown(messages)).toEqual([['a2', 'q1', null, 4]]);
  expect(isForked(messages)).toBe(false);
  expect(isForked(undefined)).toBe(false);
  expect(branchesOf(new Map())).toEqual([]);
});

test('each branch has what no other has, in the order of the tree', () => {
  const messages = tree(
    ['q1', null],
    ['a1', 'q1'],
    ['q2', 'a1'],
    ['a2', 'q2'],
    ['a1b', 'q1'],
    ['q2b', 'a1'],
    ['a2b', 'q2b'],
    ['q3', 'a2b'],
    ['q1b', null],
    ['a1c', 'q1b'],
  );
  expect(shown(messages)).toEqual([
    ['a2', 'q2', 'a1', 2],
    ['q3', 'q2b', 'a1', 3],
    ['a1b', 'a1b', 'q1', 1],
    ['a1c', 'q1b', null, 2],
  ]);
  expect(isForked(messages)).toBe(true);
});

test('what waits to be sent is no branch, what is being written is one', () => {
  const running = { status: 'running', turnId: 'turn' as never } as const;
  const messages = tree(['q1', null], ['a1', 'q1', { state: running }], ['q2', 'q1', { state: { status: 'queued' } }]);
  expect(shown(messages)).toEqual([['a1', 'q1', null, 2]]);
  expect(branchesOf(messages)[0]?.writing).toBe(true);
});

test('messages whose chain is broken or goes in a circle are no reason to stop', () => {
  const broken = tree(['q1', 'lost'], ['a1', 'q1'], ['q2', null], ['a2', 'q2']);
  expect(shown(broken)).toEqual([
    ['a1', 'q1', null, 2],
    ['a2', 'q2', null, 2],
  ]);
  expect(branchesOf(tree(['q1', 'a1'], ['a1', 'q1']))).toEqual([]);
});

test('the newest way through a message ends at the youngest sent message below it; a circle ends too', () => {
  const queued = { state: { status: 'queued' } } as const;
  const messages = tree(['q1', null], ['a1', 'q1'], ['a1b', 'q1'], ['q2', 'a1b'], ['q3', 'a1'], ['q4', 'q2', queued]);
  expect(newestEnd(messages, 'q1' as MessageId)).toBe('q2');
  expect(newestEnd(messages, 'a1' as MessageId)).toBe('q3');
  expect(newestEnd(messages, 'q2' as MessageId)).toBe('q2');
  expect(newestEnd(tree(['q1', 'a1'], ['a1', 'q1']), 'q1' as MessageId)).toBe('a1');
});

test('20,000 messages in one line are walked, not recursed into', () => {
  const lines = Array.from({ length: 20_000 }, (_, at): [string, string | null] => [
    `${at % 2 ? 'a' : 'q'}${at}`,
    at === 0 ? null : `${at % 2 ? 'q' : 'a'}${at - 1}`,
  ]);
  expect(branchesOf(tree(...lines))).toHaveLength(1);
});

test('the first words stand on one line without marks', () => {
  const say = (text: string) => firstWords(newMessage(chatId, 'assistant', { text }));
  expect(say('## A **bold** title\n\n- with `code`')).toBe('A bold title - with code');
  expect(say('x'.repeat(1_000_000))).toHaveLength(160);
  expect(say('')).toBe('');
});

test('everything up to the last message that was left out is out of view, and lines before it are not drawn', () => {
  const cut = (restored: boolean): Partial<Message> => ({ contextCutoff: { since: 1, summary: null, restored } });
  const branch = (...changes: Partial<Message>[]) =>
    changes.map((change, at) => newMessage(chatId, 'user', { id: `m${at}` as MessageId, ...change }));
  expect(markersOf(branch({}, {}))).toEqual({ outOfView: 0, marked: new Set() });
  expect(markersOf(branch(cut(false), {}, {}))).toEqual({ outOfView: 1, marked: new Set(['m0']) });
  expect(markersOf(branch(cut(false), {}, cut(false), {}))).toEqual({ outOfView: 3, marked: new Set(['m2']) });
  expect(markersOf(branch(cut(true), cut(false), {}, cut(true)))).toEqual({
    outOfView: 2,
    marked: new Set(['m1', 'm3']),
  });
  expect(markersOf(branch({}, cut(true), {}))).toEqual({ outOfView: 0, marked: new Set(['m1']) });
});
