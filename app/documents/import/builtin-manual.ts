import type { CollectionId, Document, DocumentId } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { createCollection, listCollections } from '../../store/documents/collections.ts';
import { addDocument, deleteDocument, listDocuments, updateDocument } from '../../store/documents/documents.ts';
import { gatherFolder } from './collect-files.ts';
import type { FileStore } from './file-store.ts';

const NAME = 'About Longhand';

export type HelpOptions = {
  db: Database;
  copies: FileStore;
  /** The user manual: Markdown files that ship with the app. */
  folder: string;
  changed(document: Document): void;
  removed(id: DocumentId): void;
  now: () => number;
};

/** Synchronises the built-in collection with its files; unchanged ones stay. The app
 *  may have moved, so files are identified by name. New ones are queued. */
export async function followHelp({ db, copies, folder, changed, removed, now }: HelpOptions): Promise<void> {
  const files = (await gatherFolder(folder)).files.filter(({ kind }) => kind === 'markdown');
  const hashes = await Promise.all(files.map(({ path }) => copies.hash(path)));
  // Not fsynced: whatever a power failure loses is rebuilt at the next start.
  db.passing(() => {
    const collectionId = collectionOf(db, now());
    const stored = listDocuments(db, collectionId);
    for (const [at, file] of files.entries()) {
      const { path: sourcePath, fileName, kind, bytes, changedAt: sourceChangedAt } = file;
      const known = stored.find(({ document }) => document.fileName === fileName);
      if (!known) {
        changed(
          addDocument(db, { collectionId, fileName, kind, bytes, sourcePath, sourceChangedAt, watched: false }, now())
            .document,
        );
      } else if (known.sha256 !== hashes[at]) {
        const patch = {
          storedName: null,
          sha256: null,
          bytes,
          sourcePath,
          sourceChangedAt,
          state: { status: 'queued' },
        } as const;
        changed(updateDocument(db, known.document.id, patch).document);
      }
    }
    for (const { document } of stored) {
      if (files.some(({ fileName }) => fileName === document.fileName)) continue;
      deleteDocument(db, document.id, now());
      removed(document.id);
    }
  });
}

function collectionOf(db: Database, now: number): CollectionId {
  const known = listCollections(db).find(({ builtIn }) => builtIn);
  return (known ?? createCollection(db, NAME, true, now)).id;
}
