import { beforeEach, expect, test, vi } from 'vitest';
import type { CollectionId, DocumentId, PassageHit, PassageId } from '../../../../app/protocol/index.ts';
import { newDocument } from '../../../support/fakes/documents.ts';
import { silentCore } from '../../../support/fakes/silent-core.ts';

//  Searching, stepping and adding: what is asked of the core, and what is shown meanwhile and afterwards.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
vi.stubGlobal('document', { getElementById: () => null, documentElement: {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { hitsIn, marksOf, useDocuments } = await import('../../../../renderer/stores/documents/store.ts');

const papers = 'papers' as CollectionId;
const lease = 'lease' as DocumentId;
const { asked, answer, refuse } = silentCore(attach);
const store = () => useDocuments.getState();
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => {
  useDocuments.setState({
    query: '',
    finding: { status: 'none' },
    chosen: null,
    shown: null,
    refused: null,
    unfolded: new Set(),
  });
});

test('what is typed is searched once, after a pause, in what is chosen; old hits stay meanwhile', async () => {
  vi.useFakeTimers();
  for (const query of [' r', ' re', ' rent ']) store().search(query);
  await vi.advanceTimersByTimeAsync(79);
  expect(asked).toEqual([]);
  expect(store().finding).toEqual({ status: 'searching', before: null });
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();
  expect(asked.map(({ call, input }) => [call, input])).toEqual([
    ['documents.search', { query: 'rent', collectionIds: null, limit: 200 }],
  ]);
  useDocuments.setState({ chosen: papers });
  answer(0, { by: 'words', hits: [] });
  await settled();
  expect(store().finding.status, 'of another collection').toBe('searching');
  const again = store().searchAgain();
  expect(asked[1]?.input).toMatchObject({ query: 'rent', collectionIds: [papers] });
  refuse(1);
  await again;
  expect(store().finding).toEqual({ status: 'failed', failure: { code: 'internal', message: '[test] refused' } });
  expect(hitsIn(store().finding)).toBeNull();
});

test('an answer to an older query is passed over, also when it is a failure', async () => {
  useDocuments.setState({ query: 'rent' });
  const older = store().searchAgain();
  useDocuments.setState({ query: 'garden' });
  refuse(0);
  await older;
  expect(store().finding).toEqual({ status: 'none' });
});

test('another collection folds what was unfolded and searches there', () => {
  useDocuments.setState({ query: 'rent' });
  store().unfold(lease);
  expect([...store().unfolded]).toEqual([lease]);
  store().choose(papers);
  expect([store().chosen, store().unfolded.size, asked.length]).toEqual([papers, 0, 1]);
  store().search('  ');
  expect(store().finding).toEqual({ status: 'none' });
});

test('files that are added are asked for once, what is refused is said, and nothing is asked for none', async () => {
  await store().add(papers, []);
  expect(asked).toEqual([]);
  const files = [{ path: '/a.pdf', name: 'a.pdf' }];
  const refused = store().add(papers, files);
  refuse(0);
  await refused;
  expect(store().refused).toEqual({ code: 'internal', message: '[test] refused' });
  const added = store().add(papers, files);
  expect([asked[1]?.input, store().refused]).toEqual([{ collectionId: papers, files }, null]);
  answer(1, [newDocument(papers, 'a')]);
  await added;
  expect(store().chosen, 'all stay on screen').toBeNull();
  useDocuments.setState({ chosen: 'others' as CollectionId });
  const more = store().add(papers, files);
  answer(2, []);
  await more;
  expect(store().chosen).toBe(papers);
});

test('a document without hits opens without a mark; a source shows its own and ends the search', () => {
  store().open(lease);
  expect(store().shown).toEqual({ documentId: lease, passage: null, mark: null });
  store().step(1);
  expect(store().shown?.passage).toBeNull();
  store().close();
  expect(store().shown).toBeNull();
  store().step(1);
  const mark = { key: 'p', text: '', spans: [], evidence: [] } as never;
  useDocuments.setState({ query: 'rent', chosen: papers });
  store().openSource({ documentId: lease, collectionId: papers } as never, mark);
  expect(store()).toMatchObject({ query: '', chosen: papers, shown: { documentId: lease, passage: null, mark } });
  store().openSource({ documentId: lease, collectionId: 'others' } as never, mark);
  expect(store().chosen).toBeNull();
});

test('a passage that could not be read is asked for again the next time', async () => {
  const hit = { passageId: 'passage-7' as PassageId } as PassageHit;
  const first = marksOf([hit]);
  refuse(0);
  expect(await first).toEqual([]);
  const again = marksOf([hit]);
  refuse(1);
  await again;
  expect(asked.map(({ call }) => call)).toEqual(['documents.passage', 'documents.passage']);
});
