import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { actions, useChat } from './store.ts';
import { queueOf } from './tree.ts';

/** Messages that wait for the answer to end. Editing takes one back into the composer. */
export function Queue() {
  const { t } = useTranslation();
  const messages = useChat((state) => state.open?.shape);
  const { editQueued, takeBack } = actions;
  const waiting = useMemo(() => (messages ? queueOf(messages) : []), [messages]);
  return waiting.map((message, index) => (
    <div
      key={message.id}
      className="mx-3.5 -mb-px flex h-8.5 items-center gap-2 bg-sunken ps-3 pe-1.5 text-fg-2 hairline-soft first-of-type:rounded-t-lg"
    >
      <Icon name="clock" size={14} />
      <span className="min-w-0 flex-1 truncate">
        <span className="me-2 text-fg-3">{index === 0 ? t('queue.next') : t('queue.later')}</span>
        {message.text}
      </span>
      <button
        type="button"
        className="h-6 rounded-sm px-2 text-xs font-medium hover:bg-hover"
        onClick={() => void takeBack(message.id)}
      >
        {t('queue.edit')}
      </button>
      <IconButton small icon="close" label={t('queue.remove')} onClick={() => void editQueued(message.id, null)} />
    </div>
  ));
}
