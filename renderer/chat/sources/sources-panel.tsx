import { Dialog } from 'radix-ui';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, Source } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { aboutLocation } from '../../lib/location.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useDocuments } from '../../stores/documents/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { useShell } from '../../stores/shell.ts';
import { IconButton } from '../../ui/button.tsx';
import { ResizeEdge } from '../../ui/resize-edge.tsx';
import { useMedia } from '../../ui/use-media.ts';
import type { ViewState } from '../../viewer/types.ts';
import { inPassages } from '../../viewer/use-passage-keys.ts';
import { Viewer } from '../../viewer/viewer.tsx';
import { chipLook } from './citations.tsx';
import { citedSources, markFor, sourceOf } from './grounding.ts';

const BESIDE = '(min-width: 64rem)';
const ROOMY = '(min-width: 80rem)';

/** The sources of an answer with the page of one of them: beside the chat, or over it if there is no room. From 1024 to
 *  1279 px the sidebar is hidden while the panel is open. */
export function SourcesPanel() {
  const { t } = useTranslation();
  const shown = useChat((state) => state.sources);
  const message = useChat((state) => (shown && state.open?.messages.get(shown.messageId)) ?? null);
  const beside = useMedia(BESIDE);
  const roomy = useMedia(ROOMY);
  const width = useSettings((state) => state.values.panelWidth);
  const { set } = useSettings.getState();
  const source = sourceOf(message, shown?.number ?? -1);
  const open = message !== null && source !== null;
  useSidebarMakesWay(open && beside && !roomy);
  if (!open) return null;
  const content = <Sources message={message} source={source} quoted={shown?.quoted ?? false} />;
  if (beside) {
    return (
      <aside
        data-passages
        aria-label={t('sources.title')}
        className="relative flex flex-none flex-col border-s border-line bg-canvas"
        style={{ width }}
      >
        <ResizeEdge
          label={t('sources.width')}
          side="start"
          width={width}
          narrowest={360}
          widest={640}
          onMove={(panelWidth) => void set({ panelWidth })}
        />
        {content}
      </aside>
    );
  }
  return (
    <Dialog.Root open onOpenChange={(next) => !next && actions.hideSources()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={focusCurrent}
          className="fixed inset-y-0 end-0 z-20 flex w-110 max-w-[calc(100vw-3rem)] flex-col border-s border-line bg-canvas shadow-3 outline-none animate-enter"
        >
          <Dialog.Title className="sr-only">{t('sources.title')}</Dialog.Title>
          {content}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Focuses the shown source first, not the close button. */
function focusCurrent(event: Event): void {
  const row = (event.currentTarget as Element | null)?.querySelector<HTMLElement>('[aria-current=true]');
  if (!row) return;
  event.preventDefault();
  row.focus();
}

function useSidebarMakesWay(needed: boolean): void {
  useEffect(() => {
    if (!needed || !useShell.getState().sidebar) return;
    useShell.setState({ sidebar: false });
    return () => useShell.setState({ sidebar: true });
  }, [needed]);
}

/** J and K walk through the sources while the focus is in the panel or in the answer. */
function useSteps(message: Message, sources: readonly Source[], number: number): void {
  // The list changes with every word of a running answer, but the listener is added once.
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!inPassages(event.target)) return;
    const step = { j: 1, k: -1 }[event.key.toLowerCase()];
    const next = step && sources[sources.findIndex((source) => source.number === number) + step];
    if (!next) return;
    event.preventDefault();
    actions.showSource(message.id, next.number);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event);
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}

const unseen: ViewState = { page: null, pages: 0, scale: 1, found: null, showPage: () => {}, picture: null };

type SourcesProps = { message: Message; source: Source; quoted: boolean };

function Sources({ message, source, quoted }: SourcesProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const sources = useMemo(() => {
    const cited = citedSources(message);
    return cited.includes(source) ? cited : [...cited, source].sort((a, b) => a.number - b.number);
  }, [message, source]);
  const known = useDocuments((state) => state.collections !== null);
  const document = useDocuments((state) => state.documents.get(source.documentId) ?? null);
  const [view, setView] = useState(unseen);
  const onState = useCallback((next: ViewState) => setView(next), []);
  const mark = useMark(message, source, quoted);
  useSteps(message, sources, source.number);
  const { page, pages, showPage } = view;
  /** A column of print fills the panel; a whole page in it is too small to read. */
  const [whole, setWhole] = useState(false);
  const inDocuments = () => useDocuments.getState().openSource(source, mark);
  return (
    <>
      <header className="flex h-bar flex-none items-center gap-2 ps-4 pe-2">
        <h2 className="font-semibold">{t('sources.title')}</h2>
        <span className="flex-1 text-fg-3 tabular-nums">{formats.exact(sources.length)}</span>
        <IconButton icon="close" label={t('sources.hide')} onClick={actions.hideSources} />
      </header>
      <ul aria-label={t('sources.list')} className="max-h-[34%] flex-none overflow-y-auto pb-1.5">
        {sources.map((one) => (
          <SourceRow key={one.number} source={one} messageId={message.id} current={one.number === source.number} />
        ))}
      </ul>
      <div className="flex h-10 flex-none items-center gap-0.5 border-y border-line ps-4 pe-2">
        <span className="min-w-0 flex-1 truncate text-xs text-fg-2 tabular-nums" role="status">
          {page === null
            ? aboutLocation(source.location, t)
            : t('documents.pageOf', { page: formats.exact(page), pages: formats.exact(pages) })}
        </span>
        {page !== null && (
          <>
            {document && (
              <IconButton
                small
                icon={whole ? 'zoomIn' : 'zoomOut'}
                label={t(whole ? 'documents.fitColumn' : 'documents.fitPage')}
                onClick={() => setWhole(!whole)}
              />
            )}
            <IconButton
              small
              icon="up"
              label={t('documents.previousPage')}
              disabled={page <= 1}
              onClick={() => showPage(page - 1)}
            />
            <IconButton
              small
              icon="down"
              label={t('documents.nextPage')}
              disabled={page >= pages}
              onClick={() => showPage(page + 1)}
            />
          </>
        )}
        {document && <IconButton small icon="out" label={t('sources.inDocuments')} onClick={inDocuments} />}
      </div>
      {known && (
        <Viewer
          document={document}
          mark={mark}
          others={noMarks}
          zoom={whole ? 'fit' : 'column'}
          inverted={false}
          find={null}
          onState={onState}
        />
      )}
    </>
  );
}

const noMarks: never[] = [];

/** Memoised: events of the answer continue while the mark is shown. */
function useMark(message: Message, source: Source, quoted: boolean) {
  const last = useRef<ReturnType<typeof markFor> | null>(null);
  const next = message.grounding ? markFor(message.grounding, source, quoted) : null;
  if (next && last.current?.key !== next.key) last.current = next;
  return last.current as ReturnType<typeof markFor>;
}

type SourceRowProps = { source: Source; messageId: Message['id']; current: boolean };

function SourceRow({ source, messageId, current }: SourceRowProps) {
  const { t } = useTranslation();
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <li>
      <button
        ref={row}
        type="button"
        aria-current={current}
        onClick={() => actions.showSource(messageId, source.number)}
        className={`flex w-full items-start gap-2.5 border-s-2 px-4 py-2.25 ring-inset-focus ${current ? 'border-marker-line bg-marker-soft' : 'border-transparent hover:bg-hover'}`}
      >
        <span className={`mt-px ${chipLook(current)}`}>{source.number}</span>
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <bdi className="min-w-0 flex-1 truncate font-medium">{source.name}</bdi>
            <span className="text-xs whitespace-nowrap text-fg-3 tabular-nums">
              {aboutLocation(source.location, t)}
            </span>
          </span>
          <span data-text className="block truncate text-xs text-fg-2">
            {source.text}
          </span>
        </span>
      </button>
    </li>
  );
}
