import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { isMac } from '../bridge.ts';
import { keysOfCommand } from '../commands/command-keys.ts';
import { commandById } from '../commands/commands.ts';
import { shown } from '../lib/keys.ts';
import { PanelBoundary } from '../parts/error-boundaries.tsx';
import { SidebarButtons } from '../parts/sidebar-buttons.tsx';
import { actions, useChat } from '../stores/chat/store.ts';
import type { Messages } from '../stores/chat/tree.ts';
import { useSettings } from '../stores/settings.ts';
import { IconButton } from '../ui/button.tsx';
import { BranchesMenu } from './branches-menu.tsx';
import { ChatMenu } from './chat-menu.tsx';
import { ChatSettings } from './chat-settings.tsx';
import { Composer } from './composer/composer.tsx';
import { LargerModel } from './larger-model.tsx';
import { Overflow } from './overflow/overflow.tsx';
import { SourcesPanel } from './sources/sources-panel.tsx';
import { Announcer } from './transcript/announcer.tsx';
import { Empty } from './transcript/empty.tsx';
import { ErrorReport } from './transcript/failures/error-report.tsx';
import { PlainAfterCrashes } from './transcript/failures/plain-chat.tsx';
import { UnopenedChat } from './transcript/failures/unopened-chat.tsx';
import { Find } from './transcript/find/find.tsx';
import { Transcript } from './transcript/transcript.tsx';

/** Subscribes to nothing that changes while an answer is written; only the transcript does. */
export function ChatPage() {
  const overlay = useChat((state) => state.overlay.kind);
  const source = useChat(({ sources }) => (sources ? `${sources.messageId} ${sources.number}` : ''));
  const chosen = useChat((state) => state.chosen);
  const unopened = useChat((state) => (state.open ? null : state.unopened));
  const empty = useChat((state) => state.chosen === null || state.open?.messages.size === 0);
  return (
    <div className="flex h-full min-w-0">
      <main className="@container relative flex h-full min-w-0 flex-1 flex-col">
        <Header />
        {empty || chosen === null ? (
          <Empty />
        ) : unopened ? (
          <UnopenedChat chatId={chosen} failure={unopened} />
        ) : (
          <>
            <PlainAfterCrashes key={chosen} chatId={chosen}>
              <Transcript />
            </PlainAfterCrashes>
            <div className="flex-none pt-2 pb-4">
              <div className="mx-auto w-full max-w-[calc(var(--container-read)+3rem)] px-6">
                <PanelBoundary>
                  <LargerModel />
                </PanelBoundary>
                <PanelBoundary>
                  <Composer />
                </PanelBoundary>
              </div>
            </div>
          </>
        )}
        <PanelBoundary floating>
          <Announcer />
        </PanelBoundary>
        <PanelBoundary floating subject={overlay} onClose={() => actions.setOverlay({ kind: 'none' })}>
          <ChatSettings />
          <Overflow />
          <ErrorReport />
        </PanelBoundary>
      </main>
      <PanelBoundary subject={source} onClose={actions.hideSources}>
        <SourcesPanel />
      </PanelBoundary>
    </div>
  );
}

/** Shown once an answer has sources. */
function SourcesButton() {
  const { t } = useTranslation();
  const on = useChat((state) => state.sources !== null);
  const messages = useChat((state) => state.open?.shape);
  const some = useMemo(() => hasSources(messages), [messages]);
  const own = useSettings((state) => state.values.keybindings);
  const command = commandById('sources');
  const keys = keysOfCommand(command.id, own);
  if (!some) return null;
  return (
    <IconButton
      icon="panel"
      label={t('commands.sources')}
      {...(keys && { keys: shown(keys, isMac()) })}
      on={on}
      aria-pressed={on}
      onClick={command.run}
      className="no-drag"
    />
  );
}

const hasSources = (messages: Messages | undefined): boolean =>
  [...(messages?.values() ?? [])].some(({ grounding }) => (grounding?.sources.length ?? 0) > 0);

function Header() {
  const { t } = useTranslation();
  const chat = useChat((state) => (state.open && state.open.messages.size > 0 ? state.open.chat : null));
  const overlay = useChat((state) => state.overlay.kind);
  const own = useSettings((state) => state.values.keybindings);
  const find = commandById('find');
  const keys = keysOfCommand('find', own);
  return (
    <header className="drag-region flex h-bar flex-none items-center gap-2 ps-5 pe-3">
      <SidebarButtons />
      {chat && (
        <>
          <h1 dir="auto" className="min-w-0 truncate font-semibold">
            {chat.title || t('chat.untitled')}
          </h1>
          <ChatMenu chat={chat} icon="down" />
        </>
      )}
      <span className="flex-1" />
      {chat && overlay === 'find' && <Find />}
      {chat && overlay !== 'find' && (
        <IconButton
          icon="search"
          label={t('commands.find')}
          {...(keys && { keys: shown(keys, isMac()) })}
          onClick={find.run}
          className="no-drag max-md:hidden"
        />
      )}
      {chat && <BranchesMenu />}
      <SourcesButton />
      {chat && <ChatMenu chat={chat} icon="more" />}
    </header>
  );
}
