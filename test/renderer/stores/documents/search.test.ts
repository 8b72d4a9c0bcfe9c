import { beforeEach, expect, test, vi } from 'vitest';
import type { CollectionId, DocumentId, PassageHit } from '../../../../app/protocol/index.ts';
import { newCollection } from '../../../support/fakes/documents.ts';

//  What is marked in the open document follows what is looked for.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { collectionToFill, useDocuments } = await import('../../../../renderer/stores/documents/store.ts');

const paper = 'paper' as DocumentId;
const hit = (passageId: string): PassageHit => ({
  passageId: passageId as never,
  documentId: paper,
  location: null,
  excerpt: passageId,
  highlights: [],
  score: 1,
});
let found: Record<string, PassageHit[]> = {};
/** Whether the core answers what a passage says. */
let reachable = true;

beforeEach(() => {
  found = {
    mill: [hit('mill-1'), hit('both')],
    river: [hit('both')],
    nothing: [],
    lock: [hit('lock-1'), hit('lock-2')],
  };
  reachable = true;
  attach({
    send(frame) {
      if (!('call' in frame)) return;
      const { id, call, input } = frame as { id: number; call: string; input: { query?: string; passageId?: string } };
      if (call === 'documents.search') reply({ id, value: { by: 'words', hits: found[input.query ?? ''] ?? [] } });
      else if (call === 'documents.passage' && reachable)
        reply({
          id,
          value: { id: input.passageId, documentId: paper, number: 1, text: '', headings: [], spans: [] },
        });
    },
    onMessage(listener) {
      reply = listener as never;
    },
    onClose: () => {},
    close: () => {},
  });
  useDocuments.setState({ chosen: 'c' as CollectionId, finding: { status: 'none' }, shown: null, query: '' });
});
let reply: (frame: object) => void = () => {};

const documents = () => useDocuments.getState();
async function look(query: string) {
  useDocuments.setState({ query });
  await documents().searchAgain();
}

test('a new query marks what it found; where it found nothing, no old mark stays', async () => {
  await look('mill');
  documents().open(paper);
  expect(documents().shown).toMatchObject({ documentId: paper, passage: 0 });
  await look('river');
  expect(documents().shown).toMatchObject({ documentId: paper, passage: 0 });
  await look('nothing');
  expect(documents().shown).toEqual({ documentId: paper, passage: null, mark: null });
});

test('in a document that was open before it was looked through, the next place is the first and the one before is the last', async () => {
  for (const [direction, place] of [
    [1, 0],
    [-1, 1],
  ] as const) {
    await look('nothing');
    documents().open(paper);
    await look('lock');
    expect(documents().shown?.passage).toBeNull();
    documents().step(direction);
    expect(documents().shown?.passage).toBe(place);
  }
});

test('an empty query takes the marks away too', async () => {
  await look('mill');
  documents().open(paper);
  await look('');
  expect(documents().shown).toEqual({ documentId: paper, passage: null, mark: null });
});

test('a passage that was marked is marked again at once, also when the core does not answer any more', async () => {
  await look('lock');
  await documents().openHit(paper, 0);
  await documents().openHit(paper, 1);
  expect(documents().shown?.mark?.key).toBe('lock-2');
  reachable = false;
  documents().step(-1);
  await vi.waitFor(() => expect(documents().shown).toMatchObject({ passage: 0, mark: { key: 'lock-1' } }));
});

test('files go into the collection that is chosen, or the first of one’s own', () => {
  const [manual, first, second] = [newCollection('Manual', { builtIn: true }), newCollection('A'), newCollection('B')];
  const collections = [manual, first, second];
  const filled = (chosen: CollectionId | null) => collectionToFill({ collections, chosen })?.name;
  expect([filled(second.id), filled(manual.id), filled(null)]).toEqual(['B', 'A', 'A']);
  expect(collectionToFill({ collections: [manual], chosen: manual.id })).toBeNull();
});
