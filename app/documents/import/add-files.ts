import { setImmediate as turn } from 'node:timers/promises';
import type { CollectionId, Document, DocumentId } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { addDocument, findBySource, updateDocument } from '../../store/documents/documents.ts';
import { type Gathered, gather } from './collect-files.ts';
import { failedState, type Importer } from './importer.ts';

export type AddFilesOptions = {
  db: Database;
  importer: Pick<Importer, 'take' | 'wake'>;
  tell(document: Document): Document;
  now: () => number;
};

/** Files queued per transaction, which takes a few milliseconds. */
const QUEUED_AT_ONCE = 100;

/** Queues files and the files of folders, and copies them. A folder may have twenty thousand. */
export function createFileAdder({ db, importer, tell, now }: AddFilesOptions) {
  /** `known`: already in the collection. */
  function queue(collectionId: CollectionId, { path, fileName, kind, bytes, changedAt }: Gathered) {
    const same = findBySource(db, collectionId, path);
    if (same && same.document.bytes === bytes && same.sourceChangedAt === changedAt) {
      return { document: same.document, known: true };
    }
    const added = { collectionId, fileName, kind, bytes, sourcePath: path, sourceChangedAt: changedAt, watched: false };
    return { document: addDocument(db, added, now()).document, known: false };
  }

  async function queueAll(collectionId: CollectionId, found: readonly Gathered[]): Promise<DocumentId[]> {
    const ids: DocumentId[] = [];
    for (let from = 0; from < found.length; from += QUEUED_AT_ONCE) {
      if (from > 0) await turn();
      const portion = found.slice(from, from + QUEUED_AT_ONCE);
      // Announce only after the commit, which a full disk may roll back.
      const queued = db.transaction(() => portion.map((file) => queue(collectionId, file)));
      for (const { document, known } of queued) if (!known) tell(document);
      ids.push(...queued.map(({ document }) => document.id));
    }
    return ids;
  }

  return async (collectionId: CollectionId, files: readonly { path: string; name: string }[]): Promise<Document[]> => {
    const gathered = await Promise.allSettled(files.map(({ path, name }) => gather(path, name)));
    const found = gathered.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const refused = gathered.flatMap((one, at) =>
      one.status === 'rejected' ? [{ file: files[at], why: one.reason }] : [],
    );
    // A single unreadable file is an error; among others it is listed with its reason.
    if (found.length === 0 && refused[0]) throw refused[0].why;
    const queued = await queueAll(collectionId, found);
    const failed = refused.map(({ file, why }) => {
      const gone = {
        path: file?.path ?? '',
        fileName: file?.name ?? '',
        kind: 'text',
        bytes: 0,
        changedAt: 0,
      } as const;
      const { document } = db.transaction(() => {
        const { id } = queue(collectionId, gone).document;
        return updateDocument(db, id, { state: failedState(why) });
      });
      return tell(document);
    });
    const documents = new Map(failed.map((document) => [document.id, document]));
    for (const id of queued) {
      const document = await importer.take(id).catch(() => null); // removed in the meantime
      if (document) documents.set(document.id, document);
      importer.wake();
    }
    return [...documents.values()];
  };
}
