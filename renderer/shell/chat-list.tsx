import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Virtualizer } from 'virtua';
import type { Chat } from '../../app/protocol/index.ts';
import { useChat } from '../stores/chat/store.ts';
import { useActiveRow } from '../ui/active-row.ts';
import { type Period, periodOf } from '../ui/format.ts';
import { ChatRow } from './chat-row.tsx';

type Group = { name: 'pinned' | Period; chats: Chat[] };

/** Pinned chats, then all others by age. Only visible rows are rendered. ↑ and ↓ move through the rows; Tab stops at one
 *  of them. */
export function ChatList() {
  const { t } = useTranslation();
  const chats = useChat((state) => state.chats);
  const chosen = useChat((state) => state.chosen);
  const groups = useMemo(() => groupsOf(chats), [chats]);
  const keys = useMemo(() => groups.flatMap(({ chats: members }) => [null, ...members.map(({ id }) => id)]), [groups]);
  const { scroller, list, stop, keepMounted, handlers } = useActiveRow(keys, { first: chosen });
  return (
    <nav
      ref={scroller}
      aria-label={t('sidebar.chats')}
      {...handlers}
      className="-mx-2 min-h-0 flex-1 scroll-pb-6 overflow-y-auto mask-b-from-[calc(100%-1.5rem)] px-2 pt-px pb-6"
    >
      <Virtualizer ref={list} scrollRef={scroller} bufferSize={400} keepMounted={keepMounted}>
        {groups.flatMap(({ name, chats: members }) => [
          <h2 key={name} className="flex h-9.25 items-end px-2 pb-1.25 text-2xs font-semibold text-fg-3">
            {t(`sidebar.${name}`)}
          </h2>,
          ...members.map((chat) => <ChatRow key={chat.id} chat={chat} stop={chat.id === stop} />),
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
