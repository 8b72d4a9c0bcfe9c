import { describe, expect, test, vi } from 'vitest';
import { contentWords } from '../../../../app/documents/search/stemming.ts';
import type { DocumentsOptions } from '../../../../app/documents/service.ts';
import { openShelf } from '../../../support/documents/documents.ts';
import { meaning } from '../../../support/documents/encoder.ts';
import { found, foundByMeaning, holds, type Measured, measure, ratesAt, riskCoverage } from './measure.ts';
import { manuals, report, tuning } from './set.ts';

//  README beside this says what the sets are and how often the one that reports was looked at.

vi.setConfig({ testTimeout: 1_200_000 });

async function measured(
  questions: typeof report,
  more?: Pick<DocumentsOptions, 'engine' | 'embedders'>,
): Promise<Measured[]> {
  const shelf = await openShelf(more ? { meaning: more } : {});
  await shelf.add({ ...questions.library, ...manuals });
  const results = await measure(shelf, shelf.collection.id, questions);
  const { id } = shelf.collection;
  console.log(
    JSON.stringify({
      by: results[0]?.by,
      top1: found(results, 1),
      top5: found(results, 5),
      ...(more && { top5ByMeaningAlone: await foundByMeaning(shelf, id, questions, more, 5) }),
      ...ratesAt(results, ({ sure }) => sure),
      curve: riskCoverage(results),
    }),
  );
  return results;
}

describe.each([
  ['tuning', tuning, 200],
  ['report', report, 110],
] as const)('the set of %s', (_, { library, answerable, unanswerable }, least) => {
  test('is large enough, and every fact stands once in its documents', () => {
    expect(answerable.length).toBeGreaterThanOrEqual(least);
    expect(unanswerable.length).toBeGreaterThanOrEqual(60);
    expect(unanswerable.filter(({ distance }) => distance === 'near').length / unanswerable.length).toBeGreaterThan(
      0.6,
    );
    for (const { document, gold } of answerable) {
      expect((library[document] ?? '').toLowerCase().split(gold.toLowerCase()), gold).toHaveLength(2);
    }
  });

  test('a third of the questions share no content word with the section that answers them', () => {
    const apart = answerable.filter((one) => {
      const sections = (library[one.document] ?? '').split(/\n(?=## )/);
      const words = new Set(contentWords(sections.find((section) => holds(one, section)) ?? ''));
      return contentWords(one.question).every((word) => !words.has(word));
    });
    expect(apart.length / answerable.length).toBeGreaterThanOrEqual(1 / 3);
  });
});

test('the sets have no document and no question in common', () => {
  const questions = ({ answerable, unanswerable }: typeof tuning) =>
    [...answerable, ...unanswerable].map(({ question }) => question);
  const known = new Set([...Object.keys(tuning.library), ...questions(tuning)]);
  expect([...Object.keys(report.library), ...questions(report)].filter((one) => known.has(one))).toEqual([]);
});

test('by words and meaning', async () => {
  const results = await measured(report, await meaning());
  expect(results.every(({ by }) => by === 'words-and-meaning')).toBe(true);
  expect(found(results, 5)).toBeGreaterThanOrEqual(0.9);
  const rates = ratesAt(results, ({ sure }) => sure);
  expect(rates.right).toBeGreaterThanOrEqual(0.95);
  expect(rates.answered).toBeGreaterThanOrEqual(0.8);
  expect(rates.refused).toBeGreaterThanOrEqual(0.9);
});

test('by words alone: less is answered, and what is answered is as right', async () => {
  const results = await measured(report);
  expect(results.every(({ by }) => by === 'words')).toBe(true);
  const rates = ratesAt(results, ({ sure }) => sure);
  expect(rates.right).toBeGreaterThanOrEqual(0.95);
  expect(rates.answered).toBeGreaterThanOrEqual(0.54);
  expect(rates.refused).toBeGreaterThanOrEqual(0.82);
});
