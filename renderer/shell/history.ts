import type { ChatId } from '../../app/protocol/index.ts';
import { useChat } from '../stores/chat/store.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { addressOf, type View, viewOf } from './address.ts';

/** The current view. */
function currentView(): View {
  const { place } = useShell.getState();
  const { chosen, sources } = useChat.getState();
  const { shown } = useDocuments.getState();
  if (place.kind === 'chat')
    return {
      kind: 'chat',
      chatId: chosen,
      source: sources && { messageId: sources.messageId, number: sources.number },
    };
  if (place.kind === 'documents') return { kind: 'documents', documentId: shown?.documentId ?? null };
  return place;
}

function show(view: View): void {
  const { go, place } = useShell.getState();
  switch (view.kind) {
    case 'chat': {
      const { chosen, choose, showSource, hideSources, sources } = useChat.getState();
      if (place.kind !== 'chat') go({ kind: 'chat' });
      if (chosen !== view.chatId) void choose(view.chatId);
      if (view.source) showSource(view.source.messageId, view.source.number);
      else if (sources) hideSources();
      return;
    }
    case 'documents': {
      const { open, close, shown } = useDocuments.getState();
      go({ kind: 'documents' });
      if (view.documentId === null) close();
      else if (shown?.documentId !== view.documentId) open(view.documentId);
      return;
    }
    default:
      go(view);
  }
}

/** Shows a view requested from outside the page. */
export function showView(hash: string): void {
  const view = viewOf(hash);
  if (view) show(view);
}

const LAST = 'longhand.lastChat';

/** Opens the last chat in a new window, if the setting says so. If it was deleted meanwhile, an empty chat is shown. */
export function reopenLast(): void {
  if (!startedAnew) return;
  startedAnew = false;
  const last = localStorage.getItem(LAST);
  const { place } = useShell.getState();
  if (useSettings.getState().values.openTo !== 'last' || place.kind !== 'chat' || !last) return;
  if (useChat.getState().chosen === null) void useChat.getState().choose(last as ChatId);
}

/** The window was opened without a view. */
let startedAnew = false;

/** Call before the first connection, so that the view is requested with everything else. */
export function restoreView(): void {
  const view = viewOf(window.location.hash);
  startedAnew = view === null;
  if (view?.kind === 'chat')
    useChat.setState({ chosen: view.chatId, sources: view.source && { ...view.source, quoted: false } });
  else if (view) show(view);
}

/** Keeps the address and the view in sync until the returned function is called. Back leads to the previous chat or page;
 *  opening or closing a panel adds no history entry. */
export function followAddress(): () => void {
  let showing = false;
  let queued = false;
  const write = () => {
    queued = false;
    const view = currentView();
    const address = addressOf(view);
    if (view.kind === 'chat' && view.chatId !== null) localStorage.setItem(LAST, view.chatId);
    if (address === window.location.hash) return;
    const before = viewOf(window.location.hash);
    if (showing || before === null || isSame(before, view)) window.history.replaceState(null, '', address);
    else window.history.pushState(null, '', address);
    showing = false;
  };
  // Navigation is often two changes: the page and its content.
  const changed = () => {
    if (queued) return;
    queued = true;
    queueMicrotask(write);
  };
  const moved = () => {
    const view = viewOf(window.location.hash);
    if (!view) return;
    showing = true;
    show(view);
    queueMicrotask(() => {
      showing = false;
    });
  };
  const stops = [useShell.subscribe(changed), useChat.subscribe(changed), useDocuments.subscribe(changed)];
  window.addEventListener('popstate', moved);
  changed();
  return () => {
    for (const stop of stops) stop();
    window.removeEventListener('popstate', moved);
  };
}

const isSame = (a: View, b: View): boolean =>
  a.kind === b.kind &&
  (a.kind !== 'chat' || b.kind !== 'chat' || a.chatId === b.chatId) &&
  (a.kind !== 'documents' || b.kind !== 'documents' || a.documentId === b.documentId) &&
  (a.kind !== 'settings' || b.kind !== 'settings' || a.section === b.section);
