import { expect, test } from 'vitest';
import type { Grounding } from '../../../../app/protocol/index.ts';
import { addAttachment } from '../../../../app/store/chats/attachments.ts';
import { createChat } from '../../../../app/store/chats/chats.ts';
import { addMessage, getMessage, messagesOf, updateMessage } from '../../../../app/store/chats/messages.ts';
import { addExchange, open } from '../support.ts';

test('an answer that is older than quotes is read without one; a newer one keeps its own', async () => {
  const store = await open();
  const { answerId } = addExchange(store, 'How high is the rent?', '840 euros.');
  const older = { found: true, by: 'words', question: 'rent', sources: [], support: [] } as unknown as Grounding;
  updateMessage(store.db, answerId, { grounding: older });
  expect(getMessage(store.db, answerId).grounding).toEqual({ ...older, quote: null });
  const quote = { source: 1, start: 0, end: 4, location: { kind: 'page' as const, page: 1 } };
  updateMessage(store.db, answerId, { grounding: { ...older, quote } });
  expect(getMessage(store.db, answerId).grounding?.quote).toEqual(quote);
});

test('every file that was sent with a message is shown with it, in the order in which they were attached', async () => {
  const { db } = await open();
  const { id: chatId } = createChat(db, null, Date.now());
  const file = (name: string) => addAttachment(db, chatId, { name, bytes: 3, tokens: 1, text: name }, Date.now());
  const [plan, offer, map] = [file('plan.md'), file('offer.pdf'), file('map.png')];
  const state = { status: 'done' as const, reason: null };
  const send = (parentId: Parameters<typeof getMessage>[1] | null, files: readonly { id: string }[]) =>
    addMessage(
      db,
      { chatId, parentId, role: 'user', text: 'Here.', state, attachments: files.map(({ id }) => id) },
      Date.now(),
    );
  const first = send(null, [map, plan]);
  const second = send(first.id, [offer]);
  const named = ({ attachments }: ReturnType<typeof getMessage>) => attachments.map(({ name }) => name);
  expect(messagesOf(db, chatId).map(named)).toEqual([['map.png', 'plan.md'], ['offer.pdf']]);
  expect([first, second].map(({ id }) => named(getMessage(db, id)))).toEqual([['map.png', 'plan.md'], ['offer.pdf']]);
});
