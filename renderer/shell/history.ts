import type { ChatId } from '../../app/protocol/index.ts';
import { useChat } from '../stores/chat/store.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { addressOf, type View, viewOf } from './address.ts';

/** What is on screen now. */
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

/** A view that was asked for from outside the page. */
export function showView(hash: string): void {
  const view = viewOf(hash);
  if (view) show(view);
}

const LAST = 'longhand.lastChat';

/** Where a window begins anew, with the chat that was on screen last, for whoever wants that. A chat that is gone meanwhile is
 *  an empty one. */
export function reopenLast(): void {
  if (!startedAnew) return;
  startedAnew = false;
  const last = localStorage.getItem(LAST);
  const { place } = useShell.getState();
  if (useSettings.getState().values.openTo !== 'last' || place.kind !== 'chat' || !last) return;
  if (useChat.getState().chosen === null) void useChat.getState().choose(last as ChatId);
}

/** The window was opened without saying what it shows. */
let startedAnew = false;

/** Before the first connection: what was open is asked for with everything else. */
export function restoreView(): void {
  const view = viewOf(window.location.hash);
  startedAnew = view === null;
  if (view?.kind === 'chat')
    useChat.setState({ chosen: view.chatId, sources: view.source && { ...view.source, quoted: false } });
  else if (view) show(view);
}

/** Keeps the address and the screen the same until the returned function is called. A step back leads to the chat or page
 *  before; a panel that opened or closed is no step of its own. */
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
  // A step is often two changes: the page and what is on it.
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
