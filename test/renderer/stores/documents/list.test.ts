import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CollectionId, CoreFrame, Document } from '../../../../app/protocol/index.ts';
import { newDocument } from '../../../support/fakes/documents.ts';

//  The list of documents after a connection was lost: what the core says now replaces what was heard before.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { listenToDocuments, useDocuments } = await import('../../../../renderer/stores/documents/store.ts');

let listed: Document[] = [];
let deliver: (frame: CoreFrame) => void = () => {};

/** A connection to a core that knows these documents. */
const connect = (documents: Document[]) => {
  listed = documents;
  attach({
    send(frame) {
      if (!('call' in frame)) return;
      deliver({ id: frame.id, value: frame.call === 'documents.list' ? listed : [] } as CoreFrame);
    },
    onMessage: (listener) => {
      deliver = listener;
    },
    onClose: () => {},
    close: () => {},
  });
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const papers = 'papers' as CollectionId;
const shown = () => [...useDocuments.getState().documents.values()].map(({ name, state }) => [name, state.status]);

test('a document that was read meanwhile is ready, one that was removed is gone, and both stay so', async () => {
  const reading: Document['state'] = { status: 'reading', step: 'file', done: 1, total: 2 };
  const [lease, letter] = [newDocument(papers, 'lease'), newDocument(papers, 'letter')];
  const stopListening = listenToDocuments();
  connect([]);
  for (const document of [lease, letter])
    deliver({ event: 'document.changed', payload: { ...document, state: reading } });
  // What was heard is still being collected when the page has a new connection.
  connect([lease]);
  await useDocuments.getState().load();
  expect(shown()).toEqual([['lease', 'ready']]);
  vi.runAllTimers();
  expect(shown()).toEqual([['lease', 'ready']]);
  stopListening();
});
