import { isProse } from './text-kind.ts';

//  Thinking that goes back to where it was in ever new words: paragraph after paragraph takes the matter up again ("Wait", "Let me
//  reconsider", "On the other hand") and leaves it open, without a new number. How much one paragraph speaks for that is a
//  logarithm of odds (test/bench/fit-returns.ts); the sum over paragraphs, never below nothing, is what is acted on.

export interface Returns {
  text: string;
  start: number;
  /** Beginnings of words that were used, and numbers. */
  readonly words: Set<string>;
  /** What speaks for a return so far, the paragraphs in a row that it comes from, and where the first of them began. */
  evidence: number;
  count: number;
  first: number;
  /** Tokens of the latest paragraph. */
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

/** What is measured of a paragraph: it begins by taking the matter up again; words of doubt in it; its last sentence leaves it
 *  open; share of new words; new numbers; it is a formula, a list or code; the logarithm of its words; negations; words for the
 *  one who thinks and what was asked. */
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
/** What one paragraph can say at most, for and against. */
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
/** Letters by which words of one family are known. */
const STEM = 5;
const LONGEST = 2000;
/** Characters of a paragraph that says something. */
const SHORTEST = 40;
/** Below this share, new words are as good as none. */
const FEW = 0.25;

/** Takes the text of token `at`. Returns whether a paragraph ended that speaks for a return. */
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

/** Null: it is too short to say anything. */
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
