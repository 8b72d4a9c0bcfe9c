import { isProse } from './text-kind.ts';

//  Thinking that goes back to where it was in ever new words: paragraph after paragraph takes the matter up again ("Wait", "Let me
//  reconsider", "On the other hand"), with words that were used before, no new number and no new name.

export interface Returns {
  text: string;
  start: number;
  /** Beginnings of words that were used, and numbers. */
  readonly words: Set<string>;
  /** Paragraphs in a row that returned, and where the first of them began. */
  count: number;
  first: number;
  /** Tokens of the latest paragraph. */
  period: number;
}

export const noReturns = (): Returns => ({
  text: '',
  start: 0,
  words: new Set(),
  count: 0,
  first: 0,
  period: 0,
});

const again =
  /^\W*(?:(?:no|so|but|and|okay|ok|right|well|hmm+|then|still|also)[,.…]?\s+)*(?:wait|hold on|hmm+|actually|alternatively|but maybe|maybe|perhaps|let me|let's|once more|again|on the (?:one|other) hand|another (?:idea|thought|way|option|try)|one (?:last|more)|just to be|how about|what (?:about|would|if)|then again|i(?:'m| am) (?:ready|done|not sure|going)|all (?:good|right)|going back|to be (?:sure|safe)|thinking about|looking (?:back|again)|right|okay|ok|no)\b/i;
const unsettled =
  /\b(?:reconsider|re-?read|re-?think|double-?check|once more|from the start|go back|not sure|unless|though|however|although|wonder|whether|still|instead|after all|then again|nothing|not clear|unclear|too|should i|i should|i(?:'ll| will| would)|let me)\b|\?/gi;
const word = /[\p{L}\p{M}]{4,}|\p{N}+/gu;
/** Letters by which words of one family are known. */
const STEM = 5;
const LONGEST = 2000;
/** Share of new words below which a paragraph brought nothing new. */
const NEW_WORDS = 0.75;
/** Characters of a paragraph that says something. */
const SHORTEST = 60;
/** Paragraphs that one with something new takes back. */
const PROGRESS = 3;

/** Takes the text of token `at`. Returns whether a paragraph ended that returned to something. */
export function turnBack(returns: Returns, piece: string, at: number): boolean {
  returns.text += piece;
  if (!piece.includes('\n') && returns.text.length < LONGEST) return false;
  const end = returns.text.search(/\n\s*\n/);
  if (end < 0 && returns.text.length < LONGEST) return false;
  const paragraph = (end < 0 ? returns.text : returns.text.slice(0, end)).trim();
  const start = returns.start;
  returns.text = end < 0 ? '' : returns.text.slice(end).trimStart();
  returns.start = at + 1;
  if (paragraph === '') return false;
  return judge(returns, paragraph, start, at + 1);
}

function judge(returns: Returns, paragraph: string, start: number, end: number): boolean {
  const { words } = returns;
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
  const doubts = (paragraph.match(unsettled) ?? []).length;
  const cued = again.test(paragraph) || doubts >= 2;
  // A paragraph of several lines sets something out.
  const plain =
    paragraph.includes('\n') || /^[-*#|\d`$\\]/.test(paragraph) || paragraph.length < SHORTEST || !isProse(paragraph);
  if (plain || !cued || numbers > 0 || fresh > NEW_WORDS * all) {
    returns.count = Math.max(0, returns.count - PROGRESS);
    return false;
  }
  if (returns.count === 0) returns.first = start;
  returns.count += 1;
  returns.period = end - start;
  return true;
}
