import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { manualFor } from '../../../../app/chat/turns/about-longhand.ts';
import { ASSISTANT, quotedIn } from '../../../../app/protocol/index.ts';
import { places } from '../../../support/core/core.ts';
import { openShelf } from '../../../support/documents/documents.ts';
import { meaning } from '../../../support/documents/encoder.ts';
import { soaking } from '../../../support/soak.ts';

//  Questions about Longhand, asked of its manual as a chat asks them. `right`: the sentence that is quoted holds the fact.

vi.setConfig({ testTimeout: 300_000 });

/** The one that was asked last, by somebody who saw the pages alone; the others, which pages followed, are asked in a soak. */
const sets = [...(soaking ? ['tuning', 'report'] : []), 'examination'];

const help = join(places.resources, 'help');
type Set = { answerable: [question: string, gold: string][]; absent: string[] };
const setOf = (name: string): Set =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'manual', `${name}.json`), 'utf8'));

async function manual() {
  const shelf = await openShelf({ help, meaning: await meaning() });
  await vi.waitFor(
    async () => {
      const about = (await shelf.call('documents.collections', undefined)).find(({ builtIn }) => builtIn);
      const pages = about ? await shelf.call('documents.list', { collectionId: about.id }) : [];
      expect(pages.filter(({ state }) => state.status === 'ready')).toHaveLength(
        readdirSync(help).filter((name) => name.endsWith('.md')).length,
      );
      expect(about?.embedding?.total).toBeGreaterThan(0);
      expect(about?.embedding?.done).toBe(about?.embedding?.total);
    },
    { timeout: 120_000, interval: 100 },
  );
  // The known questions come after the passages.
  await shelf.documents.idle();
  const budget = { tokens: 1500, passages: 4, count: async (text: string) => Math.ceil(text.length / 4) };
  return async (question: string): Promise<string | null> => {
    const lookup = manualFor(shelf.db, ASSISTANT, question);
    const grounding = lookup && (await shelf.documents.answering.ground({ ...lookup, budget }));
    return grounding?.found ? (quotedIn(grounding)?.text ?? '') : null;
  };
}

test('what is asked about Longhand is found in its manual, and other things are not looked for there', async () => {
  const ask = await manual();
  const figures: Record<string, { answered: number; right: number; answeredWrongly: number }> = {};
  for (const name of sets) {
    const { answerable, absent } = setOf(name);
    const quotes: [string | null, string][] = [];
    for (const [question, gold] of answerable) quotes.push([await ask(question), gold]);
    const answered = quotes.filter(([quote]) => quote !== null);
    const right = answered.filter(([quote, gold]) => new RegExp(gold, 'i').test(quote ?? ''));
    let answeredWrongly = 0;
    for (const question of absent) answeredWrongly += Number((await ask(question)) !== null);
    figures[name] = {
      answered: answered.length / answerable.length,
      right: right.length / answered.length,
      answeredWrongly: answeredWrongly / absent.length,
    };
  }
  console.log(JSON.stringify(figures));
  // One question of sixty is 0.017: a page that is added takes or gives one or two.
  expect(figures.examination?.answered).toBeGreaterThanOrEqual(0.92);
  expect(figures.examination?.right).toBeGreaterThanOrEqual(0.88);
  expect(figures.examination?.answeredWrongly).toBeLessThanOrEqual(0.1);
  if (!soaking) return;
  expect(figures.report?.answered).toBeGreaterThanOrEqual(0.88);
  expect(figures.report?.right).toBeGreaterThanOrEqual(0.86);
  // Four name an app or a program that is not this one.
  expect(figures.report?.answeredWrongly).toBeLessThanOrEqual(0.11);
  expect(figures.tuning?.answered).toBeGreaterThanOrEqual(0.95);
  expect(figures.tuning?.right).toBeGreaterThanOrEqual(0.83);
  expect(figures.tuning?.answeredWrongly).toBeLessThanOrEqual(0.07);
});
