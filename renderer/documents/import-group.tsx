import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Document } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { type Importing, importing, shareOfDocument } from '../stores/documents/state.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Progress } from '../ui/meter.tsx';
import { removeDocument } from './actions.ts';
import { aboutState } from './words.ts';

const MAX_ROWS = 30;

/** Running imports with their progress; failed ones with the reason and a remedy. */
export function ImportGroup({ shown }: { shown: readonly Document[] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const batch = useDocuments((state) => state.batch);
  const now = useSeconds(batch.ids.size > 0);
  const group: Importing = importing(shown, batch, now);
  const [all, setAll] = useState(false);
  if (group.documents.length === 0) return null;
  const rows = all ? group.documents : group.documents.slice(0, MAX_ROWS);
  return (
    <section
      aria-label={t('documents.importing')}
      className="max-h-1/2 flex-none overflow-y-auto border-b border-line pb-2"
    >
      <h2 className="flex h-6 items-center px-4 text-2xs font-semibold text-fg-3">
        {t('documents.importing')}
        {group.total > 0 && (
          <span className="ms-1.5 font-normal tabular-nums">
            {t('documents.readyOf', { ready: formats.exact(group.ready), total: formats.exact(group.total) })}
          </span>
        )}
        {group.msLeft !== null && (
          <span className="ms-auto font-normal tabular-nums">
            {t('documents.about', { time: formats.duration(Math.max(1000, Math.round(group.msLeft / 1000) * 1000)) })}
          </span>
        )}
      </h2>
      <ul>
        {rows.map((document) => (
          <li key={document.id}>
            {document.state.status === 'failed' ? <Failed document={document} /> : <Coming document={document} />}
          </li>
        ))}
      </ul>
      {rows.length < group.documents.length && (
        <Button kind="link" className="mx-2 text-xs" onClick={() => setAll(true)}>
          {t('documents.more', { number: formats.exact(group.documents.length - rows.length) })}
        </Button>
      )}
    </section>
  );
}

function useSeconds(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

function Coming({ document }: { document: Document }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const share = shareOfDocument(document);
  const waits = document.state.status === 'queued';
  return (
    <div className="flex gap-3 px-4 py-2">
      <Icon name="file" className="mt-px text-fg-3" />
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <bdi className="min-w-0 flex-1 truncate font-medium">{document.fileName}</bdi>
          {!waits && <span className="text-xs text-fg-3 tabular-nums">{formats.percent(share)}</span>}
        </div>
        {!waits && <Progress label={document.fileName} share={share} className="mt-1.25 mb-0.75 block h-1" />}
        <div className="truncate text-xs text-fg-3 tabular-nums">{aboutState(document, t, formats)}</div>
      </div>
    </div>
  );
}

function Failed({ document }: { document: Document }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { state, id } = document;
  const remedy = state.status === 'failed' ? state.remedy : 'none';
  const retry = (ocr: boolean) => void core.call('documents.retry', { documentId: id, ocr });
  const reason = aboutState(document, t, formats);
  const skip = () => void removeDocument(document);
  return (
    <div className="flex items-center gap-3 px-4 py-2">
      <Icon name="warning" className="text-bad-text" />
      <div className="min-w-0 flex-1" title={reason}>
        <bdi className="block truncate font-medium">{document.fileName}</bdi>
        <div className="mt-px line-clamp-2 text-xs text-fg-2">{reason}</div>
      </div>
      <span className="flex flex-none items-center gap-1">
        {remedy === 'unlock' && (
          <Small
            name={t('documents.unlock')}
            of={document}
            onClick={() => useDocuments.setState({ dialog: { kind: 'unlock', documentId: id } })}
          />
        )}
        {remedy === 'ocr' && <Small name={t('documents.readWithOcr')} of={document} onClick={() => retry(true)} />}
        {remedy === 'retry' && <Small name={t('documents.retry')} of={document} onClick={() => retry(false)} />}
        {remedy === 'none' ? (
          <Small name={t('documents.skip')} of={document} onClick={skip} />
        ) : (
          <IconButton small icon="close" label={`${t('documents.skip')}: ${document.fileName}`} onClick={skip} />
        )}
      </span>
    </div>
  );
}

function Small({ name, of, onClick }: { name: string; of: Document; onClick: () => void }) {
  return (
    <Button className="h-6! px-2 text-xs" aria-label={`${name}: ${of.fileName}`} onClick={onClick}>
      {name}
    </Button>
  );
}
