import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Document, type Failure, failureOf } from '../../app/protocol/index.ts';
import { readAll } from './bytes.ts';
import type { PageSize } from './layout.ts';
import { pageMarks } from './marks.ts';
import { ViewFailed } from './messages.tsx';
import { PageMarks } from './page-marks.tsx';
import type { ViewProps } from './types.ts';
import { usePages } from './use-pages.ts';

type Open =
  | { status: 'opening' }
  | { status: 'open'; address: string; size: PageSize; blob: Blob }
  | { status: 'failed'; failure: Failure };

function useImage(document: Document): Open {
  const [open, setOpen] = useState<Open>({ status: 'opening' });
  useEffect(() => {
    let gone = false;
    let address = '';
    const load = async () => {
      const bytes = await readAll(document.id);
      // An object URL created after unmounting would never be revoked.
      if (gone) return;
      const blob = new Blob([bytes]);
      address = URL.createObjectURL(blob);
      const image = new Image();
      image.src = address;
      await image.decode();
      const size = { width: image.naturalWidth, height: image.naturalHeight };
      if (!gone) setOpen({ status: 'open', address, size, blob });
    };
    setOpen({ status: 'opening' });
    load().catch((error) => {
      if (!gone) setOpen({ status: 'failed', failure: failureOf(error) });
    });
    return () => {
      gone = true;
      URL.revokeObjectURL(address);
    };
  }, [document.id]);
  return open;
}

/** A picture is one page; recognised text is marked like words. */
export function ImageView(props: ViewProps) {
  const open = useImage(props.document);
  if (open.status === 'opening') return null;
  if (open.status === 'failed') return <ViewFailed failure={open.failure} />;
  return <Sheet {...props} {...open} />;
}

const none: ReadonlyMap<number, PageSize> = new Map();

function Sheet({
  document,
  mark,
  zoom,
  inverted,
  onState,
  address,
  size,
  blob,
}: ViewProps & { address: string; size: PageSize; blob: Blob }) {
  const { t } = useTranslation();
  const { scroller, layout, scale, showPage } = usePages({
    count: 1,
    first: size,
    sizes: none,
    zoom,
    mark,
    key: document.id,
  });
  useEffect(() => {
    const picture = async () => blob;
    onState({ page: 1, pages: 1, scale, found: null, showPage, picture });
  }, [onState, scale, showPage, blob]);
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={t('documents.pagesOfDocument')}
      className="min-h-0 flex-1 overflow-auto bg-sunken ring-inset-focus"
    >
      <div className="relative mx-auto" style={{ height: layout.height, width: layout.width }} dir="ltr">
        <div
          data-page={1}
          className={`paper absolute ${inverted ? 'inverted' : ''}`}
          style={{ top: layout.tops[0], width: size.width * scale, height: size.height * scale }}
        >
          <PageMarks marks={pageMarks(mark, 1)} scale={scale} />
          <img src={address} alt={document.name} className="print" />
        </div>
      </div>
    </section>
  );
}
