import { type KeyboardEvent, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, MessageId } from '../../../app/protocol/index.ts';
import { isMac } from '../../bridge.ts';
import { focusComposer } from '../../lib/focus.ts';
import { shown } from '../../lib/keys.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { queueOf } from '../../stores/chat/tree.ts';
import { runningTurn } from '../../stores/chat/visible-branch.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

/** The waiting messages of the chat on screen, in the order they go. */
export function useQueue(): Message[] {
  const messages = useChat((state) => state.open?.shape);
  return useMemo(() => (messages ? queueOf(messages) : []), [messages]);
}

type QueueProps = { waiting: readonly Message[]; full: boolean };

/** Messages waiting for the answer to end; after a failure or a restart, for the user to send them. `full`: there is no room
 *  for the message being typed. */
export function Queue({ waiting, full }: QueueProps) {
  const { t } = useTranslation();
  const idle = useChat((state) => runningTurn(state) === null);
  const [movedId, setMovedId] = useState<MessageId | null>(null);
  if (waiting.length === 0) return null;
  const place = waiting.findIndex(({ id }) => id === movedId) + 1;
  return (
    <div className="mx-3.5 -mb-px overflow-hidden rounded-t-lg bg-sunken text-fg-2 hairline-soft">
      <ol aria-label={t('queue.label')} className="divide-y divide-line">
        {waiting.map((message, index) => (
          <Row
            key={message.id}
            message={message}
            word={index > 0 ? t('queue.later') : idle ? t('queue.unsent') : t('queue.next')}
            first={index === 0}
            movable={waiting.length > 1}
            sendable={index === 0 && idle}
            onMove={(by) => {
              setMovedId(message.id);
              void actions.moveQueued(message.id, by);
            }}
          />
        ))}
      </ol>
      <p role="status" className={full ? 'border-t border-line px-3 py-2 text-xs' : 'sr-only'}>
        {full ? t('queue.full') : place > 0 && t('queue.moved', { place, count: waiting.length })}
      </p>
    </div>
  );
}

type RowProps = {
  message: Message;
  /** When it will be sent. */
  word: string;
  first: boolean;
  movable: boolean;
  sendable: boolean;
  onMove: (by: -1 | 1) => void;
};

/** Editing takes the message back into the composer. Alt and an arrow move it, from any of its buttons. */
function Row({ message, word, first, movable, sendable, onMove }: RowProps) {
  const { t } = useTranslation();
  const { editQueued, takeBack, sendQueued } = actions;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    onMove(event.key === 'ArrowUp' ? -1 : 1);
  };
  const remove = () => {
    focusComposer();
    void editQueued(message.id, null);
  };
  const send = () => {
    focusComposer();
    void sendQueued(message.id);
  };
  const button = 'h-6 flex-none rounded-sm px-2 text-xs font-medium hover:bg-hover';
  return (
    <li className="flex h-8.5 items-center gap-2 ps-3 pe-1.5" onKeyDown={onKeyDown}>
      <Icon name="clock" size={14} />
      <span className="flex-none text-fg-3">{word}</span>
      <bdi className="min-w-0 flex-1 truncate">{wordsOf(message)}</bdi>
      {sendable && (
        <button type="button" className={button} onClick={send}>
          {t('queue.send')}
        </button>
      )}
      <button type="button" className={button} onClick={() => void takeBack(message.id)}>
        {t('queue.edit')}
      </button>
      <span className="flex flex-none">
        {movable && (
          <IconButton
            small
            icon={first ? 'down' : 'up'}
            label={first ? t('queue.after') : t('queue.earlier')}
            keys={shown(first ? 'Alt+ArrowDown' : 'Alt+ArrowUp', isMac())}
            onClick={() => onMove(first ? 1 : -1)}
          />
        )}
        <IconButton small icon="close" label={t('queue.remove')} onClick={remove} />
      </span>
    </li>
  );
}

/** A message with files only is shown by their names. */
const wordsOf = ({ text, attachments }: Message) => text || attachments.map(({ name }) => name).join(', ');
