import type {
  Collection,
  CollectionId,
  Document,
  DocumentId,
  PassageHit,
  Source,
  Span,
} from '../../../app/protocol/index.ts';
import { foldCase } from '../../lib/case-fold.ts';

//  The tested core of the documents page: plain data in, plain data out.

export type Documents = ReadonlyMap<DocumentId, Document>;

/** A mark in a document. `evidence`: the most relevant characters of `text`; none: all of it. */
export type Mark = {
  key: string;
  text: string;
  spans: readonly Span[];
  evidence: readonly (readonly [number, number])[];
};

export const markOfSource = (source: Source, evidence: Mark['evidence'] = []): Mark => ({
  key: `${source.passageId} ${evidence.join(' ')}`,
  text: source.text,
  spans: source.spans,
  evidence,
});

export type Change = { document: Document } | { removed: DocumentId };

export function withChanges(documents: Documents, changes: readonly Change[]): Documents {
  const next = new Map(documents);
  for (const change of changes) {
    if ('removed' in change) next.delete(change.removed);
    else next.set(change.document.id, change.document);
  }
  return next;
}

export const isReady = (document: Document): boolean => document.state.status === 'ready';
export const isFailed = (document: Document): boolean => document.state.status === 'failed';
const isComing = (document: Document): boolean =>
  document.state.status === 'queued' || document.state.status === 'reading';

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The documents of a collection, or all, sorted by file name as in a file manager. */
export function documentsIn(documents: Documents, collectionId: CollectionId | null): Document[] {
  return [...documents.values()]
    .filter((document) => collectionId === null || document.collectionId === collectionId)
    .sort((a, b) => byName.compare(a.fileName, b.fileName) || (a.id < b.id ? -1 : 1));
}

/** The user's collections by name; the built-in one last. */
export const sortedCollections = (collections: readonly Collection[]): Collection[] =>
  [...collections].sort((a, b) => Number(a.builtIn) - Number(b.builtIn) || byName.compare(a.name, b.name));

/** Completed share of the work on one document; reading, recognising and indexing count equally. */
export function shareOfDocument({ state }: Document): number {
  if (state.status === 'ready' || state.status === 'failed') return 1;
  if (state.status === 'queued' || state.total <= 0) return 0;
  return Math.min(1, state.done / state.total);
}

/** Documents imported together: a batch begins with the first that is not ready and ends when all are. */
export type Batch = { ids: ReadonlySet<DocumentId>; since: number };
export const noBatch: Batch = { ids: new Set(), since: 0 };

export function withBatch(batch: Batch, documents: Documents, changes: readonly Change[], now: number): Batch {
  const ids = new Set(batch.ids);
  for (const change of changes) {
    if ('removed' in change) ids.delete(change.removed);
    else if (isComing(change.document)) ids.add(change.document.id);
  }
  const goesOn = [...ids].some((id) => {
    const document = documents.get(id);
    return document !== undefined && isComing(document);
  });
  if (!goesOn) return noBatch;
  return { ids, since: batch.ids.size === 0 ? now : batch.since };
}

export type Importing = {
  /** Documents being read, then failed ones that need the user, then queued ones. */
  documents: Document[];
  ready: number;
  total: number;
  msLeft: number | null;
};

const order = (document: Document) => (document.state.status === 'reading' ? 0 : isFailed(document) ? 1 : 2);
const SETTLED_MS = 3000;

export function importing(shown: readonly Document[], batch: Batch, now: number): Importing {
  const documents = shown.filter((document) => !isReady(document)).sort((a, b) => order(a) - order(b));
  const members = shown.filter((document) => batch.ids.has(document.id));
  const done = members.reduce((sum, document) => sum + shareOfDocument(document), 0) / Math.max(1, members.length);
  const elapsed = now - batch.since;
  const known = elapsed >= SETTLED_MS && done > 0.02 && done < 1;
  return {
    documents,
    ready: members.filter(isReady).length,
    total: members.length,
    msLeft: known ? (elapsed * (1 - done)) / done : null,
  };
}

/** One line of the list of documents. */
export type Row =
  | { kind: 'heading'; name: 'found' | 'without'; count: number }
  | { kind: 'document'; document: Document; hits: number }
  | { kind: 'hit'; hit: PassageHit; index: number }
  | { kind: 'more'; documentId: DocumentId; count: number };

const SHOWN_HITS = 4;

/** Without a search, every document; with one, the documents with hits, best first, each with its best passage, then the
 *  others. */
export function rowsOf(
  shown: readonly Document[],
  hits: readonly PassageHit[] | null,
  unfolded: ReadonlySet<DocumentId>,
  open: DocumentId | null,
): Row[] {
  const ready = shown.filter(isReady);
  if (hits === null) return ready.map((document) => ({ kind: 'document', document, hits: 0 }));
  const known = new Map(shown.map((document) => [document.id, document]));
  const found = [...Map.groupBy(hits, (hit) => hit.documentId)].flatMap(([id, all]) => {
    const document = known.get(id);
    return document ? [{ document, all }] : [];
  });
  const rows: Row[] = found.length > 0 ? [{ kind: 'heading', name: 'found', count: found.length }] : [];
  found.forEach(({ document, all }, at) => {
    rows.push({ kind: 'document', document, hits: all.length });
    const first = document.id === open || (open === null && at === 0);
    const most = unfolded.has(document.id) ? all.length : first ? SHOWN_HITS : 1;
    all.slice(0, most).forEach((hit, index) => {
      rows.push({ kind: 'hit', hit, index });
    });
    if (all.length > most) rows.push({ kind: 'more', documentId: document.id, count: all.length - most });
  });
  const without = ready.filter((document) => !found.some((one) => one.document.id === document.id));
  if (without.length > 0) rows.push({ kind: 'heading', name: 'without', count: without.length });
  return [...rows, ...without.map((document): Row => ({ kind: 'document', document, hits: 0 }))];
}

export const keyOfRow = (row: Row): string => {
  switch (row.kind) {
    case 'heading':
      return row.name;
    case 'document':
      return row.document.id;
    case 'hit':
      return `${row.hit.documentId} ${row.hit.passageId} ${row.index}`;
    case 'more':
      return `${row.documentId} more`;
  }
};

/** The distinct matched words of a hit. */
export const foundWords = ({ excerpt, highlights }: PassageHit): string[] => [
  ...new Set(highlights.map(([start, end]) => foldCase(excerpt.slice(start, end)))),
];

/** Every occurrence of these words in a passage at the start of a word. */
export function placesOfWords(text: string, words: readonly string[]): [number, number][] {
  const plain = foldCase(text);
  const places: [number, number][] = [];
  for (const word of words) {
    for (let at = plain.indexOf(word); word !== '' && at !== -1; at = plain.indexOf(word, at + word.length)) {
      if (at === 0 || !/[\p{L}\p{N}]/u.test(plain[at - 1] as string)) places.push([at, at + word.length]);
    }
  }
  return places.sort((a, b) => a[0] - b[0]);
}

const LEAD = 20;

/** Shortens a hit to one narrow line, so that its first match is visible. */
export function forOneLine(hit: PassageHit): PassageHit {
  const first = hit.highlights[0]?.[0] ?? 0;
  if (first <= LEAD) return hit;
  const space = hit.excerpt.indexOf(' ', first - LEAD);
  const from = space === -1 || space >= first ? first : space + 1;
  const shift = 1 - from;
  return {
    ...hit,
    excerpt: `…${hit.excerpt.slice(from)}`,
    highlights: hit.highlights.map(([start, end]): [number, number] => [start + shift, end + shift]),
  };
}

/** Hits of one document in document order, so that "next" moves downwards. */
export const hitsOf = (hits: readonly PassageHit[] | null, documentId: DocumentId): PassageHit[] =>
  (hits ?? []).filter((hit) => hit.documentId === documentId);
