import { average, type Estimate, Z } from '../interval.ts';
import { type Figure, figureOf, type QualityResult, type ReadingMetric, type ResultOf } from './quality.ts';

//  Two models that passed the same test, measured in pairs: the same block of a text, the same question. What is hard for both
//  cancels out, so that far smaller differences are told from chance than by two intervals.

export type QualityMetric =
  | 'perplexity'
  | 'bitsPerByte'
  | 'kld'
  | 'sameTop'
  | 'accuracy'
  | 'normalised'
  | ReadingMetric
  | 'found'
  | 'right'
  | 'answered'
  | 'looped';

const LOWER_IS_BETTER: readonly QualityMetric[] = ['perplexity', 'bitsPerByte', 'kld', 'looped'];

/** How B stands against A. `difference`: B − A in the unit of the figures, or of perplexity B ÷ A − 1, with its 95 % interval;
 *  `none`: chance alone explains it; `too-few`: there is too little of the test to tell. */
export type ComparedFigure = {
  metric: QualityMetric;
  a: Figure;
  b: Figure;
  verdict: 'none' | 'better' | 'worse' | 'too-few';
  difference: Figure;
  /** Questions that one of them alone got right; null for texts. */
  unlike: { onlyA: number; onlyB: number; of: number } | null;
};

/** @returns null for results of different tests */
export function compareQuality(a: QualityResult, b: QualityResult): ComparedFigure[] | null {
  if (a.kind === 'perplexity' && b.kind === 'perplexity') return ofTexts(a, b);
  if (a.kind === 'divergence' && b.kind === 'divergence') return ofDivergences(a, b);
  if (a.kind === 'choices' && b.kind === 'choices') {
    return [
      ofAnswers(
        'accuracy',
        a.accuracy,
        b.accuracy,
        pairs(a.answers, b.answers, ({ right }) => right),
      ),
      ofAnswers(
        'normalised',
        a.normalised,
        b.normalised,
        pairs(a.answers, b.answers, ({ normalised }) => normalised),
      ),
    ];
  }
  if (a.kind === 'reading' && b.kind === 'reading') {
    const [ours, theirs] = [a, b].map(({ answers }) => answers.map(({ score }) => score)) as [number[], number[]];
    return [judged(a.metric, a.score, b.score, blockwise(ours, theirs))];
  }
  if (a.kind === 'needle' && b.kind === 'needle')
    return [
      ofAnswers(
        'found',
        a.found,
        b.found,
        pairs(a.texts, b.texts, ({ found }) => found),
      ),
    ];
  if (a.kind === 'reasoning' && b.kind === 'reasoning') {
    const count = (metric: 'right' | 'answered' | 'looped', hit: (attempt: Attempt) => boolean) =>
      ofAnswers(metric, a[metric], b[metric], pairs(a.attempts, b.attempts, hit));
    return [
      count('right', ({ outcome }) => outcome === 'right'),
      count('answered', ({ outcome }) => outcome === 'right' || outcome === 'wrong'),
      count('looped', ({ outcome }) => outcome === 'looped'),
    ];
  }
  return null;
}

type Attempt = ResultOf<'reasoning'>['attempts'][number];

/** Whether both models read the same tokens: otherwise their perplexities say nothing about each other. */
export const samePieces = (a: ResultOf<'perplexity'>, b: ResultOf<'perplexity'>): boolean => a.windows === b.windows;

function ofTexts(a: ResultOf<'perplexity'>, b: ResultOf<'perplexity'>): ComparedFigure[] {
  const bits = apart('bitsPerByte', a.bitsPerByte, b.bitsPerByte);
  if (!samePieces(a, b)) return [bits];
  const loss = blockwise(a.blocks, b.blocks);
  const grown = (nats: number) => Math.exp(nats) - 1;
  const ratio = loss && { value: grown(loss.value), low: grown(loss.low), high: grown(loss.high) };
  return [judged('perplexity', a.perplexity, b.perplexity, ratio)];
}

function ofDivergences(a: ResultOf<'divergence'>, b: ResultOf<'divergence'>): ComparedFigure[] | null {
  if (a.windows !== b.windows) return null;
  return [judged('kld', a.kld, b.kld, blockwise(a.blocks, b.blocks)), apart('sameTop', a.sameTop, b.sameTop)];
}

/** With fewer blocks the spread is not known. */
const FEWEST_BLOCKS = 5;

/** The mean difference of the blocks, with the interval of Student's t. */
function blockwise(a: readonly (number | null)[], b: readonly (number | null)[]): Estimate | null {
  const differences = a.map((one, at) => (b[at] ?? Number.NaN) - (one ?? Number.NaN));
  const { length } = differences;
  if (length < FEWEST_BLOCKS || length !== b.length || !differences.every(Number.isFinite)) return null;
  const value = average(differences);
  const spread = differences.reduce((sum, one) => sum + (one - value) ** 2, 0) / (length - 1);
  const half = studentOf(length - 1) * Math.sqrt(spread / length);
  return { value, low: value - half, high: value + half };
}

/** The 97.5th percentile of Student's t (Cornish and Fisher's expansion). */
const studentOf = (freedom: number): number =>
  Z + (Z ** 3 + Z) / (4 * freedom) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * freedom ** 2);

/** Two figures of which only the intervals are known. */
function apart(metric: QualityMetric, a: Figure, b: Figure): ComparedFigure {
  if (!isWhole(a) || !isWhole(b)) return judged(metric, a, b, null);
  const half = Math.hypot((a.high - a.low) / 2, (b.high - b.low) / 2);
  const value = b.value - a.value;
  return judged(metric, a, b, { value, low: value - half, high: value + half });
}

const isWhole = (figure: Figure): figure is { value: number; low: number; high: number } =>
  figure.value !== null && figure.low !== null && figure.high !== null;

function judged(metric: QualityMetric, a: Figure, b: Figure, difference: Estimate | null): ComparedFigure {
  const shared = { metric, a, b, unlike: null };
  if (difference === null) return { ...shared, verdict: 'too-few', difference: unknown };
  const apart = difference.low > 0 || difference.high < 0;
  return { ...shared, verdict: apart ? verdictOn(metric, difference.value) : 'none', difference: figureOf(difference) };
}

const unknown: Figure = { value: null, low: null, high: null };

const verdictOn = (metric: QualityMetric, difference: number): 'better' | 'worse' =>
  difference < 0 === LOWER_IS_BETTER.includes(metric) ? 'better' : 'worse';

/** Of every question, whether A and B got it. */
const pairs = <Item>(
  a: readonly Item[],
  b: readonly Item[],
  hit: (item: Item) => boolean,
): [boolean, boolean][] | null => (a.length === b.length ? a.map((item, at) => [hit(item), hit(b[at] as Item)]) : null);

/** McNemar's exact test: of the questions that only one of them got, whether B got more or fewer than tossing a coin explains. */
function ofAnswers(
  metric: QualityMetric,
  a: Figure,
  b: Figure,
  answers: readonly [boolean, boolean][] | null,
): ComparedFigure {
  if (!answers) return judged(metric, a, b, null);
  const of = answers.length;
  const onlyA = answers.filter(([one, other]) => one && !other).length;
  const onlyB = answers.filter(([one, other]) => other && !one).length;
  const unlike = onlyA + onlyB;
  const { low, high } = exactShare(onlyB, unlike);
  const difference = (share: number) => ((2 * share - 1) * unlike) / of;
  const found = { value: (onlyB - onlyA) / of, low: difference(low), high: difference(high) };
  return {
    ...judged(metric, a, b, unlike === 0 ? { value: 0, low: 0, high: 0 } : found),
    unlike: { onlyA, onlyB, of },
  };
}

const TAIL = 0.025;

/** The 95 % interval of Clopper and Pearson (1934), which holds for a handful too. */
function exactShare(hits: number, of: number): { low: number; high: number } {
  return {
    low: hits === 0 ? 0 : 1 - whereTailIs(TAIL, of - hits, of),
    high: hits === of ? 1 : whereTailIs(TAIL, hits, of),
  };
}

/** The probability of a hit with which at most `hits` of `of` are as unlikely as `tail`. */
function whereTailIs(tail: number, hits: number, of: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; ++step) {
    const middle = (low + high) / 2;
    if (atMost(hits, of, middle) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** In logarithms: half to the power of a thousand is no number any more. */
function atMost(hits: number, of: number, share: number): number {
  let log = of * Math.log1p(-share);
  let sum = 0;
  for (let at = 0; at <= hits; ++at) {
    sum += Math.exp(log);
    log += Math.log((of - at) / (at + 1)) + Math.log(share) - Math.log1p(-share);
  }
  return sum;
}
