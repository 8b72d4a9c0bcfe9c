import type { PDFDocumentProxy } from 'pdfjs-dist';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type DocumentId, type Failure, failureOf } from '../../app/protocol/index.ts';
import { useFindInPdf } from './find-in-pdf.ts';
import { type PageSize, visiblePages } from './layout.ts';
import { marksByPage, type PageMark } from './marks.ts';
import { Locked, ViewFailed } from './messages.tsx';
import { pictureOfPage } from './page-picture.ts';
import { openPdf } from './pdf.ts';
import { PdfPage } from './pdf-page.tsx';
import { ScrollMarks } from './scroll-marks.tsx';
import type { ViewProps } from './types.ts';
import { usePages } from './use-pages.ts';

type Asking = { answer: (password: string) => void; wrong: boolean };

type Open =
  | { status: 'opening' }
  | { status: 'locked'; asking: Asking }
  | { status: 'open'; pdf: PDFDocumentProxy; first: PageSize }
  | { status: 'failed'; failure: Failure };

function usePdf(documentId: DocumentId): Open {
  const [open, setOpen] = useState<Open>({ status: 'opening' });
  useEffect(() => {
    let gone = false;
    const put = (next: Open) => {
      if (!gone) setOpen(next);
    };
    put({ status: 'opening' });
    const opening = openPdf(documentId, (answer, wrong) => put({ status: 'locked', asking: { answer, wrong } }));
    opening.pdf
      .then(async (pdf) => {
        const { width, height } = (await pdf.getPage(1)).getViewport({ scale: 1 });
        put({ status: 'open', pdf, first: { width, height } });
      })
      .catch((error) => put({ status: 'failed', failure: failureOf(error) }));
    return () => {
      gone = true;
      opening.close();
    };
  }, [documentId]);
  return open;
}

/** A PDF, page by page. */
export default function PdfView(props: ViewProps) {
  const open = usePdf(props.document.id);
  switch (open.status) {
    case 'opening':
      return null;
    case 'locked':
      return <Locked wrong={open.asking.wrong} onPassword={open.asking.answer} />;
    case 'failed':
      return <ViewFailed failure={open.failure} />;
    case 'open':
      return <Pages {...props} pdf={open.pdf} first={open.first} />;
  }
}

const noMarks: readonly PageMark[] = [];

type PagesProps = ViewProps & { pdf: PDFDocumentProxy; first: PageSize };

function Pages({ document, mark, others, zoom, inverted, find, pdf, first, onState }: PagesProps) {
  const { t } = useTranslation();
  const [sizes, setSizes] = useState<ReadonlyMap<number, PageSize>>(new Map());
  const count = pdf.numPages;
  const view = usePages({ count, first, sizes, zoom, mark, key: document.id });
  const { scroller, layout, scale, page, scrollTop, height } = view;
  const [from, to] = visiblePages(layout, scrollTop, height);

  const onSize = useCallback((number: number, size: PageSize) => {
    setSizes((known) => {
      const before = known.get(number);
      return before?.width === size.width && before.height === size.height ? known : new Map(known).set(number, size);
    });
  }, []);
  const found = useFindInPdf(pdf, find, scroller, view.showPage);
  const marked = useMemo(() => marksByPage(mark, others), [mark, others]);

  useEffect(() => {
    const picture = () => pictureOfPage(pdf, page);
    onState({ page, pages: count, scale, found: found.state, showPage: view.showPage, picture });
  }, [onState, pdf, page, count, scale, found.state, view.showPage]);

  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={t('documents.pagesOfDocument')}
        className="h-full overflow-auto bg-sunken ring-inset-focus"
      >
        <div className="relative mx-auto" style={{ height: layout.height, width: layout.width }} dir="ltr">
          {Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index).map((number) => (
            <PdfPage
              key={number}
              pdf={pdf}
              number={number}
              label={t('documents.pageLabel', { page: number })}
              size={sizes.get(number) ?? first}
              scale={scale}
              top={layout.tops[number - 1] ?? 0}
              marks={marked.get(number) ?? noMarks}
              inverted={inverted}
              onSize={onSize}
              onText={found.refresh}
            />
          ))}
        </div>
      </section>
      <ScrollMarks marks={[mark, ...others]} layout={layout} scale={scale} />
    </div>
  );
}
