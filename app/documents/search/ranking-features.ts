import type { Range } from '../chunk/sentence-splitter.ts';
import { formOf, kindFits } from './answer-type.ts';
import type { Ranks } from './fulltext-search.ts';
import type { Language } from './languages/language.ts';
import { contentWords } from './stemming.ts';

//  Features and weights for scoring answers, without a language model: words, similarity (if there is an encoder),
//  and whether the statement has the expected answer type. The weights were fitted on the tuning set of
//  test/app/documents/evaluation.

export type Question = {
  text: string;
  /** Its content words with their inverse document frequency. */
  words: ReadonlyMap<string, number>;
  /** Share of that weight in words that occur in no document. */
  unknown: number;
  /** Null: English or unknown. */
  language: Language | null;
};

export type Candidate = {
  text: string;
  /** Its context: name of the document and headings. */
  context: string;
};

/** Cosines with the question. `attribute`: of the question without the words of the context. `average`: of all scored
 *  statements. */
export type Similarities = {
  statement: number;
  passage: number;
  attribute: number;
  context: number;
  average: number;
  ranks: Ranks;
};

/** The features of one statement. */
export function featuresOf(question: Question, candidate: Candidate, range: Range, seen: Similarities): number[] {
  const { language } = question;
  const statement = candidate.text.slice(range[0], range[1]);
  const near = candidate.text.slice(Math.max(0, range[0] - 120), range[1] + 120);
  const context = new Set(contentWords(candidate.context, language));
  const attribute = new Map([...question.words].filter(([word]) => !context.has(word)));
  const attributeNear = coverage(attribute, new Set(contentWords(near, language)));
  const kind = kindFits(question.text, statement, language);
  const words = [
    attributeNear,
    attributeNear === 1 ? 1 : 0,
    Math.max(-1, kind),
    kind === -2 ? 1 : 0,
    namesMissing(question.text, `${candidate.context}\n${candidate.text}`),
    question.unknown,
  ];
  const { ranks } = seen;
  return [
    ...words,
    ...[seen.statement, seen.passage, seen.attribute, seen.context, seen.statement - seen.average],
    ...[kindFits(question.text, near, language), /\p{N}/u.test(statement) ? 1 : 0, kind === 0 ? 0 : 1],
    ...[ranks.words === null ? 0 : 1 / ranks.words, ranks.meaning === null ? 0 : 1 / ranks.meaning],
    ...[question.words.size, attribute.size, coverage(question.words, context)],
    ...formOf(question.text),
  ];
}

/** Weighted share of the question's words that are present. */
export function coverage(words: ReadonlyMap<string, number>, there: ReadonlySet<string>): number {
  let all = 0;
  let found = 0;
  for (const [word, weight] of words) {
    all += weight;
    if (there.has(word)) found += weight;
  }
  return all === 0 ? 0 : found / all;
}

/** Share of the names in a question (capitalised words and numbers) that are missing in the text. */
function namesMissing(question: string, text: string): number {
  const names = question.match(/(?<=\S\s)(?:\p{Lu}[\p{L}\p{N}]*|\p{N}[\p{N}.,:]*\p{N}|\p{N})/gu) ?? [];
  const asked = names.filter((name) => name !== 'I');
  if (asked.length === 0) return 0;
  const folded = text.toLowerCase();
  return asked.filter((name) => !folded.includes(name.toLowerCase().replace(/s$/, ''))).length / asked.length;
}

/** Weights for `featuresOf`. `threshold`: minimum confidence. */
export type Weights = { bias: number; factors: readonly number[]; threshold: number };

/** All statements and "none of them" form one softmax, with score 0 for none. So competing statements
 *  reduce each other's probability. Fitted by test/bench/documents/calibrate.ts, which describes the data. */
export const BY_MEANING: Weights = {
  bias: -8.45,
  factors: [
    -0.35, 4.13, 1.15, -2.19, -1.39, 0.32, 3.93, 2.07, 4.86, -0.71, 5.83, -0.32, -0.01, -1.76, -0.83, 1.32, -0.49, 0.46,
    1.11, 0.98, 2.91, 0.73, 0.21, -0.75, 0.78, -0.02, 1.7,
  ],
  threshold: 0.4,
};
/** The same, with the score of the QA reranker as the last feature. */
export const BY_READING: Weights = {
  bias: -5.83,
  factors: [
    0.31, 3.04, 0.75, -1.04, -0.62, -0.07, 3.43, 1.65, 3.99, 0.13, 5.25, -0.04, 0.11, -0.87, -0.46, 0.71, -0.07, 0.12,
    -0.32, 0.56, 1.65, -0.46, 0.18, -0.38, -0.08, -0.09, 0.08, 0.79,
  ],
  threshold: 0.33,
};
/** Keywords only (word-features.ts): log odds of each statement. Fitted by test/bench/documents/fit-words.ts, which describes
 *  the data. */
const BY_WORDS: Weights = {
  bias: -4.7,
  factors: [
    1.37, 0.34, 0.61, 0.84, -0.48, -0.48, -0.38, 0.18, -1.63, -1.23, -1.15, 0.05, -1.16, 0.49, 1.15, 0.24, 1.82, -0.34,
    0.12, -0.34, 1.02, -0.34, -0.25, 0.01, -0.03, 0.49, -0.04, 2.24, 1.97,
  ],
  threshold: -0.2,
};
/** Question forms are not modelled for other languages, so scores are lower: a lower threshold. */
const BY_OTHER_WORDS: Weights = { ...BY_WORDS, threshold: -0.6 };

export const wordWeights = (language: Language | null): Weights => (language ? BY_OTHER_WORDS : BY_WORDS);

export const scoreOf = ({ bias, factors }: Weights, features: readonly number[]): number =>
  features.reduce((sum, feature, at) => sum + feature * (factors[at] ?? 0), bias);

/** Softmax with an extra score 0 for "none of them". */
export function chances(scores: readonly number[]): number[] {
  const top = Math.max(0, ...scores);
  const shares = scores.map((score) => Math.exp(score - top));
  const all = shares.reduce((sum, one) => sum + one, Math.exp(-top));
  return shares.map((one) => one / all);
}

/** Confidence in a passage: its probability, times its share of the probability that any answers. So of two equally likely
 *  ones, neither is confident. */
export const certainty = (chance: number, ofAny: number): number => (ofAny === 0 ? 0 : chance ** 2 / ofAny);
