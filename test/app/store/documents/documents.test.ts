// Documents of a collection, what was read of them, and how they come and go.
import { expect, test } from 'vitest';
import { packSpans } from '../../../../app/documents/chunk/span-codec.ts';
import type { CollectionId, DocumentId, PassageId } from '../../../../app/protocol/index.ts';
import {
  addContent,
  beginnings,
  collectionPassages,
  countPassages,
  getPassage,
  passagesNumbered,
  passagesWith,
  removeContent,
} from '../../../../app/store/documents/chunks.ts';
import {
  createCollection,
  forgetCollections,
  getCollection,
  listWatched,
  markCollectionDeleted,
  renameCollection,
  unwatchFolder,
  watchFolder,
} from '../../../../app/store/documents/collections.ts';
import {
  addDocument,
  contentOf,
  deleteDocument,
  deletedDocuments,
  dropCopy,
  findBySource,
  findDocument,
  forgiveAttempt,
  getDocument,
  listDocuments,
  listFollowed,
  nextQueued,
  requeueUnsettled,
  restoreDocument,
  titledDocuments,
  updateDocument,
} from '../../../../app/store/documents/documents.ts';
import { inMemory } from '../support.ts';

function collected() {
  const db = inMemory();
  const { id: collectionId } = createCollection(db, 'Letters', false, 1);
  const add = (fileName: string, sourcePath = `/mine/${fileName}`, watched = false, to = collectionId) =>
    addDocument(db, { collectionId: to, fileName, kind: 'text', bytes: 3, sourcePath, sourceChangedAt: 5, watched }, 7);
  return { db, collectionId, add };
}
const READY = { status: 'ready' } as never;
const notFound = expect.objectContaining({ code: 'not-found' });

test('what is known of a document is kept piece by piece; one that is not there is said to be missing', () => {
  const { db, add } = collected();
  const { number, document } = add('a.txt');
  expect(document).toMatchObject({ name: 'a.txt', fileName: 'a.txt', bytes: 3, addedAt: 7, pages: null, passages: 0 });
  expect(document).toMatchObject({ state: { status: 'queued' }, watchedPath: null, notices: [] });
  const patch = {
    pages: 4,
    passages: 9,
    notices: [{ code: 'told', details: { text: 'x' } }] as never,
    name: 'A letter',
  };
  updateDocument(db, document.id, { ...patch, ocr: true, attempts: 2, sha256: 'abc', watched: true, storedName: 'k' });
  expect(updateDocument(db, document.id, { bytes: undefined as never })).toMatchObject({
    ...{ number, ocr: true, attempts: 2, sha256: 'abc', watched: true, storedName: 'k', sourcePath: '/mine/a.txt' },
    document: { ...patch, bytes: 3, watchedPath: '/mine/a.txt' },
  });
  expect(titledDocuments(db)).toEqual([{ id: document.id, name: 'A letter', fileName: 'a.txt' }]);
  forgiveAttempt(db, number);
  expect(getDocument(db, document.id).attempts).toBe(1);
  db.run(`UPDATE documents SET state = '{', kind = 'x', notices = '["as it was said once"]'`);
  expect(getDocument(db, document.id).document).toMatchObject({
    kind: 'text',
    state: { status: 'failed', remedy: 'retry' },
    notices: [{ code: 'told', details: { text: 'as it was said once' } }],
  });
  expect(() => getDocument(db, 'nowhere' as DocumentId)).toThrow(notFound);
  expect(() => getPassage(db, 'nowhere' as PassageId)).toThrow(notFound);
  expect(() => getCollection(db, 'nowhere' as CollectionId)).toThrow(notFound);
});

test('the next document to be read is the oldest that waits; one that ended the reader before comes last', () => {
  const { db, add } = collected();
  const [first, second, third] = ['a', 'b', 'c'].map((name) => add(name).document.id) as [
    DocumentId,
    DocumentId,
    DocumentId,
  ];
  const next = (...last: DocumentId[]) => nextQueued(db, last)?.document.fileName;
  expect([next(), next(first), next(first, second, third)]).toEqual(['a', 'b', 'a']);
  updateDocument(db, first, { state: { status: 'reading', progress: 0 } as never });
  updateDocument(db, second, { state: READY });
  expect([next(), next(third)]).toEqual(['c', 'c']);
  requeueUnsettled(db);
  expect(next()).toBe('a');
  expect(listDocuments(db, null).map(({ document }) => document.fileName)).toEqual(['a', 'b', 'c']);
  expect(listDocuments(db, null, { after: 1, limit: 1 }).map(({ document }) => document.fileName)).toEqual(['b']);
});

test('a document comes back while its copy is there, unless the same file was added again meanwhile', () => {
  const { db, collectionId, add } = collected();
  const copied = (name: string, sha256: string | null) => {
    const { document } = add(name);
    return updateDocument(db, document.id, { storedName: name, sha256 });
  };
  const [kept, unknown, lost] = [copied('a', 'same'), copied('b', null), copied('c', 'other')];
  for (const { document } of [kept, unknown, lost]) deleteDocument(db, document.id, 10);
  expect(findDocument(db, kept.document.id)).toBeUndefined();
  expect(restoreDocument(db, kept.document.id).document.fileName).toBe('a');
  // Once more: it is there already.
  expect(restoreDocument(db, kept.document.id).number).toBe(kept.number);
  expect(restoreDocument(db, unknown.document.id).document.fileName).toBe('b');
  deleteDocument(db, kept.document.id, 20);
  copied('a again', 'same');
  expect(() => restoreDocument(db, kept.document.id)).toThrow(expect.objectContaining({ code: 'conflict' }));
  expect(deletedDocuments(db, 11).map(({ number }) => number)).toEqual([lost.number]);
  dropCopy(db, lost.number);
  expect(() => restoreDocument(db, lost.document.id)).toThrow(notFound);
  // Of a watched folder the next look would add it again, were it not known that it was taken out.
  db.run('UPDATE documents SET watched = 1 WHERE number = ?', kept.number);
  expect(deletedDocuments(db, 30)).toContainEqual({ number: kept.number, stays: true });
  expect(listFollowed(db, collectionId, { after: 0, limit: 9 }).map(({ removed }) => removed)).toEqual([true]);
});

test('of a folder that is no longer watched the documents stay and are not followed; those of a folder with a longer name are', () => {
  const { db, collectionId, add } = collected();
  for (const path of ['/mine', '/mine too']) watchFolder(db, { collectionId, path, problem: null });
  for (const path of ['/mine/a', '/mine/below/b', '/mine too/c', '/mine']) add('x', path, true);
  unwatchFolder(db, collectionId, '/mine');
  expect(listWatched(db).map(({ path }) => path)).toEqual(['/mine too']);
  expect(listDocuments(db, collectionId).map(({ document }) => document.watchedPath)).toEqual([
    null,
    null,
    '/mine too/c',
    '/mine',
  ]);
  expect(findBySource(db, collectionId, '/mine too/c')?.watched).toBe(true);
  const problem = { kind: 'failed' as const, code: 'permission' as const };
  watchFolder(db, { collectionId, path: '/mine too', problem });
  expect(listWatched(db)).toEqual([{ collectionId, path: '/mine too', problem }]);
  watchFolder(db, { collectionId, path: '/mine too', problem: null });
  renameCollection(db, collectionId, 'Post');
  expect(getCollection(db, createCollection(db, 'Manual', true, 2).id).builtIn).toBe(true);
  const { id: empty } = createCollection(db, 'Empty', false, 2);
  expect(getCollection(db, collectionId)).toMatchObject({
    documents: 4,
    passages: 0,
    folders: [{ path: '/mine too', problem: null }],
  });
  expect(getCollection(db, empty)).toMatchObject({ documents: 0, passages: 0, folders: [] });
  for (const id of [collectionId, empty]) markCollectionDeleted(db, id, 5);
  forgetCollections(db, 6);
  for (const id of [collectionId, empty]) markCollectionDeleted(db, id, null);
  expect(getCollection(db, collectionId)).toMatchObject({ name: 'Post', builtIn: false });
  expect(() => getCollection(db, empty)).toThrow(notFound);
});

const passage = (text: string, headings: string[] = []) => ({ text, overlap: 0, headings, spans: packSpans([]) });

test('what was read of documents is counted, found and shown from where it is asked for, and goes step by step', async () => {
  const { db, collectionId, add } = collected();
  const [first, second] = [add('a'), add('b')];
  const document = ({ number }: { number: number }, code = false) => ({ number, name: 'Title', code });
  const blocks = [
    { number: 1, kind: 'heading' as const, level: 2, text: 'Rent' },
    { number: 2, kind: 'table' as const, text: 'a b', cells: ['a', 'b'] },
    ...Array.from({ length: 18 }, (_, at) => ({ number: at + 3, kind: 'paragraph' as const, text: `line ${at}` })),
  ] as never;
  addContent(
    db,
    document(first),
    {
      blocks,
      passages: ['The mill', 'a mill at v2.3.1', 'river'].map((text) => passage(text, ['Place'])),
      position: 1,
    },
    1,
  );
  addContent(db, document(first), { blocks: [], passages: [passage('the end')], position: 4 }, 1);
  addContent(db, document(second, true), { blocks: [], passages: [passage('let mill = 3')], position: 1 }, 1);
  expect(countPassages(db)).toBe(5);
  expect([passagesWith(db, '"mill"', 9), passagesWith(db, '"mill"', 2), passagesWith(db, '"none"', 9)]).toEqual([
    3, 2, 0,
  ]);
  const codes = (word: string) => db.all('SELECT rowid FROM passage_codes WHERE passage_codes MATCH ?', word).length;
  expect([codes('"v2.3.1"'), codes('mill'), codes('river')]).toEqual([1, 1, 0]);
  const all = (await collectionPassages(db, [collectionId], 1e6)) ?? [];
  expect(all.map(({ position, text }) => `${position} ${text}`)).toEqual([
    '1 The mill',
    '2 a mill at v2.3.1',
    '3 river',
    '4 the end',
    '1 let mill = 3',
  ]);
  expect(all[0]).toMatchObject({ name: 'a', fileName: 'a', changedAt: 5, headings: ['Place'], collectionId });
  expect(getPassage(db, all[1]?.id as PassageId)).toEqual(all[1]);
  const [one, two] = [all[0]?.number ?? 0, all[1]?.number ?? 0];
  expect([...passagesNumbered(db, [two, one]).keys()].sort((a, b) => a - b)).toEqual([one, two]);
  const texts = passagesNumbered(
    db,
    all.map(({ number }) => number),
  );
  expect(beginnings(db, [collectionId], 2).map((number) => texts.get(number)?.text)).toEqual([
    'The mill',
    'let mill = 3',
  ]);
  expect(contentOf(db, first.number, 2, 2)).toEqual({
    total: 20,
    blocks: [
      { number: 2, kind: 'table', text: 'a b', cells: ['a', 'b'] },
      { number: 3, kind: 'paragraph', text: 'line 0' },
    ],
  });
  expect(contentOf(db, first.number, 1, 1).blocks).toEqual([{ number: 1, kind: 'heading', level: 2, text: 'Rent' }]);
  expect(contentOf(db, second.number, 1, 1)).toEqual({ total: 0, blocks: [] });
  // Two passages a step, and eight blocks with the last of them.
  const left: number[][] = [];
  for (let more = true; more; ) {
    more = removeContent(db, first.number, 2);
    left.push([countPassages(db) - 1, contentOf(db, first.number, 1, 99).blocks.length]);
  }
  expect(left).toEqual([
    [2, 20],
    [0, 20],
    [0, 12],
    [0, 4],
    [0, 0],
    [0, 0],
  ]);
});

test.each([199, 200, 201, 400])('all %d passages of a document are read, in their order', async (count) => {
  const { db, collectionId, add } = collected();
  const { number } = add('a');
  const passages = Array.from({ length: count }, (_, at) => passage(`${at}`));
  addContent(db, { number, name: 'a', code: false }, { blocks: [], passages, position: 1 }, 1);
  const read = await collectionPassages(db, [collectionId], 1e6);
  expect(read?.map(({ text }) => Number(text))).toEqual([...passages.keys()]);
});
