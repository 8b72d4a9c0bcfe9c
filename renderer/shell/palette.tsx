import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SearchHit } from '../../app/protocol/index.ts';
import { core, isMac } from '../bridge.ts';
import { keysOfCommand } from '../commands/command-keys.ts';
import { type Command as AppCommand, commands, openChat, openMessage } from '../commands/commands.ts';
import { focusComposer } from '../lib/focus.ts';
import { caps } from '../lib/keys.ts';
import { matchOf } from '../lib/word-match.ts';
import { useChat } from '../stores/chat/store.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { Highlighted } from '../ui/highlight/highlight.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Key } from '../ui/kbd.tsx';
import { chatHitsOf } from './chat-hits.ts';

/** Search of chats and all commands, in one field. ">" shows commands only. */
export function Palette() {
  const { t } = useTranslation();
  const mode = useShell((state) => state.palette);
  const setPalette = useShell((state) => state.setPalette);
  const close = () => setPalette('closed');
  return (
    <Dialog.Root open={mode !== 'closed'} onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-x-0 top-[min(7rem,12.5vh)] z-30 mx-auto flex max-h-[70vh] w-[min(var(--container-palette),calc(100vw-2rem))] flex-col overflow-hidden rounded-xl bg-raised shadow-3 outline-none data-[state=open]:animate-enter"
        >
          <Dialog.Title className="sr-only">{t('commands.palette')}</Dialog.Title>
          <Search onlyChats={mode === 'chats'} close={close} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const SEARCH_MS = 80;
/** Maximum message hits; several in one chat share a row. */
const FOUND = 60;
const RECENT = 8;

function useHits(query: string): SearchHit[] {
  const [hits, setHits] = useState<SearchHit[]>([]);
  useEffect(() => {
    if (query === '') {
      setHits([]);
      return;
    }
    let gone = false;
    const timer = setTimeout(async () => {
      const found = await core.call('chats.search', { query, limit: FOUND }).catch(() => []);
      if (!gone) setHits(found);
    }, SEARCH_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [query]);
  return hits;
}

/** A hit in a title has no message. */
const openHit = ({ chatId, messageId }: SearchHit) =>
  messageId === null ? openChat(chatId) : void openMessage(chatId, messageId);

function Search({ onlyChats, close }: { onlyChats: boolean; close: () => void }) {
  const { t } = useTranslation();
  const own = useSettings((state) => state.values.keybindings);
  const chats = useChat((state) => state.chats);
  const open = useChat((state) => state.chosen);
  const [typed, setTyped] = useState('');
  const [available] = useState(() => commands.filter((command) => !command.hidden && command.available()));
  const onlyCommands = typed.startsWith('>');
  const query = (onlyCommands ? typed.slice(1) : typed).trim();
  const found = chatHitsOf(useHits(onlyCommands ? '' : query));
  const recent = query === '' && !onlyCommands ? chats.filter(({ id }) => id !== open).slice(0, RECENT) : [];
  const shownCommands = onlyChats
    ? []
    : available.flatMap((command) => {
        const ranges = matchOf(t(`commands.${command.id}`), query);
        return ranges ? [{ command, ranges }] : [];
      });
  const run = (action: () => void) => {
    close();
    requestAnimationFrame(action);
  };
  const ask = () =>
    run(() => {
      useShell.getState().go({ kind: 'chat' });
      void useChat.getState().beginWith(query).then(focusComposer);
    });
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (isMac() ? event.metaKey : event.ctrlKey) && query !== '') {
      event.preventDefault();
      ask();
    }
  };
  return (
    <Command
      shouldFilter={false}
      loop
      label={t('commands.palette')}
      onKeyDown={onKey}
      className="flex min-h-0 flex-col"
    >
      <div className="flex h-13 flex-none items-center gap-3 border-b border-line px-4.5">
        <Icon name="search" size={20} className="text-fg-3" />
        <Command.Input
          value={typed}
          onValueChange={setTyped}
          placeholder={t('palette.placeholder')}
          className="min-w-0 flex-1 bg-transparent text-lg outline-none"
        />
      </div>
      <Command.List className="min-h-0 flex-1 overflow-y-auto pb-2" label={t('palette.results')}>
        {recent.length > 0 && (
          <Group heading={t('palette.recent')}>
            {recent.map((chat) => (
              <Line key={chat.id} value={chat.id} icon="chat" onSelect={() => run(() => openChat(chat.id))}>
                <span className="truncate">{chat.title || t('chat.untitled')}</span>
              </Line>
            ))}
          </Group>
        )}
        {shownCommands.length > 0 && (
          <Group heading={t('palette.commands')}>
            {shownCommands.map(({ command, ranges }) => (
              <Line
                key={command.id}
                value={command.id}
                icon={command.icon}
                onSelect={() => run(command.run)}
                keys={keysOfCommand(command.id, own)}
              >
                <span className="flex-none">
                  <Highlighted text={t(`commands.${command.id}`)} ranges={ranges} />
                </span>
                <Hint command={command} />
              </Line>
            ))}
          </Group>
        )}
        {found.length > 0 && (
          <Group heading={t('palette.chats')}>
            {found.map(({ hit, messages }) => (
              <Line key={hit.chatId} value={hit.chatId} icon="chat" onSelect={() => run(() => openHit(hit))}>
                <span className="max-w-1/2 flex-none truncate">
                  {hit.messageId || hit.title === '' ? (
                    hit.title || t('chat.untitled')
                  ) : (
                    <Highlighted text={hit.title} ranges={hit.highlights} />
                  )}
                </span>
                {hit.messageId && (
                  <span className="min-w-0 truncate text-fg-3">
                    <Highlighted text={hit.excerpt} ranges={hit.highlights} />
                  </span>
                )}
                {messages > 1 && (
                  <span className="flex-none text-xs text-fg-3 tabular-nums">
                    {t('palette.messages', { count: messages })}
                  </span>
                )}
              </Line>
            ))}
          </Group>
        )}
        {query !== '' && shownCommands.length === 0 && found.length === 0 && (
          <Group heading={t('palette.nothing')}>
            <Line value="ask" icon="new" onSelect={ask}>
              <span className="truncate">{t('palette.ask', { text: query })}</span>
            </Line>
          </Group>
        )}
      </Command.List>
      <Footer />
    </Command>
  );
}

/** The current value of what the command changes. */
function Hint({ command }: { command: AppCommand }) {
  const { t } = useTranslation();
  const chat = useChat((state) => state.open?.chat ?? null);
  if (command.id === 'thinking')
    return <span className="truncate text-fg-3">{t(`thinking.now.${nameOfThinking(chat?.thinking ?? null)}`)}</span>;
  if (command.id === 'loop-guard' && chat)
    return <span className="truncate text-fg-3">{chat.loopGuard ? t('palette.onNow') : t('palette.offNow')}</span>;
  return null;
}

const nameOfThinking = (thinking: boolean | null) => (thinking === null ? 'auto' : thinking ? 'on' : 'off');

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-4.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-fg-3"
    >
      {children}
    </Command.Group>
  );
}

type LineProps = { value: string; icon: IconName; keys?: string | null; onSelect: () => void; children: ReactNode };

function Line({ value, icon, keys, onSelect, children }: LineProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="group mx-2 flex h-9 items-center gap-3 rounded-md px-2.5 data-[selected=true]:bg-ink-soft"
    >
      <Icon name={icon} className="text-fg-3 group-data-[selected=true]:text-ink-text" />
      {children}
      <span className="flex-1" />
      {keys && (
        <span className="flex gap-1">
          {caps(keys, isMac()).map((cap) => (
            <Key key={cap}>{cap}</Key>
          ))}
        </span>
      )}
    </Command.Item>
  );
}

function Footer() {
  const { t } = useTranslation();
  const hint = 'inline-flex items-center gap-1.5';
  return (
    <div className="flex h-9 flex-none items-center gap-4.5 border-t border-line px-4.5 text-xs text-fg-3">
      <span className={hint}>
        <Key>↑</Key>
        <Key>↓</Key>
        {t('palette.choose')}
      </span>
      <span className={hint}>
        <Key>↩</Key>
        {t('palette.run')}
      </span>
      <span className={hint}>
        <Key>{isMac() ? '⌘' : 'Ctrl'}</Key>
        <Key>↩</Key>
        {t('palette.inNewChat')}
      </span>
      <span className={`${hint} ms-auto`}>
        <Key>{'>'}</Key>
        {t('palette.onlyCommands')}
      </span>
    </div>
  );
}
