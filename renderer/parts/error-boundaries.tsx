import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { openChat } from '../commands/commands.ts';
import { actions, useChat } from '../stores/chat/store.ts';
import { appLine } from '../stores/engine.ts';
import { useShell } from '../stores/shell.ts';
import { Boundary, type Broken } from '../ui/boundary.tsx';
import { Button } from '../ui/button.tsx';
import { copyText } from '../ui/clipboard.ts';
import { Notice } from '../ui/notice.tsx';
import { SidebarButtons } from './sidebar-buttons.tsx';

//  Error-boundary fallbacks for the window, a page, and a part of a page. Everything outside keeps working; the core has
//  what was sent, and the draft is saved at once.

const keepDraft = () => void actions.keepDraft();

/** The outermost boundary: its fallback replaces the whole page. */
export function WindowBoundary({ children }: { children: ReactNode }) {
  return (
    <Boundary subject="" onBroken={keepDraft} fallback={(broken) => <BrokenPage broken={broken} />}>
      {children}
    </Boundary>
  );
}

/** Navigating to another place or chat tries again. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const place = useShell((state) => state.place.kind);
  const chosen = useChat((state) => state.chosen);
  return (
    <Boundary
      subject={`${place} ${chosen}`}
      onBroken={keepDraft}
      fallback={(broken) => (
        <div className="flex h-full min-w-0 flex-col">
          <header className="drag-region flex h-bar flex-none items-center ps-5 pe-3">
            <SidebarButtons />
          </header>
          <BrokenPage broken={broken} toChats />
        </div>
      )}
    >
      {children}
    </Boundary>
  );
}

type PanelProps = {
  /** A change of subject renders again. */
  subject?: string;
  /** It floats over the page. */
  floating?: boolean;
  /** The action of its own close button. */
  onClose?: () => void;
};

export function PanelBoundary({ subject = '', children, ...place }: PanelProps & { children: ReactNode }) {
  return (
    <Boundary subject={subject} fallback={(broken) => <BrokenPanel broken={broken} {...place} />}>
      {children}
    </Boundary>
  );
}

function BrokenPage({ broken, toChats = false }: { broken: Broken; toChats?: boolean }) {
  const { t } = useTranslation();
  return (
    <main className="flex h-full min-h-0 flex-1 flex-col items-center justify-center px-6 pb-[12vh] text-center">
      <div role="alert">
        <h1 className="text-lg font-semibold tracking-tight">{t(toChats ? 'broken.page' : 'broken.window')}</h1>
        <p className="mt-2 max-w-104 text-fg-2">{t('broken.safe')}</p>
      </div>
      <div className="mt-5 flex flex-wrap justify-center gap-2">
        <Button large kind="primary" onClick={() => void reload()}>
          {t('broken.reload')}
        </Button>
        {toChats && (
          <Button large onClick={() => openChat(null)}>
            {t('broken.chats')}
          </Button>
        )}
        <CopyDetails large broken={broken} />
      </div>
    </main>
  );
}

function BrokenPanel({ broken, floating = false, onClose }: PanelProps & { broken: Broken }) {
  const { t } = useTranslation();
  const [closed, setClosed] = useState(false);
  if (closed) return null;
  const close = () => {
    setClosed(true);
    onClose?.();
  };
  return (
    <div className={floating ? 'fixed end-4 bottom-4 z-50 w-90 max-w-[calc(100vw-2rem)]' : 'min-w-0 flex-1 p-3'}>
      <Notice
        alert
        tone="warn"
        title={t('broken.panel')}
        actions={
          <>
            <Button onClick={broken.again}>{t('broken.again')}</Button>
            <CopyDetails broken={broken} />
            {(floating || onClose) && (
              <Button kind="quiet" className="ms-auto" onClick={close}>
                {t('close')}
              </Button>
            )}
          </>
        }
      >
        {t('broken.rest')}
      </Notice>
    </div>
  );
}

/** For a bug report. Nothing is sent. */
export function CopyDetails({ broken, large = false }: { broken: Broken; large?: boolean }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  return (
    <Button kind="quiet" large={large} onClick={() => void copyText(detailsOf(broken)).then(() => setCopied(true))}>
      {t(copied ? 'copied' : 'broken.details')}
    </Button>
  );
}

export const detailsOf = ({ error, place }: Broken): string =>
  [appLine(), error.stack ?? String(error), place.trim()].filter((part) => part !== '').join('\n');

const LONGEST_SAVE_MS = 1000;

/** Saves the draft first, if the core responds. */
async function reload(): Promise<void> {
  await Promise.race([actions.keepDraft(), new Promise((done) => setTimeout(done, LONGEST_SAVE_MS))]);
  window.location.reload();
}
