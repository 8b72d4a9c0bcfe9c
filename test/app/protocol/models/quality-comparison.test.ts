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

describe('every test', () => {
  const [a, b] = [known(0.2), known(0.9)];
  const found = (...hits: boolean[]): ResultOf<'needle'> =>
    ({ kind: 'needle', found: a, texts: hits.map((found) => ({ found })) }) as unknown as ResultOf<'needle'>;
  const reading = (...scores: number[]): ResultOf<'reading'> =>
    ({
      kind: 'reading',
      metric: 'f1',
      score: a,
      answers: scores.map((score) => ({ score })),
    }) as unknown as ResultOf<'reading'>;
  const reasoning = (...outcomes: string[]): ResultOf<'reasoning'> =>
    ({
      kind: 'reasoning',
      right: a,
      answered: a,
      looped: a,
      attempts: outcomes.map((outcome) => ({ outcome })),
    }) as unknown as ResultOf<'reasoning'>;
  const all: QualityResult[] = [text(hard), choices([true]), found(true), reading(1), reasoning('right')];

  test('is compared with its own kind alone', () => {
    for (const one of all)
      for (const other of all) expect(compareQuality(one, other) === null).toBe(one.kind !== other.kind);
  });

  test('shows the figures of each on its own side', () => {
    const sides = (one: QualityResult, other: QualityResult) =>
      compareQuality(one, other)?.map((figure) => [figure.metric, figure.a, figure.b]);
    const twice = { ...choices([true, false]), accuracy: a, normalised: known(0.3) };
    const again = { ...choices([true, false]), accuracy: b, normalised: known(0.4) };
    expect(sides(twice, again)).toEqual([
      ['accuracy', a, b],
      ['normalised', known(0.3), known(0.4)],
    ]);
    expect(sides(found(true), { ...found(true), found: b })).toEqual([['found', a, b]]);
    expect(sides(reading(1), { ...reading(1), score: b })).toEqual([['f1', a, b]]);
    expect(sides(text(hard, { perplexity: a }), text(hard, { perplexity: b }))).toEqual([['perplexity', a, b]]);
    const other = { ...reasoning('right'), right: b, answered: known(0.5), looped: known(0.6) };
    expect(sides(reasoning('right'), other)).toEqual([
      ['right', a, b],
      ['answered', a, known(0.5)],
      ['looped', a, known(0.6)],
    ]);
  });

  test('counts who alone found, was right, answered or looped', () => {
    const unlike = (one: QualityResult, other: QualityResult) =>
      compareQuality(one, other)?.map((figure) => [figure.unlike?.onlyA, figure.unlike?.onlyB]);
    expect(unlike(found(true, true, false), found(false, false, true))).toEqual([[2, 1]]);
    const ours = reasoning('right', 'wrong', 'right', 'looped', 'none');
    const theirs = reasoning('wrong', 'none', 'none', 'none', 'looped');
    expect(unlike(ours, theirs)).toEqual([
      [2, 0],
      [2, 0],
      [1, 1],
    ]);
    const normalised = (...given: boolean[]) => ({
      ...choices([true, true, true]),
      answers: given.map((one) => ({ right: true, normalised: one })),
    });
    expect(unlike(normalised(true, true, false), normalised(false, false, true))).toEqual([
      [0, 0],
      [2, 1],
    ]);
    // Of another number of questions nothing can be paired.
    expect(only(found(true), found(true, false))).toMatchObject({ verdict: 'too-few', unlike: null });
  });

  test('of a reading, more is better; of five answers, one that has no score tells nothing', () => {
    const better = only(reading(0.1, 0.2, 0.3, 0.4, 0.5), reading(0.3, 0.41, 0.5, 0.6, 0.71));
    expect(better).toMatchObject({ metric: 'f1', verdict: 'better', unlike: null });
    expect(better.difference.value).toBeCloseTo(0.204, 9);
    const lost = text([1, 2, 3, 4, 5]);
    expect(only(lost, { ...lost, blocks: [1, 2, null, 4, 5] }).verdict).toBe('too-few');
    expect(only({ ...lost, blocks: [1, 2, null, 4, 5] }, lost).verdict).toBe('too-few');
    expect(only(lost, { ...lost, blocks: [1, 2, 3, 4] }).verdict).toBe('too-few');
    expect(only({ ...lost, blocks: [1, 2, 3, 4, 5, 6] }, lost).verdict).toBe('too-few');
  });

  test('where only the intervals are known they are put together, and a figure without one tells nothing', () => {
    const bits = (one: ReturnType<typeof known>, other: ReturnType<typeof known>) =>
      only(text(hard, { bitsPerByte: one }), text(hard, { bitsPerByte: other, windows: 'other' }));
    const { difference, verdict } = bits(known(2, 0.3), known(2.6, 0.4));
    expect([difference.value, difference.low, difference.high]).toEqual([
      expect.closeTo(0.6, 9),
      expect.closeTo(0.1, 9),
      expect.closeTo(1.1, 9),
    ]);
    expect(verdict).toBe('worse');
    expect(bits(known(2.6, 0.3), known(2, 0.4)).verdict).toBe('better');
    for (const missing of ['value', 'low', 'high'] as const) {
      expect(bits({ ...known(2), [missing]: null }, known(3)).verdict).toBe('too-few');
      expect(bits(known(2), { ...known(3), [missing]: null }).verdict).toBe('too-few');
    }
  });
});

test('of two divergences the further one is worse, and agreeing less often too', () => {
  const divergence = (change: object) =>
    ({
      kind: 'divergence',
      windows: 'a',
      kld: known(0.1),
      sameTop: known(0.9, 0.01),
      blocks: hard,
      ...change,
    }) as QualityResult;
  const further = { kld: known(0.3), sameTop: known(0.5, 0.01), blocks: hard.map((one, at) => one + 1 + at / 1000) };
  expect(compareQuality(divergence({}), divergence(further))).toMatchObject([
    { metric: 'kld', a: known(0.1), b: known(0.3), verdict: 'worse' },
    { metric: 'sameTop', a: known(0.9, 0.01), b: known(0.5, 0.01), verdict: 'worse' },
  ]);
  expect(compareQuality(divergence({}), text(hard))).toBeNull();
  expect(compareQuality(text(hard), divergence({}))).toBeNull();
});
