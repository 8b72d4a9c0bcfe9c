import { lazy, Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Document } from '../../app/protocol/index.ts';
import { Icon } from '../ui/icon.tsx';
import { BlockView } from './block-view.tsx';
import { ImageView } from './image-view.tsx';
import { isLocated } from './marks.ts';
import { StoredText } from './messages.tsx';
import type { ViewProps } from './types.ts';

/** pdf.js is loaded with the first page, so that it does not delay the first paint. */
const loadPdf = () => import('./pdf-view.tsx');
const PdfView = lazy(loadPdf);

/** Preloads pdf.js and its worker where a page may be opened soon. */
export function usePdfSoon(soon = true): void {
  useEffect(() => {
    if (soon) loadPdf().catch(() => {});
  }, [soon]);
}

/** Preloads a document that may be opened next. Only PDFs need it. */
export function openSoon(document: Document | undefined): void {
  if (document?.kind !== 'pdf') return;
  void Promise.all([loadPdf(), import('./pdf.ts')]).then(
    ([, pdf]) => pdf.openAhead(document.id),
    () => {},
  );
}

type ViewerProps = Omit<ViewProps, 'document'> & {
  /** Null if deleted: then the stored text of the passage is shown. */
  document: Document | null;
};

/** A document with a passage marked in it: exactly, or not at all. */
export function Viewer({ document, mark, ...rest }: ViewerProps) {
  const { t } = useTranslation();
  if (!document) return mark ? <StoredText mark={mark} reason={t('documents.gone')} /> : null;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {mark && !isLocated(mark) && (
        <p
          role="status"
          className="flex flex-none items-center gap-2 border-b border-line bg-warn-soft px-4 py-1.5 text-xs"
        >
          <Icon name="info" size={14} className="text-warn-text" />
          {t('documents.pageOnly')}
        </p>
      )}
      <Suspense fallback={<div className="min-h-0 flex-1 bg-sunken" />}>
        <View document={document} mark={mark} {...rest} />
      </Suspense>
    </div>
  );
}

function View(props: ViewProps) {
  const key = props.document.id;
  if (props.document.kind === 'pdf') return <PdfView key={key} {...props} />;
  if (props.document.kind === 'image') return <ImageView key={key} {...props} />;
  return <BlockView key={key} {...props} />;
}
