import {
  type Collection,
  type CollectionId,
  type Document,
  type DocumentId,
  type documentCalls,
  type Emit,
  type Handlers,
  LonghandError,
} from '../../app/protocol/index.ts';

//  The document calls of the core in memory: collections are made and renamed, files stand in the list as read at once.

type DocumentCalls = keyof typeof documentCalls;

const kept = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new LonghandError('not-found', `no ${what}`);
  return value;
};

export function fakeDocuments(emit: Emit): Pick<Handlers, DocumentCalls> {
  const collections = new Map<CollectionId, Collection>();
  const documents = new Map<DocumentId, Document>();
  let last = 0;

  function keep(collection: Collection): Collection {
    collections.set(collection.id, collection);
    emit('collections.changed', [...collections.values()]);
    return collection;
  }
  function keepDocument(document: Document): Document {
    documents.set(document.id, document);
    emit('document.changed', document);
    return document;
  }
  const collectionOf = (id: CollectionId) => kept(collections.get(id), 'collection');
  const documentOf = (id: DocumentId) => kept(documents.get(id), 'document');

  return {
    'documents.collections': () => [...collections.values()],
    'documents.createCollection': ({ name }) =>
      keep({
        id: `collection-${++last}` as CollectionId,
        name,
        builtIn: false,
        createdAt: Date.now(),
        documents: 0,
        passages: 0,
        folders: [],
        embedding: null,
      }),
    'documents.renameCollection': ({ collectionId, name }) => keep({ ...collectionOf(collectionId), name }),
    'documents.deleteCollection': ({ collectionId }) => void collections.delete(collectionId),
    'documents.restoreCollection': ({ collectionId }) => collectionOf(collectionId),
    'documents.watch': ({ collectionId, path }) =>
      keep({ ...collectionOf(collectionId), folders: [{ path, problem: null }] }),
    'documents.unwatch': ({ collectionId }) => keep({ ...collectionOf(collectionId), folders: [] }),
    'documents.setEmbedding': ({ collectionId }) => collectionOf(collectionId),
    'documents.list': ({ collectionId }) =>
      [...documents.values()].filter((one) => collectionId === null || one.collectionId === collectionId),
    'documents.add': ({ collectionId, files }) =>
      files.map(({ name }) =>
        keepDocument({
          id: `document-${++last}` as DocumentId,
          collectionId,
          name,
          fileName: name,
          kind: 'text',
          bytes: 1000,
          addedAt: Date.now(),
          pages: null,
          passages: 1,
          state: { at: 'ready' },
          watchedPath: null,
          notices: [],
        }),
      ),
    'documents.retry': ({ documentId }) => keepDocument({ ...documentOf(documentId), state: { at: 'ready' } }),
    'documents.remove': ({ documentId }) => void documents.delete(documentId),
    'documents.restore': ({ documentId }) => documentOf(documentId),
    'documents.search': () => ({ by: 'words', hits: [] }),
    'documents.passage': ({ passageId }) => {
      throw new LonghandError('not-found', `no passage ${passageId}`);
    },
    'documents.bytes': () => ({ base64: '', total: 0 }),
    'documents.content': () => ({ total: 0, blocks: [] }),
  };
}
