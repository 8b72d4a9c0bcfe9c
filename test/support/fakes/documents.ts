import type {
  Block,
  Collection,
  CollectionId,
  Document,
  DocumentId,
  Emit,
  Handlers,
  Passage,
  PassageHit,
  PassageId,
} from '../../../app/protocol/index.ts';
import { LonghandError } from '../../../app/protocol/index.ts';
import { nextId } from './world.ts';

//  Documents of the fake core: whatever a scene put there. Search is by substring; no file is read.

export type DocumentsWorld = {
  collections: Map<CollectionId, Collection>;
  documents: Map<DocumentId, Document>;
  passages: Map<PassageId, Passage & Pick<PassageHit, 'location'>>;
  files: Map<DocumentId, Uint8Array>;
  blocks: Map<DocumentId, Block[]>;
};

export const noDocuments = (): DocumentsWorld => ({
  collections: new Map(),
  documents: new Map(),
  passages: new Map(),
  files: new Map(),
  blocks: new Map(),
});

export function newCollection(name: string, change: Partial<Collection> = {}): Collection {
  return {
    id: nextId<CollectionId>('collection'),
    name,
    builtIn: false,
    createdAt: Date.now(),
    documents: 0,
    passages: 0,
    folders: [],
    embedding: null,
    ...change,
  };
}

export function newDocument(collectionId: CollectionId, name: string, change: Partial<Document> = {}): Document {
  return {
    id: nextId<DocumentId>('document'),
    collectionId,
    name,
    fileName: `${name}.pdf`,
    kind: 'pdf',
    bytes: 480_000,
    addedAt: Date.now(),
    pages: 12,
    passages: 40,
    state: { status: 'ready' },
    watchedPath: null,
    notices: [],
    ...change,
  };
}

const AROUND = 24;

function hitIn(passage: Passage & Pick<PassageHit, 'location'>, query: string): PassageHit | null {
  const at = passage.text.toLowerCase().indexOf(query.toLowerCase());
  if (at === -1) return null;
  const from = Math.max(0, at - AROUND);
  const before = from > 0 ? '…' : '';
  const excerpt = `${before}${passage.text.slice(from, at + query.length + AROUND)}…`;
  const start = before.length + at - from;
  return {
    passageId: passage.id,
    documentId: passage.documentId,
    location: passage.location,
    excerpt,
    highlights: [[start, start + query.length]],
    score: 1,
  };
}

type DocumentCalls = Extract<keyof Handlers, `documents.${string}`>;

export function fakeDocuments(world: DocumentsWorld, emit: Emit): Pick<Handlers, DocumentCalls> {
  const removed = new Map<string, Collection | Document>();
  const collections = () =>
    [...world.collections.values()].map((collection) => ({
      ...collection,
      documents: Math.max(
        collection.documents,
        [...world.documents.values()].filter((document) => document.collectionId === collection.id).length,
      ),
    }));
  const told = (collection: Collection): Collection => {
    world.collections.set(collection.id, collection);
    emit('collections.changed', collections());
    return collection;
  };
  const keep = (document: Document): Document => {
    world.documents.set(document.id, document);
    emit('document.changed', document);
    return document;
  };
  const collectionOf = (id: CollectionId) => found(world.collections.get(id), 'collection');
  const documentOf = (id: DocumentId) => found(world.documents.get(id), 'document');

  return {
    'documents.collections': collections,
    'documents.createCollection': ({ name }) => told(newCollection(name)),
    'documents.renameCollection': ({ collectionId, name }) => told({ ...collectionOf(collectionId), name }),
    'documents.deleteCollection': ({ collectionId }) => {
      removed.set(collectionId, collectionOf(collectionId));
      world.collections.delete(collectionId);
      emit('collections.changed', collections());
    },
    'documents.restoreCollection': ({ collectionId }) => told(removed.get(collectionId) as Collection),
    'documents.watch': ({ collectionId, path }) => {
      const collection = collectionOf(collectionId);
      return told({ ...collection, folders: [...collection.folders, { path, problem: null }] });
    },
    'documents.unwatch': ({ collectionId, path }) => {
      const collection = collectionOf(collectionId);
      return told({ ...collection, folders: collection.folders.filter((folder) => folder.path !== path) });
    },
    'documents.setEmbedding': ({ collectionId, modelId }) =>
      told({
        ...collectionOf(collectionId),
        embedding: modelId && { modelId, name: modelId, done: 1204, total: 3810 },
      }),
    'documents.list': ({ collectionId }) =>
      [...world.documents.values()].filter(
        (document) => collectionId === null || document.collectionId === collectionId,
      ),
    'documents.add': ({ collectionId, files }) =>
      files.map(({ name }) => keep(newDocument(collectionId, name, { fileName: name, state: { status: 'queued' } }))),
    'documents.retry': ({ documentId }) =>
      keep({ ...documentOf(documentId), state: { status: 'reading', step: 'ocr', done: 0, total: 18 } }),
    'documents.remove': ({ documentId }) => {
      removed.set(documentId, documentOf(documentId));
      world.documents.delete(documentId);
      emit('document.removed', { documentId });
    },
    'documents.restore': ({ documentId }) => keep(removed.get(documentId) as Document),
    'documents.search': ({ query, collectionIds, documentId, limit }) => {
      const inside = (id: DocumentId) =>
        (documentId === undefined || id === documentId) &&
        (collectionIds === null || collectionIds.includes(documentOf(id).collectionId));
      const hits = [...world.passages.values()]
        .filter((passage) => inside(passage.documentId))
        .flatMap((passage) => hitIn(passage, query) ?? [])
        .slice(0, limit);
      return { by: 'words', hits };
    },
    'documents.ask': ({ question }) => ({ found: false, by: 'words', question, sources: [], support: [], quote: null }),
    'documents.passage': ({ passageId }) => found(world.passages.get(passageId), 'passage'),
    'documents.bytes': ({ documentId, start, end }) => {
      const file = found(world.files.get(documentId), 'file');
      const text = Array.from(file.subarray(start, end), (byte) => String.fromCharCode(byte)).join('');
      return { base64: btoa(text), total: file.length };
    },
    'documents.content': ({ documentId, from, limit }) => {
      const blocks = found(world.blocks.get(documentId), 'text');
      return { total: blocks.length, blocks: blocks.slice(from - 1, from - 1 + limit) };
    },
  };
}

function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new LonghandError('not-found', `[fake] no such ${what}`);
  return value;
}
