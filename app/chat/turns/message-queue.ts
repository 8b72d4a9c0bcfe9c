import { LonghandError, type Message, type MessageId } from '../../protocol/index.ts';
import { detachAttachments } from '../../store/chats/attachments.ts';
import { deleteMessage, getMessage, messagesOf, updateMessage } from '../../store/chats/messages.ts';
import type { ChatDeps } from '../deps.ts';
import { queued } from '../tree.ts';

/** Edits to messages that wait for the current answer to end. */
export type MessageQueue = {
  /** `text` null: the message is withdrawn. */
  editQueued(messageId: MessageId, text: string | null): void;
  moveQueued(messageId: MessageId, by: -1 | 1): void;
  /** A message that is still waiting. @throws LonghandError `conflict` */
  waiting(messageId: MessageId): Message;
  toFront(message: Message): void;
};

export function createMessageQueue({ db, emit }: Pick<ChatDeps, 'db' | 'emit'>): MessageQueue {
  /** @throws LonghandError `conflict` */
  function waitingMessage(call: string, messageId: MessageId): Message {
    const message = getMessage(db, messageId);
    if (message.state.status !== 'queued') throw new LonghandError('conflict', `[${call}] it has already been sent`);
    return message;
  }

  function moveTo(message: Message, to: number) {
    const others = queued(messagesOf(db, message.chatId)).filter(({ id }) => id !== message.id);
    const moved = db.transaction(() =>
      others
        .toSpliced(to, 0, message)
        .map(({ id }, place) => updateMessage(db, id, { state: { status: 'queued', place } })),
    );
    for (const one of moved) emit('message.changed', one);
  }

  return {
    editQueued(messageId, text) {
      const message = waitingMessage('turns.editQueued', messageId);
      if (text !== null) {
        emit('message.changed', updateMessage(db, messageId, { text }));
        return;
      }
      db.transaction(() => {
        detachAttachments(db, messageId);
        deleteMessage(db, messageId);
      });
      emit('message.deleted', { chatId: message.chatId, messageId });
    },

    moveQueued(messageId, by) {
      const message = waitingMessage('turns.moveQueued', messageId);
      const at = queued(messagesOf(db, message.chatId)).findIndex(({ id }) => id === messageId);
      moveTo(message, Math.max(0, at + by));
    },

    waiting: (messageId) => waitingMessage('turns.sendQueued', messageId),
    toFront: (message) => moveTo(message, 0),
  };
}
