import { describe, expect, test } from 'vitest';
import type { CollectionId, Document, DocumentId, PassageHit, PassageId } from '../../../../app/protocol/index.ts';
import {
  documentsIn,
  forOneLine,
  foundWords,
  importing,
  keyOfRow,
  noBatch,
  placesOfWords,
  rowsOf,
  shareOfDocument,
  sortedCollections,
  withBatch,
  withChanges,
} from '../../../../renderer/stores/documents/state.ts';
import { newCollection, newDocument } from '../../../support/fakes/documents.ts';

const papers = 'papers' as CollectionId;
const doc = (name: string, state: Document['state'] = { status: 'ready' }) => newDocument(papers, name, { state });
const known = (...documents: Document[]) => new Map(documents.map((document) => [document.id, document]));
const reading = (done: number, total: number): Document['state'] => ({ status: 'reading', step: 'file', done, total });
const failed: Document['state'] = {
  status: 'failed',
  failure: { code: 'unreadable', message: '[pdf] damaged' },
  remedy: 'retry',
};
const hit = (document: Document, range: string): PassageHit => ({
  passageId: `${document.id} ${range}` as PassageId,
  documentId: document.id,
  location: { kind: 'cells', range },
  excerpt: 'x',
  highlights: [],
  score: 1,
});
const told = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) =>
    row.kind === 'document'
      ? row.document.name
      : row.kind === 'hit'
        ? row.hit.location?.kind === 'cells' && row.hit.location.range
        : row.kind === 'more'
          ? `+${row.count}`
          : row.name,
  );

describe('the list', () => {
  test('documents stand by name, numbers in their order, one collection or all', () => {
    const other = newDocument('other' as CollectionId, 'Lecture 3');
    const documents = known(doc('Lecture 10'), doc('lecture 2'), other);
    expect(documentsIn(documents, papers).map(({ name }) => name)).toEqual(['lecture 2', 'Lecture 10']);
    expect(documentsIn(documents, null)).toHaveLength(3);
    const [scan, lease] = [doc('A lease'), doc('Zebras')].map((one, at) => ({ ...one, fileName: `${2 - at}.pdf` }));
    expect(documentsIn(known(scan as Document, lease as Document), papers).map(({ name }) => name)).toEqual([
      'Zebras',
      'A lease',
    ]);
  });

  test('what ships with the app comes after the collections of the user', () => {
    const names = sortedCollections([newCollection('About', { builtIn: true }), newCollection('Zoo')]);
    expect(names.map(({ name }) => name)).toEqual(['Zoo', 'About']);
  });

  test('without a search only what is ready is listed: the rest stands under Importing', () => {
    expect(told(rowsOf([doc('a'), doc('b', failed), doc('c', reading(1, 2))], null, new Set(), null))).toEqual(['a']);
  });

  test('passages stand under their document, best document first: four of the open one, the best of others, until unfolded', () => {
    const [a, b, c] = [doc('a'), doc('b'), doc('c')];
    const hits = [...['1', '2', '3', '4', '5', '6'].map((label) => hit(b, label)), hit(a, '9')];
    const shown = [a, b, c];
    expect(told(rowsOf(shown, hits, new Set(), null))).toEqual([
      'found',
      'b',
      '1',
      '2',
      '3',
      '4',
      '+2',
      'a',
      '9',
      'without',
      'c',
    ]);
    expect(told(rowsOf(shown, hits, new Set([b.id]), a.id))).toEqual([
      'found',
      'b',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      'a',
      '9',
      'without',
      'c',
    ]);
  });

  test('a hit of a document that has gone is left out, and every row has a key of its own', () => {
    const [a, gone] = [doc('a'), doc('gone')];
    const rows = rowsOf([a], [hit(gone, '1'), hit(a, '2'), hit(a, '2')], new Set(), null);
    expect(told(rows)).toEqual(['found', 'a', '2', '2']);
    expect(new Set(rows.map(keyOfRow)).size).toBe(rows.length);
  });
});

describe('found words', () => {
  const given: PassageHit = {
    ...hit(doc('a'), 'p. 1'),
    excerpt: '… and of the many things a layer keeps, a matrix of fixed size. Fixed costs',
    highlights: [
      [52, 57],
      [58, 62],
      [64, 69],
    ],
  };

  test('are marked wherever a word of the passage begins with them', () => {
    expect(foundWords(given)).toEqual(['fixed', 'size']);
    expect(placesOfWords('Sizes: prefixed, fixed.', foundWords(given))).toEqual([
      [0, 4],
      [17, 22],
    ]);
  });

  test('come soon in a narrow line, and the marks move along', () => {
    const { excerpt, highlights } = forOneLine(given);
    expect(excerpt.indexOf('fixed')).toBeLessThan(24);
    // With some words before it.
    expect(excerpt).toMatch(/^…\w.* matrix of fixed/);
    expect(highlights.map(([start, end]) => excerpt.slice(start, end))).toEqual(['fixed', 'size', 'Fixed']);
    expect(forOneLine({ ...given, excerpt: 'fixed', highlights: [[0, 5]] }).excerpt).toBe('fixed');
  });
});

describe('importing', () => {
  test('the share of a document follows its pages, and never passes one', () => {
    expect(shareOfDocument(doc('a', reading(31, 62)))).toBe(0.5);
    expect(shareOfDocument(doc('a', reading(9, 3)))).toBe(1);
    expect(shareOfDocument(doc('a', { status: 'queued' }))).toBe(0);
    expect(shareOfDocument(doc('a', reading(1, 0)))).toBe(0);
  });

  test('a batch begins with the first file, keeps what became ready, and ends with the last', () => {
    const [a, b] = [doc('a', { status: 'queued' }), doc('b', reading(1, 4))];
    const first = withBatch(noBatch, known(a, b), [{ document: a }, { document: b }], 1000);
    expect(first).toEqual({ ids: new Set([a.id, b.id]), since: 1000 });
    const ready: Document = { ...a, state: { status: 'ready' } };
    const second = withBatch(first, known(ready, b), [{ document: ready }], 3000);
    expect(importing([ready, b], second, 3000)).toMatchObject({ ready: 1, total: 2 });
    const failedToo: Document = { ...b, state: failed };
    expect(withBatch(second, known(ready, failedToo), [{ document: failedToo }], 9000)).toBe(noBatch);
  });

  test('rest time is known after three seconds and grows with what is left', () => {
    const a = doc('a', reading(1, 4));
    const batch = { ids: new Set<DocumentId>([a.id]), since: 0 };
    expect(importing([a], batch, 2000).msLeft).toBeNull();
    expect(importing([a], batch, 10_000).msLeft).toBe(30_000);
    const b = doc('b', reading(3, 4));
    expect(importing([a, b], { ...batch, ids: new Set([a.id, b.id]) }, 10_000).msLeft).toBe(10_000);
  });

  test('what is read stands first, what failed next, what waits last', () => {
    const all = [doc('waits', { status: 'queued' }), doc('fails', failed), doc('reads', reading(1, 2)), doc('done')];
    expect(importing(all, noBatch, 0).documents.map(({ name }) => name)).toEqual(['reads', 'fails', 'waits']);
  });

  test('a removed document leaves the list and its batch', () => {
    const a = doc('a', reading(1, 2));
    const documents = withChanges(known(a), [{ removed: a.id }]);
    expect(documents.size).toBe(0);
    expect(withBatch({ ids: new Set([a.id]), since: 1 }, documents, [{ removed: a.id }], 2)).toBe(noBatch);
  });
});

describe('how long it takes, and what is found', () => {
  const batchOf = (since: number, ...documents: Document[]) => ({ ids: new Set(documents.map(({ id }) => id)), since });

  test('the time that is left is told from three seconds on, between two hundredths and the end', () => {
    const left = (done: number, now: number) => {
      const document = doc('a', reading(done, 100));
      return importing([document], batchOf(1000, document), now).msLeft;
    };
    expect(left(50, 3999)).toBeNull();
    expect(left(50, 4000)).toBe(3000);
    expect(left(25, 5000)).toBe(12_000);
    expect(left(2, 5000)).toBeNull();
    expect(left(4, 5000)).toBe(96_000);
    expect(left(100, 5000)).toBeNull();
  });

  test('what has ended is whole, whatever it was of; what has not begun is nothing', () => {
    const states = [{ status: 'ready' as const }, failed, { status: 'queued' as const }, reading(1, 0), reading(9, 4)];
    expect(states.map((state) => shareOfDocument(doc('a', state as Document['state'])))).toEqual([1, 1, 0, 0, 1]);
  });

  test('collections stand by name, numbers in their order', () => {
    const names = ['Year 10', 'letters', 'Year 9'].map((name) => newCollection(name));
    expect(sortedCollections(names).map(({ name }) => name)).toEqual(['letters', 'Year 9', 'Year 10']);
  });

  test('a changed document is found under its own name alone', () => {
    const document = doc('a');
    const changed = { ...document, name: 'b' };
    const next = withChanges(known(document), [{ document: changed }]);
    expect([...next]).toEqual([[document.id, changed]]);
  });

  test('four hits are shown of the first document, or of the one that is open; of the others one', () => {
    const [a, b] = [doc('a'), doc('b')];
    const hits = [a, b].flatMap((document) => [1, 2, 3, 4, 5].map((row) => hit(document, `${document.name}${row}`)));
    const shown = (open: Document['id'] | null) => told(rowsOf([a, b], hits, new Set(), open));
    const four = (name: string) => [name, `${name}1`, `${name}2`, `${name}3`, `${name}4`, '+1'];
    const one = (name: string) => [name, `${name}1`, '+4'];
    expect(shown(null)).toEqual(['found', ...four('a'), ...one('b')]);
    expect(shown(b.id)).toEqual(['found', ...one('a'), ...four('b')]);
    expect(told(rowsOf([a], [], new Set(), null))).toEqual(['without', 'a']);
  });
});
