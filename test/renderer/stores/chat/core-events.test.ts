// Events of the core reach the chat on the screen in the order in which they came.
import { expect, test, vi } from 'vitest';
import { createStore } from 'zustand/vanilla';
import type { Chat, Message, TurnEvent, TurnId } from '../../../../app/protocol/index.ts';
import type { ChatData } from '../../../../renderer/stores/chat/reducers.ts';
import type { ChatView } from '../../../../renderer/stores/chat/view-state.ts';
import { newChat, newMessage } from '../../../support/fakes/world.ts';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { createCoreEvents } = await import('../../../../renderer/stores/chat/core-events.ts');
const { noChats, withChat, withOpened } = await import('../../../../renderer/stores/chat/reducers.ts');

const turnId = 'turn-1' as TurnId;

function started() {
  const chat: Chat = newChat();
  const question = newMessage(chat.id, 'user', { text: 'why?' });
  const answer = newMessage(chat.id, 'assistant', { parentId: question.id, state: { status: 'running', turnId } });
  const data = withOpened(withChat(noChats, chat), { ...chat, leafId: answer.id }, [question, answer]);
  const view = { samples: new Map() } as Partial<ChatView> as ChatView;
  const store = createStore<ChatData & ChatView>(() => ({ ...data, ...view }));
  let hear: (frame: object) => void = () => {};
  attach({
    send: () => {},
    onMessage(listener) {
      hear = listener as never;
    },
    onClose: () => {},
    close: () => {},
  });
  createCoreEvents(store).listen();
  const { chatId, id: messageId } = answer;
  const turn = (event: TurnEvent) => hear({ event: 'turn', payload: { chatId, messageId, turnId, event } });
  const shown = () => store.getState().open?.messages.get(answer.id);
  return { answer, hear, turn, shown, samples: () => store.getState().samples.get(answer.id) ?? [] };
}

test('the end of an answer stands once, though the message with the whole text comes before it was shown', async () => {
  const { answer, hear, turn, shown, samples } = started();
  turn({ type: 'delta', kind: 'answer', text: 'Be', tokens: 1 });
  await expect.poll(() => shown()?.text).toBe('Be');
  turn({ type: 'delta', kind: 'answer', text: 'cause', tokens: 1 });
  const whole: Message = { ...answer, text: 'Because', state: { status: 'done', reason: 'stop' } };
  hear({ event: 'message.changed', payload: whole });
  expect(shown()?.text).toBe('Because');
  turn({ type: 'stats', sample: { atMs: 5, phase: 'answer', tokensPerSecond: 4, tokens: 2, memoryBytes: 1 } });
  await expect.poll(samples).toHaveLength(1);
  expect(shown()?.text).toBe('Because');
});

test('the speed of the answer on the screen is drawn from what is measured', async () => {
  const { turn, samples } = started();
  turn({ type: 'stats', sample: { atMs: 5, phase: 'answer', tokensPerSecond: 4, tokens: 2, memoryBytes: 1 } });
  await expect.poll(samples).toMatchObject([{ tokensPerSecond: 4 }]);
});
