import { expect, test } from 'vitest';
import type { Grounding } from '../../../../app/protocol/index.ts';
import { openShelf } from '../../../support/documents/documents.ts';

//  As many passages as there is room for in the prompt, each with some tokens for its frame; at least one.

const FRAME = 16;
const count = (text: string) => Math.ceil(text.length / 4);
const chapter = (n: number) =>
  `## Chapter ${n}\n\n${`The gate of lock ${n} is opened by its keeper at dawn. `.repeat(12)}\n\n`;

test.each(['Which keeper opens the gate of a lock at dawn?', 'Summarise this.'])('%s', async (question) => {
  const shelf = await openShelf();
  await shelf.add({ 'locks.md': Array.from({ length: 9 }, (_, n) => chapter(n + 1)).join('') });
  const ground = (tokens: number, passages = 20): Promise<Grounding> =>
    shelf.documents.answering.ground({
      question,
      collectionIds: [shelf.collection.id],
      budget: { tokens, passages, count: async (text) => count(text) },
    });
  const taken = (grounding: Grounding) => grounding.sources.reduce((sum, { text }) => sum + count(text) + FRAME, 0);

  const all = await ground(100_000);
  expect(all.by).toBe('whole-documents');
  expect(all.sources.length).toBeGreaterThan(5);
  expect((await ground(taken(all))).by).toBe('whole-documents');
  const less = await ground(taken(all) - 1);
  expect(less.by).not.toBe('whole-documents');
  expect(taken(less)).toBeLessThan(taken(all));

  const room = 3.5 * (taken(all) / all.sources.length);
  const some = await ground(room);
  expect(some.sources).toHaveLength(3);
  expect(taken(some)).toBeLessThanOrEqual(room);
  expect((await ground(1)).sources).toHaveLength(1);
});
