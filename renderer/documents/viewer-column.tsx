import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Document, DocumentNotice, PassageHit } from '../../app/protocol/index.ts';
import { isElectron, isMac, reveal } from '../bridge.ts';
import { openChat } from '../commands/commands.ts';
import { useFormats } from '../i18n.ts';
import { useChat } from '../stores/chat/store.ts';
import { hitsOf, type Mark } from '../stores/documents/state.ts';
import { hitsIn, marksOf, useDocuments } from '../stores/documents/store.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Menu, MenuCheck, MenuItem, MenuLine } from '../ui/overlays/menu.tsx';
import { FindBar } from '../viewer/find-bar.tsx';
import { type Zoom, zoomStep } from '../viewer/layout.ts';
import type { Find, ViewState } from '../viewer/types.ts';
import { Viewer } from '../viewer/viewer.tsx';
import { openOutside, removeDocument, saveCopy } from './actions.ts';
import { askAboutPage } from './ask-page.ts';
import { aboutNotice } from './words.ts';

const noHits: readonly PassageHit[] = [];
const noMarks: readonly Mark[] = [];
const unseen: ViewState = { page: null, pages: 0, scale: 1, found: null, showPage: () => {}, picture: null };

/** The open document with its toolbar: passage, page, and actions. */
export function ViewerColumn() {
  const { t } = useTranslation();
  const shown = useDocuments((state) => state.shown);
  const document = useDocuments((state) => (shown && state.documents.get(shown.documentId)) ?? null);
  const [view, setView] = useState(unseen);
  const [zoom, setZoom] = useState<Zoom>('fit');
  const [inverted, setInverted] = useState(false);
  const [find, setFind] = useState<Find | null>(null);
  const hits = useHits();
  const others = useOthers(hits);
  const onState = useCallback((next: ViewState) => setView(next), []);
  const id = shown?.documentId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another document begins as it fits, without a search
  useEffect(() => {
    setView(unseen);
    setZoom('fit');
    setFind(null);
  }, [id]);
  if (!shown) return <NoneOpen />;
  return (
    <section aria-label={document?.name ?? t('documents.goneTitle')} className="flex min-h-0 flex-1 flex-col">
      <div className="@container flex h-10 flex-none items-center gap-1 border-b border-line ps-4 pe-2">
        <span className="-ms-2 flex-none lg:hidden">
          <IconButton icon="back" label={t('documents.back')} onClick={useDocuments.getState().close} />
        </span>
        <h2 className="min-w-0 flex-1 truncate font-medium">
          <bdi>{document?.name ?? t('documents.goneTitle')}</bdi>
        </h2>
        <PassageSteps hits={hits} passage={shown.passage} />
        <PageNumber view={view} />
        {document && (
          <>
            <Tools
              document={document}
              view={view}
              inverted={inverted}
              onInvert={setInverted}
              onZoom={setZoom}
              onFind={() => setFind({ text: '', at: 0 })}
            />
            <Button icon="chat" className="ms-1.5" onClick={() => void ask(document)}>
              {t('documents.ask')}
            </Button>
          </>
        )}
      </div>
      {document && document.notices.length > 0 && <Notices notices={document.notices} />}
      {find && <FindBar find={find} found={view.found} onFind={setFind} />}
      <Viewer
        document={document}
        mark={shown.mark}
        others={others}
        zoom={zoom}
        inverted={inverted}
        find={find}
        onState={onState}
      />
    </section>
  );
}

/** With nothing to choose from, the list says what to do. */
function NoneOpen() {
  const { t } = useTranslation();
  const some = useDocuments((state) => state.documents.size > 0);
  return (
    <p className="grid flex-1 place-items-center bg-sunken p-6 text-fg-3">{some ? t('documents.noneOpen') : ''}</p>
  );
}

/** What was omitted or guessed during import. */
function Notices({ notices }: { notices: readonly DocumentNotice[] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <ul className="max-h-16 flex-none overflow-y-auto border-b border-line px-4 py-1.5 text-xs text-fg-2">
      {notices.map((notice) => (
        <li key={JSON.stringify(notice)}>{aboutNotice(notice, t, formats)}</li>
      ))}
    </ul>
  );
}

function useHits(): readonly PassageHit[] {
  const shown = useDocuments((state) => state.shown);
  const hits = useDocuments((state) => hitsIn(state.finding));
  const [own, setOwn] = useState(noHits);
  useEffect(() => setOwn(shown && hits ? hitsOf(hits, shown.documentId) : noHits), [shown, hits]);
  return own;
}

const MAX_MARKS = 60;

/** All matching passages of the document, for their soft marks and those along the scroll bar. */
function useOthers(hits: readonly PassageHit[]): readonly Mark[] {
  const [marks, setMarks] = useState(noMarks);
  const wanted = hits.map(({ passageId, excerpt }) => `${passageId} ${excerpt}`).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same passages are the same marks
  useEffect(() => {
    let gone = false;
    if (hits.length === 0) setMarks(noMarks);
    else
      void marksOf(hits.slice(0, MAX_MARKS)).then((all) => {
        if (!gone) setMarks(all);
      });
    return () => {
      gone = true;
    };
  }, [wanted]);
  return marks;
}

function PassageSteps({ hits, passage }: { hits: readonly PassageHit[]; passage: number | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { step } = useDocuments.getState();
  if (hits.length === 0) return null;
  return (
    <>
      <span className="text-xs whitespace-nowrap text-fg-2 tabular-nums @max-[22rem]:sr-only" role="status">
        {passage === null
          ? t('documents.passages', { count: hits.length, number: formats.exact(hits.length) })
          : t('documents.passageOf', { at: formats.exact(passage + 1), count: formats.exact(hits.length) })}
      </span>
      <IconButton
        icon="up"
        label={t('documents.previousPassage')}
        keys="K"
        disabled={passage === 0}
        onClick={() => step(-1)}
      />
      <IconButton
        icon="down"
        label={t('documents.nextPassage')}
        keys="J"
        disabled={passage === hits.length - 1}
        onClick={() => step(1)}
      />
      <span className="mx-1.5 h-4 w-px flex-none bg-line" />
    </>
  );
}

function PageNumber({ view }: { view: ViewState }) {
  const { t } = useTranslation();
  const formats = useFormats();
  if (view.page === null) return null;
  return (
    <span className="text-xs whitespace-nowrap text-fg-2 tabular-nums @max-[36rem]:hidden">
      {t('documents.pageOf', { page: formats.exact(view.page), pages: formats.exact(view.pages) })}
    </span>
  );
}

type ToolsProps = {
  document: Document;
  view: ViewState;
  inverted: boolean;
  onInvert: (inverted: boolean) => void;
  onZoom: (zoom: Zoom) => void;
  onFind: () => void;
};

function Tools({ document, view, inverted, onInvert, onZoom, onFind }: ToolsProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const show = reveal();
  const { watchedPath } = document;
  return (
    <>
      <IconButton icon="search" label={t('documents.findInText')} onClick={onFind} />
      <Menu label={t('documents.view')} align="end" trigger={<IconButton icon="more" label={t('documents.view')} />}>
        <MenuItem onSelect={() => onZoom(zoomStep(view.scale, 1))}>{t('documents.zoomIn')}</MenuItem>
        <MenuItem onSelect={() => onZoom(zoomStep(view.scale, -1))}>
          {t('documents.zoomOut', { share: formats.percent(view.scale) })}
        </MenuItem>
        <MenuItem onSelect={() => onZoom('fit')}>{t('documents.fit')}</MenuItem>
        {document.kind === 'pdf' && <MenuItem onSelect={() => onZoom('column')}>{t('documents.fitColumn')}</MenuItem>}
        <MenuCheck checked={inverted} onChange={onInvert}>
          {t('documents.invert')}
        </MenuCheck>
        {view.picture && (
          <MenuItem onSelect={() => void askAboutPage(document, view)}>{t('documents.askPage')}</MenuItem>
        )}
        <MenuLine />
        {isElectron() && <MenuItem onSelect={() => void openOutside(document)}>{t('documents.openOutside')}</MenuItem>}
        <MenuItem onSelect={() => void saveCopy(document)}>{t('documents.saveCopy')}</MenuItem>
        {show && watchedPath !== null && (
          <MenuItem onSelect={() => show(watchedPath)}>
            {isMac() ? t('storage.finder') : t('storage.fileManager')}
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem danger onSelect={() => void removeDocument(document)}>
          {t('documents.remove')}
        </MenuItem>
      </Menu>
    </>
  );
}

/** Opens a new chat that answers from the collection of this document. */
async function ask(document: Document): Promise<void> {
  openChat(null);
  useChat.setState((state) => ({ fresh: { ...state.fresh, collectionIds: [document.collectionId] } }));
}
