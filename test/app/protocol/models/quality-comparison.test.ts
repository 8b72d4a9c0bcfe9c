// Two models side by side: what chance explains is no difference, and what it does not is told the right way round.
import { describe, expect, test } from 'vitest';
import {
  compareQuality,
  figureOf,
  type QualityResult,
  type ResultOf,
  shareOf,
} from '../../../../app/protocol/index.ts';
import { dice } from '../../../../app/quality/dice.ts';

const known = (value: number, half = 0.1) => figureOf({ value, low: value - half, high: value + half });

const text = (blocks: number[], change: Partial<ResultOf<'perplexity'>> = {}): ResultOf<'perplexity'> => {
  const loss = blocks.reduce((sum, one) => sum + one, 0) / blocks.length;
  return {
    kind: 'perplexity',
    perplexity: known(Math.exp(loss), 3),
    bitsPerByte: known(loss, 0.2),
    tokens: blocks.length * 64,
    blocks,
    windows: 'same',
    ...change,
  };
};
const roll = dice(5);
const hard = Array.from({ length: 40 }, () => 2 + roll(300) / 100);

const choices = (answers: boolean[]): ResultOf<'choices'> => {
  const share = figureOf(shareOf(answers.filter(Boolean).length, answers.length));
  return {
    kind: 'choices',
    accuracy: share,
    normalised: share,
    questions: answers.length,
    answers: answers.map((right) => ({ right, normalised: right })),
  };
};
const only = (a: QualityResult, b: QualityResult) => {
  const [first] = compareQuality(a, b) ?? [];
  if (!first) throw new Error('not compared');
  return first;
};

describe('texts', () => {
  test('are compared block by block: a loss of a hundredth is seen in a text whose parts differ by whole nats', () => {
    const worse = hard.map((loss, at) => loss + 0.01 + (at % 2 === 0 ? 0.002 : -0.002));
    const found = only(text(hard), text(worse));
    expect(found).toMatchObject({ metric: 'perplexity', verdict: 'worse' });
    expect(found.difference.value).toBeCloseTo(Math.exp(0.01) - 1, 4);
    expect(only(text(worse), text(hard)).verdict).toBe('better');
  });

  test('of five blocks that all lose about a hundredth are enough, with the interval of Student', () => {
    const five = hard.slice(0, 5);
    const found = only(text(five), text(five.map((loss, at) => loss + 0.008 + at / 1000)));
    expect(found).toMatchObject({ metric: 'perplexity', verdict: 'worse' });
    // 2.776 is the percentile of four degrees of freedom, 0.00158 the standard deviation of 0.008 to 0.012.
    const half = (2.776 * 0.00158) / Math.sqrt(5);
    expect(found.difference.low).toBeCloseTo(Math.exp(0.01 - half) - 1, 4);
    expect(found.difference.high).toBeCloseTo(Math.exp(0.01 + half) - 1, 4);
  });

  test('of which parts are better and others worse differ in nothing', () => {
    const mixed = hard.map((loss, at) => loss + (at % 2 === 0 ? 0.1 : -0.09));
    expect(only(text(hard), text(mixed)).verdict).toBe('none');
    expect(only(text(hard), text(hard))).toMatchObject({ verdict: 'none', difference: { value: 0, low: 0, high: 0 } });
  });

  test('cut into other tokens are compared by bits per byte, and perplexity is not spoken of', () => {
    const other = { windows: 'other', bitsPerByte: known(3, 0.2) };
    const found = compareQuality(text(hard, { bitsPerByte: known(2, 0.2) }), text(hard, other));
    expect(found?.map(({ metric, verdict }) => [metric, verdict])).toEqual([['bitsPerByte', 'worse']]);
    const near = { windows: 'other', bitsPerByte: known(2.2, 0.2) };
    expect(only(text(hard, { bitsPerByte: known(2, 0.2) }), text(hard, near)).verdict).toBe('none');
  });

  test('of four blocks tell nothing, nor does a model that gives no number', () => {
    expect(only(text(hard.slice(0, 4)), text(hard.slice(0, 4))).verdict).toBe('too-few');
    const broken = { ...text(hard), blocks: hard.map(() => null) };
    expect(only(text(hard), broken)).toMatchObject({ verdict: 'too-few', difference: { value: null } });
  });
});

describe('questions', () => {
  const answers = (from: number, to: number) => Array.from({ length: 60 }, (_, at) => at >= from && at < to);

  test('five that only one of them got could be chance; six could not (McNemar: 2/2⁵ and 2/2⁶)', () => {
    expect(only(choices(answers(0, 30)), choices(answers(0, 35))).verdict).toBe('none');
    const six = only(choices(answers(0, 30)), choices(answers(0, 36)));
    expect(six).toMatchObject({ verdict: 'better', unlike: { onlyA: 0, onlyB: 6, of: 60 } });
    expect(six.difference.value).toBeCloseTo(0.1, 9);
    expect(only(choices(answers(0, 36)), choices(answers(0, 30))).verdict).toBe('worse');
  });

  test('the interval of a difference holds nought exactly if there is none, also of thousands of questions', () => {
    const many = (right: number) => choices(Array.from({ length: 5000 }, (_, at) => at < right));
    const cross = (onlyA: number, onlyB: number) => {
      const sides = Array.from({ length: onlyA + onlyB }, (_, at) => at < onlyA);
      return only(choices(sides), choices(sides.map((one) => !one)));
    };
    for (const [onlyA, onlyB] of [
      [0, 5],
      [0, 6],
      [2, 9],
      [1000, 1100],
      [1000, 1080],
    ] as const) {
      const { verdict, difference } = cross(onlyA, onlyB);
      const holdsNought = (difference.low ?? 1) <= 0 && (difference.high ?? -1) >= 0;
      expect(holdsNought, `${onlyA}, ${onlyB}`).toBe(verdict === 'none');
      expect(difference.low).toBeLessThan(difference.value ?? 0);
    }
    expect(cross(1000, 1100).verdict).toBe('better');
    expect(cross(1000, 1080).verdict).toBe('none');
    expect(only(many(2000), many(2000))).toMatchObject({ verdict: 'none', difference: { value: 0, low: 0, high: 0 } });
  });

  test('as many right answers to other questions are no difference', () => {
    const found = only(choices(answers(0, 30)), choices(answers(30, 60)));
    expect(found).toMatchObject({ verdict: 'none', unlike: { onlyA: 30, onlyB: 30 }, difference: { value: 0 } });
  });
});

test('more loops are worse, although the figure is higher', () => {
  const reasoning = (looped: number): ResultOf<'reasoning'> => ({
    kind: 'reasoning',
    right: known(0),
    answered: known(0),
    looped: known(looped / 20),
    kinds: [],
    attempts: Array.from({ length: 20 }, (_, at) => ({
      kind: 'logic',
      question: '',
      answer: '',
      outcome: at < looped ? 'looped' : 'none',
      said: '',
    })),
  });
  const found = compareQuality(reasoning(0), reasoning(12));
  expect(found?.map(({ metric, verdict }) => [metric, verdict])).toEqual([
    ['right', 'none'],
    ['answered', 'none'],
    ['looped', 'worse'],
  ]);
});

test('different tests, and divergences on different texts, are not compared', () => {
  expect(compareQuality(text(hard), choices([true, false]))).toBeNull();
  const divergence = (windows: string): ResultOf<'divergence'> => ({
    kind: 'divergence',
    kld: known(0.1),
    kld99: 1,
    sameTop: known(0.9),
    perplexity: known(9),
    referencePerplexity: known(8),
    tokens: 640,
    reference: 'R',
    blocks: hard,
    windows,
  });
  expect(compareQuality(divergence('a'), divergence('b'))).toBeNull();
  expect(compareQuality(divergence('a'), divergence('a'))?.map(({ verdict }) => verdict)).toEqual(['none', 'none']);
});
