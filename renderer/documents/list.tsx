import { memo, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Virtualizer } from 'virtua';
import type { Document, PassageHit } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { SEARCH_FIELD } from '../lib/focus.ts';
import { aboutLocation } from '../lib/location.ts';
import { wayOf, whatOf } from '../sentences.ts';
import { documentsIn, forOneLine, keyOfRow, type Row, rowsOf } from '../stores/documents/state.ts';
import { collectionById, hitsIn, useDocuments } from '../stores/documents/store.ts';
import { useActiveRow } from '../ui/active-row.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { Popover } from '../ui/overlays/popover.tsx';
import { CollectionRows } from './collections.tsx';
import { ImportGroup } from './import-group.tsx';
import { aboutDocument, hasTitle, KIND_ICONS, passages } from './words.ts';

/** Search, running imports, and the documents with the passages found in them. */
export function DocumentColumn() {
  const { t } = useTranslation();
  const documents = useDocuments((state) => state.documents);
  const chosen = useDocuments((state) => state.chosen);
  const finding = useDocuments((state) => state.finding);
  const refused = useDocuments((state) => state.refused);
  const shown = useMemo(() => documentsIn(documents, chosen), [documents, chosen]);
  const hits = hitsIn(finding);
  return (
    <>
      <div className="flex flex-none items-center gap-2 px-4 py-2.5">
        <CollectionPicker />
        <SearchBox />
      </div>
      {refused && (
        <div className="px-4 pb-2.5">
          <Notice alert tone="bad" title={whatOf(refused)}>
            {wayOf(refused)}
          </Notice>
        </div>
      )}
      {finding.status === 'failed' && (
        <div className="px-4 pb-2.5">
          <Notice tone="warn" title={t('documents.searchFailed')}>
            {wayOf(finding.failure)}
          </Notice>
        </div>
      )}
      <ImportGroup shown={shown} />
      {shown.length === 0 ? <Nothing /> : <Rows shown={shown} hits={hits} />}
      <SearchedBy />
    </>
  );
}

/** Replaces the column of collections if that is hidden. */
function CollectionPicker() {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const collection = useDocuments((state) => collectionById(state.collections, state.chosen));
  return (
    <span className="min-w-0 @min-[65rem]/page:hidden">
      <Popover
        label={t('documents.collections')}
        width={248}
        open={open}
        onOpen={setOpen}
        trigger={
          <Button icon={collection ? 'collection' : 'documents'} className="max-w-36 min-w-0">
            <span className="truncate">{collection?.name ?? t('documents.allShort')}</span>
          </Button>
        }
      >
        <CollectionRows onChosen={() => setOpen(false)} />
      </Popover>
    </span>
  );
}

function SearchBox() {
  const { t } = useTranslation();
  const formats = useFormats();
  const query = useDocuments((state) => state.query);
  const finding = useDocuments((state) => state.finding);
  const { search } = useDocuments.getState();
  return (
    <search className="relative min-w-0 flex-1">
      <Field
        id={SEARCH_FIELD}
        className={query === '' ? '' : '[&_input]:pe-24 @max-[65rem]/page:[&_input]:pe-5'}
        icon="search"
        aria-label={t('documents.search')}
        placeholder={t('documents.search')}
        value={query}
        spellCheck={false}
        onChange={(event) => search(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && query !== '') {
            event.preventDefault();
            search('');
          }
          if (event.key === 'ArrowDown') {
            event.preventDefault();
            document.querySelector<HTMLElement>('[data-documents]')?.focus();
          }
          if (event.key === 'Enter') document.querySelector<HTMLElement>('[data-documents] [data-hit]')?.click();
        }}
      />
      {query !== '' && (
        <span className="absolute inset-y-0 end-1 flex items-center gap-1">
          <span role="status" className="text-xs text-fg-3 tabular-nums @max-[65rem]/page:sr-only">
            {finding.status === 'found' ? passages(finding.hits.length, t, formats) : ''}
          </span>
          <IconButton small icon="close" label={t('documents.clearSearch')} onClick={() => search('')} />
        </span>
      )}
    </search>
  );
}

function Nothing() {
  const { t } = useTranslation();
  return (
    <div className="flex min-h-0 flex-1 flex-col items-start gap-2 px-4 py-3 text-fg-2">
      <p>{t('documents.empty')}</p>
    </div>
  );
}

/** The height of a document's row in px. Ten rows beyond the window are drawn. */
const ROW = 52;

type RowsProps = { shown: readonly Document[]; hits: readonly PassageHit[] | null };

/** A virtualised list. ↑ ↓ move, Return opens, the focus stays in the list. */
function Rows({ shown, hits }: RowsProps) {
  const { t } = useTranslation();
  const unfolded = useDocuments((state) => state.unfolded);
  const open = useDocuments((state) => state.shown);
  const rows = useMemo(
    () => rowsOf(shown, hits, unfolded, open?.documentId ?? null),
    [shown, hits, unfolded, open?.documentId],
  );
  const keys = useMemo(() => rows.map((row) => (row.kind === 'heading' ? null : keyOfRow(row))), [rows]);
  const { scroller, list, stop, keepMounted, handlers } = useActiveRow(keys, {
    onLeave: () => document.getElementById(SEARCH_FIELD)?.focus(),
  });

  return (
    <div
      ref={scroller}
      data-documents
      tabIndex={-1}
      {...handlers}
      className="min-h-0 flex-1 overflow-y-auto pt-1 pb-3 outline-none"
    >
      <nav aria-label={t('documents.list')}>
        <Virtualizer
          ref={list}
          data={rows}
          scrollRef={scroller}
          itemSize={ROW}
          bufferSize={10 * ROW}
          keepMounted={keepMounted}
        >
          {(row) => (
            <Line
              key={keyOfRow(row)}
              row={row}
              stop={keyOfRow(row) === stop}
              current={
                row.kind === 'document'
                  ? row.document.id === open?.documentId
                  : row.kind === 'hit' && row.hit.documentId === open?.documentId && row.index === open.passage
              }
            />
          )}
        </Virtualizer>
      </nav>
    </div>
  );
}

type LineProps = { row: Row /** Tab stops here. */; stop: boolean; current: boolean };

const Line = memo(function Line({ row, stop, current }: LineProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { open, openHit, unfold } = useDocuments.getState();
  switch (row.kind) {
    case 'heading':
      return (
        <h2 className="flex h-7 items-center px-4 pt-1 text-2xs font-semibold text-fg-3">
          {t(`documents.${row.name}`)}
          {row.name === 'without' && (
            <span className="ms-1.5 font-normal tabular-nums">{formats.exact(row.count)}</span>
          )}
        </h2>
      );
    case 'document':
      return (
        <button
          type="button"
          data-row={keyOfRow(row)}
          tabIndex={stop ? 0 : -1}
          aria-current={current}
          onClick={() => open(row.document.id)}
          className={`flex w-full items-center gap-3 px-4 py-2.25 ring-inset-focus ${current ? 'bg-ink-soft' : 'hover:bg-hover'}`}
        >
          <Icon name={KIND_ICONS[row.document.kind]} className={current ? 'text-ink-text' : 'text-fg-3'} />
          <span className="min-w-0 flex-1">
            <span className="flex items-baseline gap-3">
              <bdi className={`min-w-0 flex-1 truncate text-start ${current ? 'font-semibold' : 'font-medium'}`}>
                {row.document.fileName}
              </bdi>
              <time
                dateTime={new Date(row.document.addedAt).toISOString()}
                title={t('documents.addedOn', { day: formats.date(row.document.addedAt) })}
                className="text-xs whitespace-nowrap text-fg-3 tabular-nums"
              >
                {formats.dayOf(row.document.addedAt, Date.now())}
              </time>
            </span>
            <span className="block truncate text-start text-xs text-fg-3 tabular-nums">
              {hasTitle(row.document) && <bdi className="me-2 text-fg-2">{row.document.name}</bdi>}
              {aboutDocument(row.document, row.hits, t, formats)}
            </span>
          </span>
        </button>
      );
    case 'hit':
      return (
        <button
          type="button"
          data-row={keyOfRow(row)}
          tabIndex={stop ? 0 : -1}
          data-hit
          aria-current={current}
          onClick={() => void openHit(row.hit.documentId, row.index)}
          className={`flex w-full items-baseline gap-2 py-1.25 ps-11 pe-4 text-xs ring-inset-focus ${current ? 'bg-marker-soft' : 'hover:bg-hover'}`}
        >
          <span className="w-9 flex-none truncate text-fg-3 tabular-nums">{aboutLocation(row.hit.location, t)}</span>
          <span className="min-w-0 truncate text-fg-2">
            <Excerpt hit={forOneLine(row.hit)} />
          </span>
        </button>
      );
    case 'more':
      return (
        <button
          type="button"
          data-row={keyOfRow(row)}
          tabIndex={stop ? 0 : -1}
          onClick={() => unfold(row.documentId)}
          className="w-full ps-11 pe-4 pt-1.25 pb-2.25 text-xs text-ink-text ring-inset-focus hover:bg-hover"
        >
          {t('documents.more', { number: formats.exact(row.count) })}
        </button>
      );
  }
});

/** Matches are bold; the highlighter colour is for the page. */
function Excerpt({ hit }: { hit: PassageHit }) {
  let at = 0;
  const parts = hit.highlights.map(([start, end]) => {
    const before = hit.excerpt.slice(at, start);
    at = end;
    return { start, before, found: hit.excerpt.slice(start, end) };
  });
  return (
    <>
      {parts.map(({ start, before, found }) => (
        <span key={start}>
          {before}
          <b className="font-semibold text-fg">{found}</b>
        </span>
      ))}
      {hit.excerpt.slice(at)}
    </>
  );
}

/** Says that without an embedding model, search finds only the words and their forms. */
function SearchedBy() {
  const { t } = useTranslation();
  const words = useDocuments((state) => state.finding.status === 'found' && state.finding.by === 'words');
  if (!words) return null;
  return <p className="flex-none border-t border-line px-4 py-2 text-xs text-fg-3">{t('documents.byWords')}</p>;
}
