import { Dialog } from 'radix-ui';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { core, isElectron, onMenu, onOpened, onView, openExternal, useConnection } from './bridge.ts';
import { askAbout } from './chat/ask-about.ts';
import { ChatPage } from './chat/page.tsx';
import { PrintedChat } from './chat/transcript/printed-chat.tsx';
import { DocumentsPage } from './documents/page.tsx';
import { listenToChats, useChat } from './stores/chat/store.ts';
import { listenToDocuments, useDocuments } from './stores/documents/store.ts';
import './i18n.ts';
import { commandById } from './commands/commands.ts';
import { importOpened } from './models/installed/opened.ts';
import { ModelsPage } from './models/page.tsx';
import { Onboarding } from './onboarding/page.tsx';
import { PageBoundary, PanelBoundary, WindowBoundary } from './parts/error-boundaries.tsx';
import { PerformancePage } from './performance/page.tsx';
import { ServerPage } from './server/page.tsx';
import { applyAppearance, followDesktop } from './settings/apply.ts';
import { SettingsPage } from './settings/page.tsx';
import { DropLayer } from './shell/drop-layer.tsx';
import { Failures, listenToFailures } from './shell/failures.tsx';
import { followAddress, reopenLast, showView } from './shell/history.ts';
import { useKeyboard } from './shell/keyboard.ts';
import { Locked } from './shell/locked.tsx';
import { Notices } from './shell/notices.tsx';
import { Outdated } from './shell/outdated.tsx';
import { Palette } from './shell/palette.tsx';
import { Sidebar } from './shell/sidebar.tsx';
import { listenToEngine, useEngine } from './stores/engine.ts';
import { listenToMcp } from './stores/mcp.ts';
import { listenToQuality } from './stores/models/quality.ts';
import { listenToModels, useModels } from './stores/models/store.ts';
import { listenToNotices } from './stores/notices.ts';
import { listenToPerformance } from './stores/performance/store.ts';
import { listenToRemoteEngines } from './stores/remote-engines.ts';
import { listenToServer, useServer } from './stores/server.ts';
import { listenToSettings, useSettings } from './stores/settings.ts';
import { useShell } from './stores/shell.ts';
import { LinkQuestion } from './ui/markdown/links.tsx';
import { ToastRegion } from './ui/toast.tsx';
import { TooltipProvider } from './ui/tooltip.tsx';

export function App() {
  return (
    <WindowBoundary>
      <Longhand />
    </WindowBoundary>
  );
}

function Longhand() {
  const { t } = useTranslation();
  const known = useSettings((state) => state.known);
  const onboarded = useSettings((state) => state.values.onboarded);
  const palette = useShell((state) => state.palette);
  const locked = useConnection((state) => state.status === 'locked');
  useCore();
  useAppearance();
  useKeyboard();
  if (!known) return locked ? <Locked /> : <Outdated />;
  return (
    <TooltipProvider>
      {onboarded ? <Frame /> : <Onboarding />}
      <PanelBoundary floating subject={palette} onClose={() => useShell.getState().setPalette('closed')}>
        <Palette />
      </PanelBoundary>
      <PanelBoundary floating>{onboarded && <DropLayer />}</PanelBoundary>
      <PanelBoundary floating>
        <LinkQuestion open={openExternal} asked={isElectron()} />
      </PanelBoundary>
      <ToastRegion label={t('toasts')} />
    </TooltipProvider>
  );
}

/** Reloads everything on screen at every new connection. */
function useCore(): void {
  const epoch = useConnection((state) => state.epoch);
  useEffect(() => {
    const stops = [
      listenToChats(),
      listenToSettings(),
      listenToEngine(),
      listenToModels(),
      listenToQuality(),
      listenToDocuments(),
      listenToPerformance(),
      listenToServer(),
      listenToRemoteEngines(),
      listenToMcp(),
      listenToNotices(),
      followAddress(),
      listenToFailures(),
    ];
    onMenu((command) => commandById(command).run());
    onOpened(takeGiven);
    onView(showView);
    const refused = ({ blockedURI }: SecurityPolicyViolationEvent) =>
      void core.call('privacy.reportBlocked', { address: blockedURI.slice(0, 4000) }).catch(() => {}); // told again with the next
    document.addEventListener('securitypolicyviolation', refused);
    return () => {
      document.removeEventListener('securitypolicyviolation', refused);
      for (const stop of stops) stop();
    };
  }, []);
  useEffect(() => {
    if (epoch === 0) return;
    void useSettings.getState().load().then(reopenLast);
    void useEngine.getState().load();
    void useChat.getState().load();
    void useModels.getState().load();
    void useDocuments.getState().load();
    void useServer.getState().load();
    takeGiven();
  }, [epoch]);
}

/** Takes what the desktop has for this window: opened files, a quick question. */
function takeGiven(): void {
  void importOpened();
  void askAbout();
}

function useAppearance(): void {
  const values = useSettings((state) => state.values);
  const known = useSettings((state) => state.known);
  useEffect(() => {
    if (known) applyAppearance(values);
  }, [values, known]);
  useEffect(() => followDesktop(() => useSettings.getState().values.theme), []);
}

/** The left edge of the page, for what floats over its middle. In a narrow window the sidebar lies over the page. */
function useContentEdge(width: number): void {
  useEffect(() => {
    document.documentElement.style.setProperty('--sidebar-width', `${width}px`);
    return () => void document.documentElement.style.removeProperty('--sidebar-width');
  }, [width]);
}

function Frame() {
  const { t } = useTranslation();
  const { place, sidebar, sidebarOver, toggleSidebar } = useShell();
  const width = useSettings((state) => state.values.sidebarWidth);
  useContentEdge(sidebar ? width : 0);
  return (
    <div className="flex h-full">
      {sidebar && (
        <div className="flex flex-none max-lg:hidden" style={{ width }}>
          <PanelBoundary>
            <Sidebar />
          </PanelBoundary>
        </div>
      )}
      <Dialog.Root open={sidebarOver} onOpenChange={toggleSidebar}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-20 bg-scrim lg:hidden" />
          <Dialog.Content
            aria-describedby={undefined}
            className="fixed inset-y-0 start-0 z-20 flex shadow-3 outline-none lg:hidden"
            style={{ width }}
          >
            <Dialog.Title className="sr-only">{t('sidebar.label')}</Dialog.Title>
            <PanelBoundary>
              <Sidebar />
            </PanelBoundary>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      <div className="flex min-w-0 flex-1 flex-col">
        <PanelBoundary>
          <Outdated />
          <Notices />
          <Failures />
        </PanelBoundary>
        <div className="min-h-0 flex-1">
          <PageBoundary>
            {place.kind === 'chat' && (
              <>
                <ChatPage />
                <PrintedChat />
              </>
            )}
            {place.kind === 'models' && <ModelsPage />}
            {place.kind === 'documents' && <DocumentsPage />}
            {place.kind === 'performance' && <PerformancePage />}
            {place.kind === 'server' && <ServerPage />}
            {place.kind === 'settings' && <SettingsPage section={place.section} />}
          </PageBoundary>
        </div>
      </div>
    </div>
  );
}
