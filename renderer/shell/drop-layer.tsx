import { type DragEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CollectionId } from '../../app/protocol/index.ts';
import { addFiles, ensureCollection } from '../documents/actions.ts';
import { t as text } from '../i18n.ts';
import { attachFiles } from '../lib/attach-files.ts';
import { type Dropped, readDropped } from '../models/installed/dropped.ts';
import { type ImportedModel, importModels } from '../models/installed/importing.ts';
import { isVisionFile } from '../models/installed/model-files.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { type Place, useShell } from '../stores/shell.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { useToasts } from '../ui/toast.tsx';

//  Files dropped anywhere on the app. Models are imported wherever they are dropped; for other files the target matters.

const holdsFiles = (event: { dataTransfer: DataTransfer | null }) =>
  event.dataTransfer?.types.includes('Files') ?? false;

/** What is dragged over the window: before the drop the browser reveals the types of files but not their names. Models and
 *  folders have no type. */
type Dragged = { perhapsModels: boolean };

function useHanging(): [Dragged | null, () => void] {
  const [dragged, setHanging] = useState<Dragged | null>(null);
  useEffect(() => {
    const enter = (event: globalThis.DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      const items = [...(event.dataTransfer?.items ?? [])];
      setHanging({ perhapsModels: items.every(({ type }) => type === '' || type === 'application/octet-stream') });
    };
    const over = (event: globalThis.DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
    };
    const leave = (event: globalThis.DragEvent) => {
      if (event.relatedTarget === null) setHanging(null);
    };
    const drop = (event: globalThis.DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
      setHanging(null);
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return [dragged, () => setHanging(null)];
}

/** `take`: handles files that are not models. */
type Target = { key: string; icon: IconName; name: string; take: (files: File[]) => Promise<void> };

const intoCollection = (wanted: CollectionId | null) => async (files: File[]) => {
  const collectionId = await ensureCollection(wanted);
  useShell.getState().go({ kind: 'documents' });
  useDocuments.getState().choose(collectionId);
  await addFiles(collectionId, files);
};

/** Says that files dropped on the models page are not models, and offers the right place. */
async function notModels(files: File[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  const { collections, chosen } = useDocuments.getState();
  const own = collections?.filter((collection) => !collection.builtIn) ?? [];
  const collection = own.find(({ id }) => id === chosen) ?? own[0] ?? null;
  useToasts.getState().show({
    text:
      files.length === 1
        ? text('models.notAModel', { name: first.name })
        : text('models.notModels', { count: files.length }),
    action: text('models.addToDocuments'),
    onAction: () => void intoCollection(collection?.id ?? null)(files),
  });
}

async function take({ models, files: all }: Dropped, place: Target['take']): Promise<void> {
  const files = all.filter(({ name }) => !isVisionFile(name));
  const tower = all.find(({ name }) => isVisionFile(name));
  if (tower) {
    useToasts.getState().show({
      text: text('models.isVision', { name: tower.name }),
      action: text('models.showImport'),
      onAction: () => useShell.getState().go({ kind: 'models' }),
    });
  }
  if (files.length > 0) await place(files);
  if (models.length === 0) return;
  const alone = files.length === 0;
  if (alone) useShell.getState().go({ kind: 'models' });
  await importBeside(models, alone);
}

/** Imports models that were dropped together with documents, without leaving the page. */
async function importBeside(models: ImportedModel[], alone: boolean): Promise<void> {
  const show = (words: string) =>
    useToasts.getState().show({
      text: words,
      action: text('models.showImport'),
      onAction: () => useShell.getState().go({ kind: 'models' }),
    });
  const names = models.map(({ name }) => name).join(', ');
  if (!alone) show(text('models.importBegins', { names }));
  if (!(await importModels(models)) && !alone) show(text('models.importFailed', { names }));
}

function targetsAt(place: Place, collections: { id: CollectionId; name: string }[], perhapsModels: boolean): Target[] {
  const models: Target = { key: 'models', icon: 'models', name: text('models.dropModel'), take: notModels };
  if (place.kind === 'models') return [models];
  const chat: Target = {
    key: 'chat',
    icon: 'chat',
    name: text('documents.dropInChat'),
    take: async (files) => attachFiles(files),
  };
  const all = collections.map(({ id, name }): Target => {
    return { key: id, icon: 'collection', name, take: intoCollection(id) };
  });
  const first: Target = {
    key: 'new',
    icon: 'documents',
    name: text('documents.firstCollection'),
    take: intoCollection(null),
  };
  return [
    ...(place.kind === 'chat' ? [chat] : []),
    ...(all.length > 0 ? all : [first]),
    ...(perhapsModels ? [models] : []),
  ];
}

export function DropLayer() {
  const { t } = useTranslation();
  const [dragged, end] = useHanging();
  const place = useShell((state) => state.place);
  const collections = useDocuments((state) => state.collections)?.filter((collection) => !collection.builtIn) ?? [];
  if (!dragged) return null;
  const targets = targetsAt(place, collections, dragged.perhapsModels);
  const drop = (event: DragEvent, into: Target['take']) => {
    event.preventDefault();
    event.stopPropagation();
    const dropped = readDropped(event.dataTransfer);
    end();
    void dropped.then((all) => take(all, into)).catch(() => tellUnreadable());
  };
  // Dropped beside the targets: models are still imported, and a single target needs no choice.
  const [only] = targets;
  const beside = targets.length === 1 && only ? only.take : async () => {};
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files are dropped with a pointer; buttons do the same with keys
    <div
      onDrop={(event) => drop(event, beside)}
      className="pointer-events-auto fixed inset-0 z-50 grid place-items-center bg-scrim"
    >
      <div
        role="dialog"
        aria-label={place.kind === 'models' ? t('models.drop') : t('documents.dropHere')}
        className="flex max-h-[80vh] w-90 max-w-[calc(100vw-2rem)] flex-col overflow-hidden rounded-xl bg-raised p-3 shadow-3"
      >
        <h2 className="px-2 pt-1 pb-2.5 text-lg font-semibold tracking-tight">
          {place.kind === 'models' ? t('models.drop') : t('documents.dropHere')}
        </h2>
        <ul className="flex min-h-0 flex-col gap-1 overflow-y-auto">
          {targets.map((target) => (
            <DropTarget key={target.key} target={target} onDrop={(event) => drop(event, target.take)} />
          ))}
        </ul>
      </div>
    </div>
  );
}

const tellUnreadable = () =>
  useToasts.getState().show({ text: text('documents.dropFailed'), action: text('close'), onAction: () => {} });

function DropTarget({ target, onDrop }: { target: Target; onDrop: (event: DragEvent) => void }) {
  const [over, setOver] = useState(false);
  return (
    <li
      onDragEnter={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
      className={`flex min-h-14 items-center gap-3 rounded-lg px-3.5 ${over ? 'bg-ink-soft hairline-focus' : 'bg-sunken'}`}
    >
      <Icon name={target.icon} size={20} className={over ? 'text-ink-text' : 'text-fg-3'} />
      <bdi className="min-w-0 flex-1 truncate font-medium">{target.name}</bdi>
    </li>
  );
}
