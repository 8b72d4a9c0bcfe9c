import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { ADD_FILES } from '../lib/focus.ts';
import { PanelBoundary } from '../parts/error-boundaries.tsx';
import { SidebarButtons } from '../parts/sidebar-buttons.tsx';
import { collectionToFill, useDocuments } from '../stores/documents/store.ts';
import { Button } from '../ui/button.tsx';
import { usePassageKeys } from '../viewer/use-passage-keys.ts';
import { usePdfSoon } from '../viewer/viewer.tsx';
import { addFiles, chooseFiles, ensureCollection } from './actions.ts';
import { CollectionColumn } from './collections.tsx';
import { Dialogs } from './dialogs.tsx';
import { DocumentColumn } from './list.tsx';
import { ViewerColumn } from './viewer-column.tsx';

/** Collections, their documents, and the open document: three columns, two in a narrower window, two steps in a narrow
 *  one. */
export function DocumentsPage() {
  const { t } = useTranslation();
  const known = useDocuments((state) => state.collections !== null);
  const shown = useDocuments((state) => state.shown?.documentId ?? null);
  const open = shown !== null;
  usePassageKeys();
  usePdfSoon();
  return (
    <main className="@container/page flex h-full min-w-0 flex-col">
      <header className="drag-region flex h-bar flex-none items-center gap-2 border-b border-line ps-5 pe-3">
        <SidebarButtons />
        <h1 className="min-w-0 flex-1 truncate font-semibold">{t('documents.title')}</h1>
        <Button
          icon="collection"
          className="no-drag"
          onClick={() => useDocuments.setState({ dialog: { kind: 'new' } })}
        >
          {t('documents.newCollection')}
        </Button>
        <AddFiles />
      </header>
      {known && (
        <div className="flex min-h-0 flex-1">
          <div className="flex w-49 flex-none flex-col border-e border-line @max-[65rem]/page:hidden">
            <CollectionColumn />
          </div>
          <div
            data-passages
            className={`flex min-h-0 w-87 min-w-0 flex-none flex-col border-line @max-[65rem]/page:w-78 lg:border-e max-lg:w-full! ${open ? 'max-lg:hidden' : ''}`}
          >
            <DocumentColumn />
          </div>
          <div data-passages className={`flex min-h-0 min-w-0 flex-1 flex-col ${open ? '' : 'max-lg:hidden'}`}>
            <PanelBoundary subject={shown ?? ''} onClose={useDocuments.getState().close}>
              <ViewerColumn />
            </PanelBoundary>
          </div>
        </div>
      )}
      <Dialogs />
    </main>
  );
}

function AddFiles() {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const target = () => ensureCollection(collectionToFill(useDocuments.getState())?.id ?? null);
  const choose = async () => {
    if (!(await chooseFiles(target))) input.current?.click();
  };
  return (
    <>
      <Button id={ADD_FILES} kind="primary" icon="attach" className="no-drag" onClick={() => void choose()}>
        {t('documents.addFiles')}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('documents.addFiles')}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = '';
          if (files.length > 0) void target().then((collectionId) => addFiles(collectionId, files));
        }}
      />
    </>
  );
}
