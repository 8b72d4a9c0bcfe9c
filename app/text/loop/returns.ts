import { isProse } from './text-kind.ts';

//  Detects thinking that keeps returning to the same point in new words: paragraph after paragraph restarts ("Wait", "Let me
//  reconsider", "On the other hand") and stays inconclusive, without new numbers. Each paragraph contributes
//  fitted log-odds (test/bench/loops/fit-returns.ts); their sum, clipped at zero, is compared with a threshold.

export interface Returns {
  text: string;
  start: number;
  /** Stems of used words, and numbers. */
  readonly words: Set<string>;
  /** Summed log-odds, the consecutive paragraphs that contributed, and the start of the first. */
  evidence: number;
  count: number;
  first: number;
  /** Length of the latest paragraph in tokens. */
  period: number;
}

export const noReturns = (): Returns => ({
  text: '',
  start: 0,
  words: new Set(),
  evidence: 0,
  count: 0,
  first: 0,
  period: 0,
});

/** Features of a paragraph: starts by reconsidering; words of doubt; inconclusive last
 *  sentence; share of new words; new numbers; formula, list or code; logarithm of its length in words; negations; references to the
 *  thinker and the question. */
export const measures = [
  'again',
  'doubts',
  'open',
  'fresh',
  'numbers',
  'formal',
  'length',
  'negations',
  'self',
] as const;
export type Measured = Record<(typeof measures)[number], number>;

const weights: Measured = {
  again: 1.6,
  doubts: 0.33,
  open: 0.63,
  fresh: 3.47,
  numbers: -1.13,
  formal: -3.68,
  length: -0.02,
  negations: 0.86,
  self: 0.25,
};
const BIAS = -2.45;
/** Maximum contribution of one paragraph, for and against. */
const FOR = 2;
const AGAINST = -4.5;

const again =
  /^\W*(?:(?:no|so|but|and|okay|ok|right|well|hmm+|then|still|also)[,.…]?\s+)*(?:wait|hold on|hmm+|actually|alternatively|but maybe|maybe|perhaps|let me|let's|once more|again|on the (?:one|other) hand|another (?:idea|thought|way|option|try)|one (?:last|more)|just to be|how about|what (?:about|would|if)|then again|i(?:'m| am) (?:ready|done|not sure|going)|all (?:good|right)|going back|to be (?:sure|safe)|thinking about|looking (?:back|again)|right|okay|ok|no)\b/i;
const unsettled =
  /\b(?:reconsider|re-?read|re-?think|double-?check|once more|from the start|go back|not sure|unless|though|however|although|wonder|whether|still|instead|after all|then again|nothing|not clear|unclear|too|should i|i should|i(?:'ll| will| would)|let me)\b|\?/gi;
const open = /\?|\b(?:but|though|unless|not|whether|however)\b|n't/i;
const negation = /\b(?:not|no|never|nothing|neither|cannot)\b|n't\b/gi;
const self = /\b(?:i|me|my|we|us|question|answer|asked|user|statement|problem|puzzle)\b/gi;
const word = /[\p{L}\p{M}]{4,}|\p{N}+/gu;
/** Length of a stem in letters. */
const STEM = 5;
const LONGEST = 2000;
/** Minimum characters of a paragraph. */
const SHORTEST = 40;
/** Share of new words below which a paragraph brings nothing new. */
const FEW = 0.25;

/** Adds the text of token `at`. Returns whether a paragraph ended that raises the evidence. */
export function turnBack(returns: Returns, piece: string, at: number): boolean {
  returns.text += piece;
  if (!piece.includes('\n') && returns.text.length < LONGEST) return false;
  const end = returns.text.search(/\n\s*\n/);
  if (end < 0 && returns.text.length < LONGEST) return false;
  const paragraph = (end < 0 ? returns.text : returns.text.slice(0, end)).trim();
  const start = returns.start;
  returns.text = end < 0 ? '' : returns.text.slice(end).trimStart();
  returns.start = at + 1;
  const measured = measure(returns.words, paragraph);
  return measured !== null && weigh(returns, measured, start, at + 1);
}

/** Null if the paragraph is too short. */
export function measure(words: Set<string>, paragraph: string): Measured | null {
  let all = 0;
  let fresh = 0;
  let numbers = 0;
  for (const [found] of paragraph.matchAll(word)) {
    const number = /\p{N}/u.test(found);
    const stem = number ? found : found.toLowerCase().slice(0, STEM);
    if (!number) all += 1;
    if (words.has(stem)) continue;
    words.add(stem);
    if (number) numbers += 1;
    else fresh += 1;
  }
  if (paragraph.length < SHORTEST) return null;
  const formal = paragraph.includes('\n') || /^[-*#|\d`$\\]/.test(paragraph) || !isProse(paragraph);
  const last = paragraph.slice(lastSentence(paragraph));
  return {
    again: Number(again.test(paragraph)),
    doubts: Math.min(4, paragraph.match(unsettled)?.length ?? 0),
    open: Number(open.test(last)),
    fresh: Math.max(FEW, all === 0 ? 0 : fresh / all),
    numbers: Math.min(3, numbers),
    formal: Number(formal),
    length: Math.log2(Math.max(8, paragraph.split(/\s+/).length)),
    negations: Math.min(4, paragraph.match(negation)?.length ?? 0),
    self: Math.min(4, paragraph.match(self)?.length ?? 0),
  };
}

function lastSentence(paragraph: string): number {
  let begin = 0;
  for (const { index, 0: mark } of paragraph.matchAll(/[.!?…]\s+/g)) begin = index + mark.length;
  return begin;
}

function weigh(returns: Returns, measured: Measured, start: number, end: number): boolean {
  const odds = measures.reduce((sum, name) => sum + weights[name] * measured[name], BIAS);
  returns.evidence += Math.max(AGAINST, Math.min(FOR, odds));
  if (returns.evidence <= 0) {
    returns.evidence = 0;
    returns.count = 0;
    return false;
  }
  if (returns.count === 0) returns.first = start;
  returns.count += 1;
  returns.period = end - start;
  return odds > 0;
}
