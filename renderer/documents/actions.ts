import type { Collection, CollectionId, Document } from '../../app/protocol/index.ts';
import { choose, core, openCopy, placeFile } from '../bridge.ts';
import { keysHint } from '../commands/command-keys.ts';
import { t } from '../i18n.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { useToasts } from '../ui/toast.tsx';
import { readAll } from '../viewer/bytes.ts';

const undo = () => ({ action: t('undo'), ...keysHint('undo') });

/** Deletes at once, and offers undo. */
export async function deleteCollection(collection: Collection): Promise<void> {
  await core.call('documents.deleteCollection', { collectionId: collection.id });
  await useDocuments.getState().load();
  useToasts.getState().show({
    ...undo(),
    text: t('documents.collectionDeleted', { name: collection.name, count: collection.documents }),
    onAction: () =>
      void core
        .call('documents.restoreCollection', { collectionId: collection.id })
        .then(() => useDocuments.getState().load()),
  });
}

export async function removeDocument(document: Document): Promise<void> {
  const { shown: open, close } = useDocuments.getState();
  if (open?.documentId === document.id) close();
  await core.call('documents.remove', { documentId: document.id });
  useToasts.getState().show({
    ...undo(),
    text: t('documents.removed', { name: document.name }),
    onAction: () => void core.call('documents.restore', { documentId: document.id }),
  });
}

/** The collection that files go into; created with a default name if there is none. */
export async function ensureCollection(wanted: CollectionId | null): Promise<CollectionId> {
  if (wanted) return wanted;
  const made = await core.call('documents.createCollection', { name: t('documents.firstCollection') });
  await useDocuments.getState().load();
  useDocuments.getState().choose(made.id);
  return made.id;
}

/** Adds files that were dropped or chosen in the browser. A file that cannot be uploaded does not hold up the others. */
export async function addFiles(collectionId: CollectionId, files: readonly File[]): Promise<void> {
  const placed = await Promise.allSettled(files.map((file) => placeFile(file)));
  const good = placed.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await useDocuments.getState().add(collectionId, good);
  const bad = placed.find((one) => one.status === 'rejected');
  if (bad) useDocuments.setState({ refused: { code: 'unreadable', message: String(bad.reason) } });
}

const nameOf = (path: string) => path.split(/[\\/]/).at(-1) || path;

/** Opens the system's dialog; false if there is none and files come through an input. */
export async function chooseFiles(collectionId: () => Promise<CollectionId>): Promise<boolean> {
  const asked = choose('documents');
  if (!asked) return false;
  const files = (await asked).map((path) => ({ path, name: nameOf(path) }));
  if (files.length > 0) await useDocuments.getState().add(await collectionId(), files);
  return true;
}

/** Opens the document in the system's viewer; saves it instead if there is none for it. */
export async function openOutside(doc: Document): Promise<void> {
  const open = openCopy();
  if (!open || !(await open(doc.fileName, await readAll(doc.id)))) await saveCopy(doc);
}

/** Saves the original file to the user's disk, where any program can open it. */
export async function saveCopy(doc: Document): Promise<void> {
  const address = URL.createObjectURL(new Blob([await readAll(doc.id)]));
  const link = document.createElement('a');
  link.href = address;
  link.download = doc.fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
