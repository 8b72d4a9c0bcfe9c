// The lines that `longhand eval` prints of each kind of result.
import { expect, test } from 'vitest';
import { linesOf } from '../../../../../app/cli/commands/eval/eval-report.ts';
import type { QualityResult } from '../../../../../app/protocol/index.ts';

const figure = (value: number | null, low: number | null = null, high: number | null = null) => ({ value, low, high });
const share = figure(0.5, 0.25, 0.755);
const lines = (result: object) => linesOf(result as QualityResult);

test('perplexity with its range, and without one where there is none', () => {
  const of = (perplexity: object) => lines({ kind: 'perplexity', perplexity, tokens: 100 });
  expect(of(figure(2.34567, 2, 3))).toEqual(['perplexity 2.346 (2.000 to 3.000) over 100 tokens']);
  expect(of(figure(2, null, 3))).toEqual(['perplexity 2.000 over 100 tokens']);
  expect(of(figure(2, 1, null))).toEqual(['perplexity 2.000 over 100 tokens']);
  expect(of(figure(null))).toEqual(['perplexity NaN over 100 tokens']);
});

test('divergence from a reference', () => {
  expect(
    lines({
      kind: 'divergence',
      kld: figure(0.001234, 0.001, 0.002),
      kld99: 0.056789,
      sameTop: share,
      perplexity: figure(3),
      referencePerplexity: figure(2.5),
      tokens: 99,
      reference: 'starter',
    }),
  ).toEqual([
    'divergence (KLD) 0.00123 (0.00100 to 0.00200) nats per token; worst 1 % above 0.0568',
    'same top token 50.0 % (25.0 to 75.5)',
    'perplexity 3.000, reference 2.500',
    'over 99 tokens, compared with starter',
  ]);
});

test('choices, and questions about texts, one or many', () => {
  expect(lines({ kind: 'choices', accuracy: share, normalised: figure(1, 1, 1), questions: 4 })).toEqual([
    'right 50.0 % (25.0 to 75.5), length-normalised 100.0 % (100.0 to 100.0), of 4 questions',
  ]);
  const reading = (questions: number, shortened: number) =>
    lines({ kind: 'reading', metric: 'f1', score: share, questions, shortened });
  expect(reading(1, 0)).toEqual(['f1 50.0 % (25.0 to 75.5) over 1 question']);
  expect(reading(2, 1)[1]).toBe('1 text was too long: the middle was left out');
  expect(reading(2, 2)).toEqual([
    'f1 50.0 % (25.0 to 75.5) over 2 questions',
    '2 texts were too long: the middle was left out',
  ]);
});

test('needles in a table of lengths and depths, and reasoning in one of kinds', () => {
  const at = (length: number, depth: number, found: boolean) => ({ length, depth, found });
  const texts = [at(512, 0, true), at(512, 50, false), at(1024, 0, false), at(1024, 50, true)];
  expect(lines({ kind: 'needle', texts, found: share })).toEqual([
    'tokens\t0 %\t50 %',
    '512\tfound\t–',
    '1024\t–\tfound',
    'found 50.0 % (25.0 to 75.5)',
  ]);
  const kinds = [{ kind: 'sums', problems: 5, right: 4, answered: 3, looped: 2 }];
  expect(lines({ kind: 'reasoning', kinds, right: share, answered: share, looped: figure(0, 0, 0.1) })).toEqual([
    'problems\tof\tright\tanswered\tlooped',
    'sums\t5\t4\t3\t2',
    'right 50.0 % (25.0 to 75.5), answered 50.0 % (25.0 to 75.5), looped 0.0 % (0.0 to 10.0)',
  ]);
});
