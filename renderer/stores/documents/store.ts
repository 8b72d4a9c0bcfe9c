import { create } from 'zustand';
import {
  type Collection,
  type CollectionId,
  type DocumentId,
  type Failure,
  failureOf,
  type Passage,
  type PassageHit,
  type PassageId,
  type Response,
  type Source,
} from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { useShell } from '../shell.ts';
import {
  type Batch,
  type Change,
  type Documents,
  foundWords,
  hitsOf,
  type Mark,
  noBatch,
  placesOfWords,
  sortedCollections,
  withBatch,
  withChanges,
} from './state.ts';

export type Finding =
  | { status: 'none' }
  | { status: 'searching'; before: readonly PassageHit[] | null }
  | { status: 'found'; by: Response<'documents.search'>['by']; hits: PassageHit[] }
  | { status: 'failed'; failure: Failure };

/** What the viewer shows. `passage`: its index among the hits of the document; null for a mark that came from an
 *  answer. */
export type OpenDocument = { documentId: DocumentId; passage: number | null; mark: Mark | null };

export type DocumentsDialog =
  | { kind: 'none' }
  | { kind: 'new' }
  | { kind: 'rename'; collectionId: CollectionId }
  | { kind: 'collection'; collectionId: CollectionId }
  | { kind: 'unlock'; documentId: DocumentId };

type DocumentsStore = {
  /** Null until loaded: nothing is shown then, rather than "no documents". */
  collections: readonly Collection[] | null;
  documents: Documents;
  batch: Batch;
  chosen: CollectionId | null;
  query: string;
  finding: Finding;
  unfolded: ReadonlySet<DocumentId>;
  shown: OpenDocument | null;
  dialog: DocumentsDialog;
  /** Why files were refused. */
  refused: Failure | null;
  load(): Promise<void>;
  choose(collectionId: CollectionId | null): void;
  search(query: string): void;
  searchAgain(): Promise<void>;
  open(documentId: DocumentId): void;
  openHit(documentId: DocumentId, index: number): Promise<void>;
  openSource(source: Source, mark: Mark): void;
  step(direction: 1 | -1): void;
  close(): void;
  unfold(documentId: DocumentId): void;
  add(collectionId: CollectionId, files: { path: string; name: string }[]): Promise<void>;
};

/** Passages are requested once; their text never changes. */
const passages = new Map<PassageId, Promise<Passage>>();

function passageOf(passageId: PassageId): Promise<Passage> {
  const known = passages.get(passageId);
  if (known) return known;
  const asked = core.call('documents.passage', { passageId });
  passages.set(passageId, asked);
  asked.catch(() => passages.delete(passageId));
  return asked;
}

/** Matched words are marked fully, the rest of the passage softly. */
async function markOf(hit: PassageHit): Promise<Mark> {
  const { text, spans } = await passageOf(hit.passageId);
  return { key: hit.passageId, text, spans, evidence: placesOfWords(text, foundWords(hit)) };
}

/** The other passages on screen, for their soft marks. */
export const marksOf = (hits: readonly PassageHit[]): Promise<Mark[]> =>
  Promise.allSettled(hits.map(markOf)).then((all) =>
    all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
  );

const SEARCH_MS = 80;
const MAX_HITS = 200;

export const useDocuments = create<DocumentsStore>()((set, get) => {
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Updates the open document to the latest hits: stays at the same passage if it is among them, otherwise goes to the first.
   *  A mark that came from an answer stays. */
  function followHits() {
    const { shown, finding } = get();
    if (!shown || shown.passage === null) return;
    const hits = hitsOf(hitsIn(finding), shown.documentId);
    const again = hits.findIndex(({ passageId }) => passageId === shown.mark?.key);
    if (hits.length > 0) void get().openHit(shown.documentId, Math.max(again, 0));
    else set({ shown: { ...shown, passage: null, mark: null } });
  }

  return {
    collections: null,
    documents: new Map(),
    batch: noBatch,
    chosen: null,
    query: '',
    finding: { status: 'none' },
    unfolded: new Set(),
    shown: null,
    dialog: { kind: 'none' },
    refused: null,

    async load() {
      const [collections, documents] = await Promise.all([
        core.call('documents.collections'),
        core.call('documents.list', {}),
      ]);
      changes.flush();
      const all = documents.map((document): Change => ({ document }));
      const known = withChanges(new Map(), all);
      set((state) => ({
        collections: sortedCollections(collections),
        documents: known,
        batch: withBatch(state.batch, known, all, Date.now()),
      }));
    },

    choose(chosen) {
      set({ chosen, unfolded: new Set() });
      void get().searchAgain();
    },

    search(query) {
      clearTimeout(timer);
      set((state) => ({
        query,
        unfolded: new Set(),
        finding: query.trim() === '' ? { status: 'none' } : { status: 'searching', before: hitsIn(state.finding) },
      }));
      timer = setTimeout(() => void get().searchAgain(), SEARCH_MS);
    },

    async searchAgain() {
      const { query, chosen } = get();
      const wanted = query.trim();
      if (wanted === '') {
        set({ finding: { status: 'none' } });
        followHits();
        return;
      }
      const still = () => get().query.trim() === wanted && get().chosen === chosen;
      try {
        const collectionIds = chosen === null ? null : [chosen];
        const { by, hits } = await core.call('documents.search', { query: wanted, collectionIds, limit: MAX_HITS });
        if (!still()) return;
        set({ finding: { status: 'found', by, hits } });
      } catch (error) {
        if (!still()) return;
        set({ finding: { status: 'failed', failure: failureOf(error) } });
      }
      followHits();
    },

    open(documentId) {
      const found = hitsOf(hitsIn(get().finding), documentId);
      if (found.length > 0) void get().openHit(documentId, 0);
      else set({ shown: { documentId, passage: null, mark: null } });
    },

    async openHit(documentId, index) {
      const hit = hitsOf(hitsIn(get().finding), documentId)[index];
      if (!hit) return;
      set((state) => ({
        shown: { documentId, passage: index, mark: state.shown?.documentId === documentId ? state.shown.mark : null },
      }));
      const mark = await markOf(hit).catch(() => null);
      const { shown } = get();
      if (shown?.documentId === documentId && shown.passage === index) set({ shown: { ...shown, mark } });
    },

    openSource(source, mark) {
      clearTimeout(timer);
      set((state) => ({
        query: '',
        finding: { status: 'none' },
        chosen: state.chosen === source.collectionId ? state.chosen : null,
        shown: { documentId: source.documentId, passage: null, mark },
      }));
      useShell.getState().go({ kind: 'documents' });
    },

    step(direction) {
      const { shown, finding } = get();
      if (!shown) return;
      const count = hitsOf(hitsIn(finding), shown.documentId).length;
      const next = (shown.passage ?? (direction === 1 ? -1 : count)) + direction;
      if (next >= 0 && next < count) void get().openHit(shown.documentId, next);
    },

    close: () => set({ shown: null }),
    unfold: (documentId) => set((state) => ({ unfolded: new Set(state.unfolded).add(documentId) })),

    async add(collectionId, files) {
      if (files.length === 0) return;
      set({ refused: null });
      try {
        const documents = await core.call('documents.add', { collectionId, files });
        for (const document of documents) changes.add({ document });
        set({ chosen: get().chosen === null ? null : collectionId });
      } catch (error) {
        set({ refused: failureOf(error) });
      }
    },
  };
});

export const hitsIn = (finding: Finding): readonly PassageHit[] | null =>
  finding.status === 'found' ? finding.hits : finding.status === 'searching' ? finding.before : null;

/** Importing a folder changes thousands of files: ten updates a second are enough. */
const COMMIT_MS = 100;

const changes = createBatcher<Change>((batch) => {
  useDocuments.setState((state) => {
    const documents = withChanges(state.documents, batch);
    return { documents, batch: withBatch(state.batch, documents, batch, Date.now()) };
  });
  const readied = batch.some((change) => 'removed' in change || change.document.state.status === 'ready');
  if (readied && useDocuments.getState().query !== '') void useDocuments.getState().searchAgain();
}, COMMIT_MS);

export function listenToDocuments(): () => void {
  const stops = [
    core.on('document.changed', (document) => changes.add({ document })),
    core.on('document.removed', ({ documentId }) => changes.add({ removed: documentId })),
    core.on('collections.changed', (collections) =>
      useDocuments.setState((state) => ({
        collections: sortedCollections(collections),
        chosen: collections.some(({ id }) => id === state.chosen) ? state.chosen : null,
      })),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

export const collectionById = (collections: readonly Collection[] | null, id: CollectionId | null): Collection | null =>
  collections?.find((collection) => collection.id === id) ?? null;

/** The collection that new files go into: the selected one, or the user's first. */
export const collectionToFill = (state: Pick<DocumentsStore, 'collections' | 'chosen'>): Collection | null => {
  const chosen = collectionById(state.collections, state.chosen);
  if (chosen && !chosen.builtIn) return chosen;
  return state.collections?.find((collection) => !collection.builtIn) ?? null;
};
