import { type KeyboardEvent, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Virtualizer } from 'virtua';
import type { Chat } from '../../app/protocol/index.ts';
import { useChat } from '../chat/store.ts';
import { type Period, periodOf } from '../ui/format.ts';
import { ChatRow } from './chat-row.tsx';

type Group = { name: 'pinned' | Period; chats: Chat[] };

/** Pinned chats, then all others by age. However many there are, only those in sight are drawn. */
export function ChatList() {
  const { t } = useTranslation();
  const chats = useChat((state) => state.chats);
  const list = useRef<HTMLElement>(null);
  const groups = useMemo(() => groupsOf(chats), [chats]);
  return (
    <nav
      ref={list}
      aria-label={t('sidebar.chats')}
      onKeyDown={(event) => moveFocus(event, list.current)}
      className="-mx-2 min-h-0 flex-1 overflow-y-auto px-2 pt-px pb-3"
    >
      <Virtualizer scrollRef={list} bufferSize={400}>
        {groups.flatMap(({ name, chats: members }) => [
          <h2 key={name} className="flex h-9.25 items-end px-2 pb-1.25 text-2xs font-semibold text-fg-3">
            {t(`sidebar.${name}`)}
          </h2>,
          ...members.map((chat) => <ChatRow key={chat.id} chat={chat} />),
        ])}
      </Virtualizer>
    </nav>
  );
}

export function groupsOf(chats: readonly Chat[], now = Date.now()): Group[] {
  const groups = Map.groupBy(chats, (chat) => (chat.pinned ? 'pinned' : periodOf(chat.updatedAt, now)));
  return (['pinned', 'today', 'yesterday', 'earlier'] as const).flatMap((name) => {
    const members = groups.get(name);
    return members ? [{ name, chats: members }] : [];
  });
}

/** ↑ and ↓ walk through the rows, as in every list. */
function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.altKey || event.ctrlKey || event.metaKey || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
  const rows = [...(list?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const next = rows[rows.indexOf(document.activeElement as HTMLElement) + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
