import { expect, test } from 'vitest';
import type { Grounding } from '../../../app/protocol/index.ts';
import { getMessage, updateMessage } from '../../../app/store/messages.ts';
import { addExchange, open } from './support.ts';

test('an answer that is older than quotes is read without one; a newer one keeps its own', async () => {
  const store = await open();
  const { answerId } = addExchange(store, 'How high is the rent?', '840 euros.');
  const older = { found: true, by: 'words', question: 'rent', sources: [], support: [] } as unknown as Grounding;
  updateMessage(store.db, answerId, { grounding: older });
  expect(getMessage(store.db, answerId).grounding).toEqual({ ...older, quote: null });
  const quote = { source: 1, start: 0, end: 4, label: 'p. 1' };
  updateMessage(store.db, answerId, { grounding: { ...older, quote } });
  expect(getMessage(store.db, answerId).grounding?.quote).toEqual(quote);
});
