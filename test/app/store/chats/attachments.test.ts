// Files of a chat: in the composer, with a message, and as what a tool gave.
import { expect, test } from 'vitest';
import type { AttachmentId } from '../../../../app/protocol/index.ts';
import {
  addAttachment,
  attachedTo,
  attachedWaiting,
  copyAttachments,
  detachAttachments,
  moveAttachments,
  pictureOf,
  picturesInUse,
  removeAttachment,
  textWaiting,
} from '../../../../app/store/chats/attachments.ts';
import { createChat } from '../../../../app/store/chats/chats.ts';
import { addMessage, getMessage } from '../../../../app/store/chats/messages.ts';
import { inMemory } from '../support.ts';

const file = { name: 'plan.md', bytes: 3, tokens: 1, text: 'abc' };
const photo = { name: 'mill.jpg', bytes: 9, tokens: null, text: '', picture: { stored: 'a.jpg', width: 4, height: 3 } };
const state = { status: 'done' as const, reason: null };

function composed() {
  const db = inMemory();
  const { id: chatId } = createChat(db, null, 1);
  const [text, picture] = [addAttachment(db, chatId, file, 1), addAttachment(db, chatId, photo, 1)];
  const send = (attachments: AttachmentId[], to = chatId) =>
    addMessage(db, { chatId: to, parentId: null, role: 'user', text: '', state, attachments }, 1);
  return { db, chatId, text, picture, send };
}

test('a text and a picture are told apart, as they are shown and as they go into a prompt', () => {
  const { db, text, picture, send } = composed();
  expect([text, picture]).toEqual([
    { id: text.id, name: 'plan.md', bytes: 3, tokens: 1, picture: null },
    { id: picture.id, name: 'mill.jpg', bytes: 9, tokens: null, picture: { width: 4, height: 3 } },
  ]);
  expect(textWaiting(db, text.id)).toEqual({ name: 'plan.md', text: 'abc' });
  expect(() => textWaiting(db, picture.id)).toThrow(`no unsent text ${picture.id}`);
  expect(pictureOf(db, picture.id)).toBe('a.jpg');
  expect(() => pictureOf(db, text.id)).toThrow(`no picture ${text.id}`);
  expect(picturesInUse(db)).toEqual(new Set(['a.jpg']));
  const prompt = [
    { name: 'mill.jpg', text: '', picture: photo.picture },
    { name: 'plan.md', text: 'abc', picture: null },
  ];
  expect(attachedWaiting(db, [picture.id, text.id])).toEqual(prompt);
  const { id, attachments } = send([picture.id, text.id]);
  expect(attachments).toEqual([picture, text]);
  expect(attachedTo(db, id)).toEqual(prompt);
  // What was sent waits no more.
  expect(attachedWaiting(db, [picture.id, text.id])).toEqual([]);
  expect(() => textWaiting(db, text.id)).toThrow('no unsent text');
});

test('what waits can be taken out and goes to another chat; what was sent stays with its message, and comes back when that is edited', () => {
  const { db, text, picture, send } = composed();
  const other = createChat(db, null, 2).id;
  removeAttachment(db, text.id);
  expect(() => removeAttachment(db, text.id)).toThrow(expect.objectContaining({ code: 'not-found' }));
  moveAttachments(db, [picture.id], other);
  const sent = send([picture.id], other);
  expect(sent.attachments).toEqual([picture]);
  expect(() => removeAttachment(db, picture.id)).toThrow(`no unsent attachment ${picture.id}`);
  moveAttachments(db, [picture.id], createChat(db, null, 3).id);
  const again = addMessage(db, { chatId: other, parentId: null, role: 'user', text: 'again', state }, 3);
  copyAttachments(db, sent.id, again.id, 3);
  expect(getMessage(db, again.id).attachments).toEqual([{ ...picture, id: expect.not.stringMatching(picture.id) }]);
  detachAttachments(db, sent.id);
  expect(getMessage(db, sent.id).attachments).toEqual([]);
  expect(attachedWaiting(db, [picture.id])).toHaveLength(1);
});
