import { type KeyboardEvent, type RefObject, useMemo, useRef } from 'react';
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
  const walk = useWalk(list);
  return (
    <nav
      ref={list}
      aria-label={t('sidebar.chats')}
      onKeyDown={walk}
      className="-mx-2 min-h-0 flex-1 scroll-pb-6 overflow-y-auto mask-b-from-[calc(100%-1.5rem)] px-2 pt-px pb-6"
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

/** Frames within which a row that keys have gone to is drawn. */
const DRAWN_WITHIN = 6;

/** ↑ and ↓ walk through the rows, as in every list; keys that are faster than the drawing of rows are not lost. */
function useWalk(list: RefObject<HTMLElement | null>): (event: KeyboardEvent) => void {
  const ahead = useRef(0);
  const walk = (frames: number) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const before = ahead.current;
    while (ahead.current !== 0) {
      const step = Math.sign(ahead.current);
      const next = rows[rows.indexOf(document.activeElement as HTMLElement) + step];
      if (!next) break;
      ahead.current -= step;
      next.focus();
    }
    const left = ahead.current === before ? frames - 1 : DRAWN_WITHIN;
    if (left === 0) ahead.current = 0;
    if (ahead.current !== 0) requestAnimationFrame(() => walk(left));
  };
  return (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const waiting = ahead.current !== 0;
    ahead.current += step;
    if (!waiting) walk(DRAWN_WITHIN);
  };
}
