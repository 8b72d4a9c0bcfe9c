import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isMac } from '../bridge.ts';
import { type CommandId, keysOfCommand, useKeysHint } from '../commands/command-keys.ts';
import { commandById } from '../commands/commands.ts';
import { useFormats } from '../i18n.ts';
import { shown } from '../lib/keys.ts';
import { ProgressRing } from '../models/downloads/progress-ring.tsx';
import { useChat } from '../stores/chat/store.ts';
import { shareOf, useModels } from '../stores/models/store.ts';
import { useServer } from '../stores/server.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { ResizeEdge } from '../ui/resize-edge.tsx';
import { ChatList } from './chat-list.tsx';
import { Status } from './status.tsx';

/** Chats and pages keep their position on every screen. Entries added by other pages are between the two. */
export function Sidebar() {
  const { t } = useTranslation();
  const chosen = useChat((state) => state.chosen);
  const place = useShell((state) => state.place.kind);
  const width = useSettings((state) => state.values.sidebarWidth);
  const { set } = useSettings.getState();
  return (
    <aside
      aria-label={t('sidebar.label')}
      className="relative flex min-h-0 w-full flex-col border-e border-line bg-sidebar px-2"
    >
      <SidebarTop />
      <nav aria-label={t('sidebar.actions')} className="flex flex-col gap-px">
        <CommandRow id="new-chat" icon="new" current={place === 'chat' && chosen === null} />
        <CommandRow id="palette" icon="search" />
      </nav>
      <nav aria-label={t('sidebar.places')} className="mt-3.5 flex flex-col gap-px">
        <CommandRow place id="models-page" icon="models" current={place === 'models'} extra={<DownloadRing />} />
        <CommandRow place id="documents" icon="documents" current={place === 'documents'} />
        <CommandRow place id="performance" icon="performance" current={place === 'performance'} />
        <CommandRow place id="server" icon="server" current={place === 'server'} extra={<ServerDot />} />
      </nav>
      <ChatList />
      <Status />
      <ResizeEdge
        label={t('sidebar.width')}
        side="end"
        width={width}
        narrowest={208}
        widest={320}
        onMove={(sidebarWidth) => void set({ sidebarWidth })}
        className="max-lg:hidden"
      />
    </aside>
  );
}

function SidebarTop() {
  const { t } = useTranslation();
  const toggle = useShell((state) => state.toggleSidebar);
  const keys = useKeysHint('toggle-sidebar');
  return (
    <div className="drag-region flex h-bar flex-none items-center ps-2 pe-1">
      {/* The Mac's traffic lights lie here */}
      <IconButton icon="sidebar" label={t('sidebar.hide')} {...keys} className="no-drag ms-auto" onClick={toggle} />
    </div>
  );
}

/** An entry shows its keys on hover and focus, and otherwise its status. */
type CommandRowProps = { id: CommandId; icon: IconName; current?: boolean; place?: boolean; extra?: ReactNode };

function CommandRow({ id, icon, current = false, place = false, extra }: CommandRowProps) {
  const { t } = useTranslation();
  const own = useSettings((state) => state.values.keybindings);
  const command = commandById(id);
  const keys = keysOfCommand(id, own);
  return (
    <Row current={current} onClick={command.run}>
      <Icon name={icon} className={current ? 'text-fg' : 'text-fg-3'} />
      <span className="min-w-0 flex-1 truncate">{t(`commands.${id}`)}</span>
      {extra}
      {keys && (
        <span
          className={`text-2xs font-normal text-fg-3 tabular-nums ${place ? 'sr-only group-hover:not-sr-only group-focus-visible:not-sr-only' : ''}`}
        >
          {shown(keys, isMac())}
        </span>
      )}
    </Row>
  );
}

/** Combined progress of all downloads. */
function DownloadRing() {
  const { t } = useTranslation();
  const formats = useFormats();
  const share = useModels((state) => shareOf(state.downloads));
  if (share === null) return null;
  const text = formats.percent(share);
  return (
    <span className="flex items-center gap-1.5 text-2xs font-normal text-fg-3 tabular-nums">
      <ProgressRing share={share} label={t('models.downloading', { share: text })} />
      {text}
    </span>
  );
}

/** Whether the server runs; red if it should but does not. */
function ServerDot() {
  const { t } = useTranslation();
  const phase = useServer(({ state }) => state.phase);
  if (phase !== 'on' && phase !== 'failed') return null;
  const label = t(`server.phase.${phase}`);
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={`size-1.75 flex-none rounded-full ${phase === 'on' ? 'bg-ok' : 'bg-bad'}`}
    />
  );
}

export function Row({ current, onClick, children }: { current: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-current={current ? 'page' : undefined}
      onClick={onClick}
      className={`group flex h-row w-full flex-none items-center gap-2 rounded-sm px-2 ring-inset-focus ${current ? 'bg-select font-medium text-fg' : 'text-fg-2 hover:bg-hover'}`}
    >
      {children}
    </button>
  );
}
