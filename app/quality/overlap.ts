import type { ReadingMetric } from '../protocol/index.ts';

//  How much of a right answer is in what a model wrote, as LongBench counts it (Bai and others 2024, arXiv 2308.14508).

const ARTICLES = /\b(?:a|an|the)\b/g;
/** Scripts without blanks between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

const words = (text: string): string[] =>
  text
    .split(/\s+/)
    .flatMap((part) => (UNSPACED.test(part) ? [...segmenter.segment(part)].map(({ segment }) => segment) : [part]))
    .filter((word) => word !== '');

/** Without case, punctuation and English articles, as in SQuAD (Rajpurkar and others 2016). */
const bare = (text: string): string[] =>
  words(
    text
      .toLowerCase()
      .replace(/[\p{P}\p{S}]/gu, '')
      .replace(ARTICLES, ' '),
  );

const harmonic = (hits: number, ofSaid: number, ofRight: number): number =>
  hits === 0 ? 0 : (2 * hits) / (ofSaid + ofRight);

/** F1 of the words, each as often as it stands in both. */
export function wordF1(said: string, right: string): number {
  const [ours, theirs] = [bare(said), bare(right)];
  const left = new Map<string, number>();
  for (const word of theirs) left.set(word, (left.get(word) ?? 0) + 1);
  const hits = ours.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  }).length;
  return harmonic(hits, ours.length, theirs.length);
}

/** ROUGE-L: F1 of the longest common subsequence of words (Lin 2004). */
export function rougeL(said: string, right: string): number {
  const [ours, theirs] = [said, right].map((text) => words(text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' '))) as [
    string[],
    string[],
  ];
  let above = new Uint32Array(theirs.length + 1);
  for (const word of ours) {
    const row = new Uint32Array(theirs.length + 1);
    for (const [at, other] of theirs.entries()) {
      row[at + 1] = word === other ? (above[at] as number) + 1 : Math.max(row[at] as number, above[at + 1] as number);
    }
    above = row;
  }
  return harmonic(above[theirs.length] as number, ours.length, theirs.length);
}

/** 1 for the same words; with classes to choose from, the share of the right one among those that the first line names. */
export function exactMatch(said: string, right: string, classes: readonly string[] | null): number {
  if (classes === null) return Number(bare(said).join(' ') === bare(right).join(' '));
  const line = said.trimStart().split('\n')[0] ?? '';
  // "Description of a city" also names "City": a class within the right one does not count against it.
  const named = classes.filter((one) => line.includes(one) && (one === right || !right.includes(one)));
  return named.includes(right) ? 1 / named.length : 0;
}

/** The best that an answer gets against any of the right ones, from 0 to 1. */
export function overlapOf(
  metric: ReadingMetric,
  said: string,
  answers: readonly string[],
  classes: readonly string[] | null,
): number {
  const against = (right: string): number => {
    if (metric === 'exact') return exactMatch(said, right, classes);
    return metric === 'f1' ? wordF1(said, right) : rougeL(said, right);
  };
  return Math.max(...answers.map(against));
}
