import { expect, test, vi } from 'vitest';
import type { ChatId, EngineStatus, TurnId } from '../../../../app/protocol/index.ts';
import { t } from '../../../../renderer/i18n.ts';
import { createFormats } from '../../../../renderer/ui/format.ts';
import { newChat, newMessage, starter } from '../../../support/fakes/world.ts';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { waitingFor } = await import('../../../../renderer/chat/transcript/waiting.tsx');

const chats = [newChat({ title: 'Sea Symphony' }), newChat({ title: 'The rent' })];
const [sea, rent] = chats as [(typeof chats)[0], (typeof chats)[0]];
const answer = newMessage(rent.id, 'assistant', { state: { status: 'running', turnId: 'mine' as TurnId } });
const reasonIn = (status: EngineStatus) => waitingFor(answer, status, chats, [starter], t, createFormats('en-GB'));
const writing = (turnId: string, chatId?: ChatId): EngineStatus => ({
  phase: 'busy',
  modelId: starter.id,
  backEnd: 'cpu',
  memoryBytes: 1,
  contextLength: 4096,
  writing: [{ turnId: turnId as TurnId, ...(chatId && { chatId }) }],
});

test('an answer that has not begun says what it waits for, by the name of the chat that comes first', () => {
  expect(reasonIn(writing('other', sea.id))).toContain('Sea Symphony');
  expect(reasonIn(writing('other', 'gone' as ChatId))).toMatch(/another/i);
  expect(reasonIn(writing('other'))).toMatch(/\w/);
});

test('one that is being written, is the first, or is loaded for has no such sentence or another one', () => {
  expect(reasonIn(writing('mine', rent.id))).toBeNull();
  expect(reasonIn({ phase: 'idle' })).toBeNull();
  expect(reasonIn({ phase: 'loading', modelId: starter.id, done: 30, total: 100 } as EngineStatus)).toContain('30');
});
