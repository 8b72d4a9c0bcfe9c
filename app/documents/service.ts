import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '../engine/client/engine-client.ts';
import type {
  Collection,
  CollectionId,
  Document,
  DocumentId,
  Emit,
  Handlers,
  Report,
  Request,
} from '../protocol/index.ts';
import { codeOfSystem, type documentCalls, guarded, LonghandError } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import { getPassage, removeContent } from '../store/documents/chunks.ts';
import {
  createCollection,
  forgetCollections,
  getCollection,
  listCollections,
  markCollectionDeleted,
  renameCollection,
  unwatchFolder,
  watchFolder,
} from '../store/documents/collections.ts';
import {
  contentOf,
  deleteDocument,
  deletedDocuments,
  dropCopy,
  forgetDocument,
  getDocument,
  keptNames,
  requeueUnsettled,
  restoreDocument,
  titledDocuments,
  updateDocument,
} from '../store/documents/documents.ts';
import { createKnownQuestions, WITHOUT_KNOWN } from './answer/known-questions.ts';
import { createRag, type PromptBudget, type Rag } from './answer/rag.ts';
import { unpackSpans } from './chunk/span-codec.ts';
import { createFileAdder } from './import/add-files.ts';
import { followHelp } from './import/builtin-manual.ts';
import { createFileStore } from './import/file-store.ts';
import { createWatcher } from './import/folder-watcher.ts';
import { createImporter } from './import/importer.ts';
import { createEmbedding, type Embedders } from './index/embedding-index.ts';
import { createListing } from './listing.ts';
import type { SystemRecogniser } from './parse/assets.ts';
import type { StartParser } from './parse/fork-parser.ts';
import { createParserClient } from './parse/parser-client.ts';
import { isTelling } from './parse/title.ts';
import { hitOf, tellingWords } from './search/fulltext-search.ts';
import { find } from './search/hybrid-search.ts';

export type DocumentsOptions = {
  db: Database;
  emit: Emit;
  dataFolder: string;
  engine: Engine;
  embedders: Embedders;
  startParser: StartParser;
  /** The system's OCR; without it, Tesseract is used. */
  recognise?: SystemRecogniser | null;
  /** Called after deleted documents were purged. */
  purged?: () => void;
  /** Folder of the user manual; null: this core does not look after it. */
  help: string | null;
  /** How long after the start the manual is read. */
  helpAfterMs?: number;
  now: () => number;
  /** As in the importer. */
  turnMs?: number;
  report?: Report;
};

type Owned = keyof typeof documentCalls;

export type Documents = {
  handlers: Pick<Handlers, Owned>;
  answering: Rag;
  /** Resolves when all documents are parsed and embedded. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

/** As for deleted chats. */
const DELETED_KEPT_MS = 24 * 60 * 60 * 1000;
const MAX_BYTES = 1024 * 1024;
const COLLECTIONS_MS = 200;
/** Budget without a model: as many passages as for a large one. A token is about four characters. */
const WITHOUT_MODEL: PromptBudget = { tokens: 8192, passages: 6, count: async (text) => Math.ceil(text.length / 4) };
const SOON_MS = 500;
/** Delay before the manual is indexed, after startup has settled. */
const LATER_MS = 3000;

/** The documents service: from dropped files to found passages. */
export function createDocuments(options: DocumentsOptions): Documents {
  const { db, emit, now, report = console.error } = options;
  const copies = createFileStore(join(options.dataFolder, 'documents'));
  const parser = createParserClient({
    start: options.startParser,
    recognise: options.recognise ?? null,
  });
  const importer = createImporter({
    db,
    copies,
    parser,
    changed: tell,
    removed: tellRemoved,
    now,
    ...(options.turnMs !== undefined && { turnMs: options.turnMs }),
  });
  const watcher = createWatcher({
    db,
    copies,
    changed: tell,
    removed: tellRemoved,
    wake: importer.wake,
    interrupt: importer.interrupt,
    told: collectionsChanged,
    now,
    report,
  });

  const known =
    options.help === null ? WITHOUT_KNOWN : createKnownQuestions({ db, engine: options.engine, folder: options.help });
  const embedding = createEmbedding({
    db,
    engine: options.engine,
    embedders: options.embedders,
    changed: collectionsChanged,
    embedded: async (collectionId, encoder) => {
      if (getCollection(db, collectionId).builtIn) await known.prepare(encoder);
    },
    report,
  });
  const collectionOf = (id: CollectionId): Collection => {
    const collection = getCollection(db, id);
    return { ...collection, embedding: embedding.stateOf(collection) };
  };
  const collections = () => listCollections(db).map((one) => ({ ...one, embedding: embedding.stateOf(one) }));

  let telling: NodeJS.Timeout | null = null;
  let closed = false;
  function collectionsChanged() {
    // Startup work may end after close, when the database is no longer available.
    if (closed) return;
    telling ??= setTimeout(
      guarded(report, () => {
        telling = null;
        emit('collections.changed', collections());
      }),
      COLLECTIONS_MS,
    );
  }
  const listing = createListing(db);
  function tell(document: Document): Document {
    listing.changed(document.id);
    emit('document.changed', document);
    if (document.state.status === 'ready') embedding.wake();
    collectionsChanged();
    return document;
  }
  function tellRemoved(documentId: DocumentId) {
    listing.changed(documentId);
    emit('document.removed', { documentId });
    collectionsChanged();
  }
  function told(collection: Collection): Collection {
    collectionsChanged();
    return collection;
  }

  /** @throws LonghandError `not-found`, `bad-request` for the built-in collection */
  function own(id: CollectionId): Collection {
    const collection = getCollection(db, id);
    if (collection.builtIn) {
      throw new LonghandError(
        'bad-request',
        `[documents] "${collection.name}" comes with Longhand and cannot be changed`,
      );
    }
    return collection;
  }
  const ownDocument = (id: DocumentId) => {
    const stored = getDocument(db, id);
    own(stored.document.collectionId);
    return stored;
  };

  const addFiles = createFileAdder({ db, importer, tell, now });
  const answering = createRag({ db, embedding, known });
  const handlers: Documents['handlers'] = {
    'documents.collections': () => collections(),
    'documents.createCollection': ({ name }) => {
      const { id } = createCollection(db, name, false, now());
      embedding.begin(id);
      return told(collectionOf(id));
    },
    'documents.renameCollection': ({ collectionId, name }) => {
      own(collectionId);
      renameCollection(db, collectionId, name);
      return told(collectionOf(collectionId));
    },
    'documents.deleteCollection': ({ collectionId }) => {
      own(collectionId);
      importer.interrupt(collectionId);
      markCollectionDeleted(db, collectionId, now());
      collectionsChanged();
    },
    'documents.restoreCollection': ({ collectionId }) => {
      markCollectionDeleted(db, collectionId, null);
      // Documents that were being parsed when it was removed are parsed again.
      requeueUnsettled(db, collectionId);
      importer.wake();
      return told(collectionOf(collectionId));
    },
    'documents.watch': async ({ collectionId, path }) => {
      own(collectionId);
      const folder = await realFolder(path);
      watchFolder(db, { collectionId, path: folder, problem: null });
      await watcher.follow();
      return told(collectionOf(collectionId));
    },
    'documents.unwatch': async ({ collectionId, path }) => {
      own(collectionId);
      unwatchFolder(db, collectionId, path);
      await watcher.follow();
      return told(collectionOf(collectionId));
    },
    'documents.setEmbedding': ({ collectionId, modelId }) => {
      getCollection(db, collectionId);
      embedding.choose(collectionId, modelId);
      return told(collectionOf(collectionId));
    },

    'documents.list': ({ collectionId }) => listing.list(collectionId),
    'documents.add': ({ collectionId, files }) => {
      own(collectionId);
      return addFiles(collectionId, files);
    },
    'documents.retry': ({ documentId, password, ocr }) => {
      const { document, ocr: before } = ownDocument(documentId);
      if (document.state.status !== 'failed') return document;
      if (password !== undefined) importer.givePassword(documentId, password);
      const queued = updateDocument(db, documentId, { state: { status: 'queued' }, attempts: 0, ocr: ocr || before });
      importer.wake();
      return tell(queued.document);
    },
    'documents.remove': ({ documentId }) => {
      ownDocument(documentId);
      importer.interrupt(documentId);
      deleteDocument(db, documentId, now());
      tellRemoved(documentId);
    },
    'documents.restore': ({ documentId }) => {
      return tell(readAnew(restoreDocument(db, documentId).document));
    },

    'documents.search': async (wanted) => {
      const { by, found } = await find(db, embedding, { ...wanted, collectionIds: searched(wanted) });
      const words = tellingWords(db, wanted.query);
      return { by, hits: found.map((one) => hitOf(one, words)) };
    },
    'documents.ask': (asked) => answering.ground({ ...asked, budget: WITHOUT_MODEL }),
    'documents.passage': ({ passageId }) => {
      const { id, documentId, position, text, headings, spans } = getPassage(db, passageId);
      return { id, documentId, number: position, text, headings, spans: unpackSpans(spans) };
    },
    'documents.bytes': async ({ documentId, start, end }) => {
      const { storedName, document } = getDocument(db, documentId);
      if (storedName === null) throw new LonghandError('not-found', `[documents] no copy of ${document.fileName} yet`);
      const { bytes, total } = await copies.read(storedName, start, Math.min(end, start + MAX_BYTES));
      return { base64: bytes.toString('base64'), total };
    },
    'documents.content': ({ documentId, from, limit }) =>
      contentOf(db, getDocument(db, documentId).number, from, limit),
  };

  /** "Everywhere" means the user's collections. The built-in manual is searched if it is chosen or named, or if
   *  there is nothing else. */
  function searched({ query, collectionIds, documentId }: Request<'documents.search'>): CollectionId[] | null {
    if (collectionIds !== null || documentId !== undefined || /\blonghand\b/i.test(query)) return collectionIds;
    const own = listCollections(db).filter(({ builtIn }) => !builtIn);
    return own.some(({ documents }) => documents > 0) ? own.map(({ id }) => id) : null;
  }

  /** Documents that were being parsed when they were removed are parsed again. */
  function readAnew(document: Document): Document {
    const half = document.state.status === 'reading';
    const settled = half ? updateDocument(db, document.id, { state: { status: 'queued' } }).document : document;
    importer.wake();
    return settled;
  }

  /** The real path, so that a folder is not watched under two names. */
  async function realFolder(path: string): Promise<string> {
    const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
      throw new LonghandError(codeOfSystem(error) ?? 'permission', `[documents] ${error.message}`);
    });
    if (!(await stat(real)).isDirectory())
      throw new LonghandError('bad-request', `[documents] ${path} is not a folder`);
    return real;
  }

  /** Purges rows that can no longer be restored, and copies without references. */
  async function purge() {
    for (const { number, stays } of deletedDocuments(db, now() - DELETED_KEPT_MS)) {
      while (removeContent(db, number)) await new Promise((next) => setImmediate(next));
      if (stays) dropCopy(db, number);
      else forgetDocument(db, number);
    }
    forgetCollections(db, now() - DELETED_KEPT_MS);
    await copies.keepOnly(keptNames(db));
  }

  /** Earlier versions also stored generic titles. */
  function forgetEmptyTitles() {
    for (const { id, name, fileName } of titledDocuments(db))
      if (!isTelling(name)) tell(updateDocument(db, id, { name: fileName }).document);
  }

  requeueUnsettled(db);
  async function begin() {
    guarded(report, forgetEmptyTitles)();
    await purge().then(options.purged, () => {}); // retried at the next start
    if (closed) return;
    importer.wake();
    embedding.wake();
    watcher.follow().catch(() => {}); // each folder reports its own problem
  }
  async function beginHelp(folder: string) {
    await followHelp({ db, copies, folder, changed: tell, removed: tellRemoved, now });
    if (!closed) importer.wake();
  }
  // After startup, so that neither the first window nor the first question waits for it.
  const timers = [setTimeout(guarded(report, begin), SOON_MS)];
  const { help } = options;
  if (help !== null)
    timers.push(
      setTimeout(
        guarded(report, () => beginHelp(help)),
        options.helpAfterMs ?? LATER_MS,
      ),
    );

  return {
    handlers,
    answering,
    async idle() {
      await importer.idle();
      await embedding.idle();
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      watcher.close();
      await embedding.close();
      await importer.close();
      // Last, because the steps above may still emit events.
      closed = true;
      if (telling) clearTimeout(telling);
    },
  };
}
