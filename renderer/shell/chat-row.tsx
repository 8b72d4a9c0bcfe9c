import { ContextMenu } from 'radix-ui';
import { memo, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Chat } from '../../app/protocol/index.ts';
import { openChat } from '../commands/commands.ts';
import { deleteChat } from '../commands/delete-chat.ts';
import { actions, useChat } from '../stores/chat/store.ts';
import { useShell } from '../stores/shell.ts';
import { IconButton } from '../ui/button.tsx';
import { isComposing } from '../ui/ime.ts';
import { Menu, MenuItem, MenuLine } from '../ui/overlays/menu.tsx';

/** ← and → move between the row and its options. `stop`: Tab stops at this row of the list. */
export const ChatRow = memo(function ChatRow({ chat, stop }: { chat: Chat; stop: boolean }) {
  const { t } = useTranslation();
  const inChats = useShell((state) => state.place.kind === 'chat');
  const current = useChat((state) => state.chosen === chat.id) && inChats;
  const busy = useChat((state) => state.busy.get(chat.id));
  const unread = useChat((state) => state.unread.has(chat.id));
  const renaming = useChat((state) => state.renaming === chat.id);
  const row = useRef<HTMLButtonElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  const { setRenaming } = actions;
  const { update } = actions;
  const title = chat.title || t('chat.untitled');
  if (renaming) return <Renaming chat={chat} />;
  const run = {
    rename: () => setRenaming(chat.id),
    pin: () => void update({ pinned: !chat.pinned }, chat.id),
    remove: () => void deleteChat(chat),
  };
  return (
    <div className="group relative mb-px flex items-center">
      <ContextMenu.Root>
        <ContextMenu.Trigger asChild>
          <button
            type="button"
            ref={row}
            data-row={chat.id}
            tabIndex={stop ? 0 : -1}
            aria-current={current ? 'page' : undefined}
            onClick={() => openChat(chat.id)}
            onDoubleClick={run.rename}
            onKeyDown={(event) => {
              if (event.key === 'F2') run.rename();
              if (event.key === 'Delete' || event.key === 'Backspace') run.remove();
              if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') more.current?.focus();
            }}
            className={`flex h-row w-full items-center gap-2 rounded-sm px-2 ring-inset-focus ${current ? 'bg-select font-medium text-fg' : 'text-fg-2 group-hover:bg-hover'}`}
          >
            <span dir="auto" className="min-w-0 flex-1 truncate group-hover:pe-5 group-focus-within:pe-5">
              {title}
            </span>
            {busy && (
              <span className={`size-1.75 rounded-full animate-breathe ${busy === 'waiting' ? 'bg-warn' : 'bg-ink'}`}>
                <span className="sr-only">{busy === 'waiting' ? t('chat.waiting') : t('chat.writing')}</span>
              </span>
            )}
            {!busy && unread && (
              <span className="size-1.75 rounded-full bg-ink">
                <span className="sr-only">{t('chat.unread')}</span>
              </span>
            )}
          </button>
        </ContextMenu.Trigger>
        <ContextMenu.Portal>
          <ContextMenu.Content className="z-40 min-w-44 rounded-lg bg-raised p-1.25 shadow-2">
            <ContextItem onSelect={run.rename}>{t('chat.rename')}</ContextItem>
            <ContextItem onSelect={run.pin}>{chat.pinned ? t('chat.unpin') : t('chat.pin')}</ContextItem>
            <ContextItem onSelect={run.remove}>{t('chat.delete')}</ContextItem>
          </ContextMenu.Content>
        </ContextMenu.Portal>
      </ContextMenu.Root>
      <span className="absolute end-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 has-data-[state=open]:opacity-100">
        <Menu
          label={t('chat.options')}
          align="end"
          trigger={
            <IconButton
              ref={more}
              small
              icon="more"
              label={t('chat.optionsOf', { title })}
              tabIndex={-1}
              onKeyDown={(event) => {
                if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') row.current?.focus();
              }}
            />
          }
        >
          <MenuItem takesFocus onSelect={run.rename}>
            {t('chat.rename')}
          </MenuItem>
          <MenuItem onSelect={run.pin}>{chat.pinned ? t('chat.unpin') : t('chat.pin')}</MenuItem>
          <MenuLine />
          <MenuItem onSelect={run.remove} danger>
            {t('chat.delete')}
          </MenuItem>
        </Menu>
      </span>
    </div>
  );
});

const ContextItem = ({ onSelect, children }: { onSelect: () => void; children: string }) => (
  <ContextMenu.Item
    onSelect={onSelect}
    className="flex min-h-row items-center rounded-sm px-2.5 outline-none select-none data-[highlighted]:bg-hover"
  >
    {children}
  </ContextMenu.Item>
);

/** Edits the title in place. Return and blur save it, Esc discards it. */
function Renaming({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  const [title, setTitle] = useState(chat.title);
  const { update } = actions;
  const { setRenaming } = actions;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const finish = (keep: boolean) => {
    setRenaming(null);
    if (keep && title.trim() !== '' && title.trim() !== chat.title) void update({ title: title.trim() }, chat.id);
  };
  return (
    <div className="mb-px flex h-row items-center">
      <input
        ref={field}
        aria-label={t('chat.title')}
        dir="auto"
        value={title}
        maxLength={500}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={() => finish(true)}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === 'Enter') finish(true);
          if (event.key === 'Escape') {
            event.stopPropagation();
            event.preventDefault();
            finish(false);
          }
        }}
        className="h-row w-full rounded-sm bg-raised px-2 hairline-focus focus-visible:outline-none"
      />
    </div>
  );
}
