import { setImmediate as turn } from 'node:timers/promises';
import type { CollectionId, Document, DocumentId } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import { findDocument, listDocuments } from '../store/documents/documents.ts';

/** Documents fetched per query, which takes about five milliseconds. */
const LISTED_AT_ONCE = 1000;

export type Listing = {
  /** The documents as of the end of the listing, in the order they were added. */
  list(collectionId: CollectionId | null): Promise<Document[]>;
  /** A document was added, changed or removed. */
  changed(id: DocumentId): void;
};

/** Lists documents in batches: there may be ten thousand, and other work must not wait. */
export function createListing(db: Database): Listing {
  const going = new Set<Set<DocumentId>>();

  async function read(collectionId: CollectionId | null, changed: Set<DocumentId>): Promise<Document[]> {
    const documents = new Map<DocumentId, Document>();
    for (let after = 0; ; await turn()) {
      const page = listDocuments(db, collectionId, { after, limit: LISTED_AT_ONCE });
      for (const { document } of page) documents.set(document.id, document);
      if (page.length < LISTED_AT_ONCE) break;
      after = page.at(-1)?.number ?? after;
    }
    for (const id of changed) {
      const now = findDocument(db, id)?.document;
      if (now && documents.has(id)) documents.set(id, now);
      else documents.delete(id);
    }
    return [...documents.values()];
  }

  return {
    async list(collectionId) {
      const changed = new Set<DocumentId>();
      going.add(changed);
      try {
        return await read(collectionId, changed);
      } finally {
        going.delete(changed);
      }
    },
    changed(id) {
      for (const changed of going) changed.add(id);
    },
  };
}
