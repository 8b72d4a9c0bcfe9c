import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { type Message, quotedIn } from '../../../app/protocol/index.ts';
import { aboutLocation } from '../../lib/location.ts';
import { holdLine } from '../../lib/scroll-anchor.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { collectionById, useDocuments } from '../../stores/documents/store.ts';
import { openSoon } from '../../viewer/viewer.tsx';

/** Below an answer from documents, as soon as it is found: the words of a document that answer best. They are quoted, not
 *  generated, so they are shown even if the model names no source, or a wrong one. Links to their page. */
export function QuoteCard({ message, last }: { message: Message; last: boolean }) {
  const { t } = useTranslation();
  const shown = useChat(({ sources }) => sources?.messageId === message.id && sources.quoted);
  const quoted = quotedIn(message.grounding);
  const documentId = quoted?.source.documentId;
  const document = useDocuments((state) => documentId && state.documents.get(documentId));
  const manual = useDocuments(
    ({ collections }) => collectionById(collections, quoted?.source.collectionId ?? null)?.builtIn ?? false,
  );
  const finished = last && message.state.status === 'done';
  useEffect(() => {
    if (finished && document) openSoon(document);
  }, [finished, document]);
  if (!quoted) return null;
  const { text, source, location } = quoted;
  const alsoIn = message.grounding?.quote?.alsoIn;
  return (
    <figure className="mt-3">
      <button
        type="button"
        data-quote
        aria-pressed={shown}
        onPointerEnter={() => openSoon(document)}
        onFocus={() => openSoon(document)}
        onClick={(event) => {
          holdLine(event.currentTarget);
          actions.showSource(message.id, source.number, true);
        }}
        className={`block w-full rounded-lg px-4 py-2.5 shadow-1 ring-inset-focus ${shown ? 'bg-marker-soft' : 'bg-card hover:bg-hover'}`}
      >
        <span className="block text-2xs font-semibold text-fg-3">
          {t(manual ? 'sources.quoteOfManual' : 'sources.quote')}
        </span>
        <span dir="auto" className="mt-1 block border-s-2 border-marker-line ps-3">
          <span className="line-clamp-4 wrap-anywhere">{t('sources.quoted', { text })}</span>
        </span>
        <span className="mt-1.5 flex items-baseline gap-2 text-xs">
          <bdi className="min-w-0 truncate text-fg-2">{source.name}</bdi>
          <span className="flex-none whitespace-nowrap text-fg-3 tabular-nums">{aboutLocation(location, t)}</span>
        </span>
        {alsoIn && (
          <span dir="auto" className="mt-1 block truncate text-xs text-fg-3">
            {t('sources.alsoIn', { names: alsoIn.join(', ') })}
          </span>
        )}
      </button>
    </figure>
  );
}
