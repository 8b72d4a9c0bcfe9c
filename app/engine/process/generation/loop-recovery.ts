import type { LoopEvidence, PauseAction } from '../../../protocol/index.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { decode } from '../../../text/tokenizer/detokenizer.ts';

//  The ways out of a loop, and how thinking that was cut ends in an answer.

/** Tokens of white space that may precede the opening of thinking. */
const OPENING = 16;

/** A loop within this many answer tokens after a loop in thinking is a relapse. */
export const RELAPSE = 200;

/** The choices in a loop; without one, those when thinking takes unusually long. */
export function choicesIn(loop: LoopEvidence | null): { choices: PauseAction[]; suggested: PauseAction } {
  if (!loop) return { choices: ['answer-now', 'keep-going', 'stop'], suggested: 'answer-now' };
  const suggested = loop.where === 'answer' ? 'stop' : 'answer-now';
  return { choices: [suggested, 'rewind', 'keep-going', 'loop-guard-off'], suggested };
}

/** How many ids open the thinking, if the model opened it itself. */
export function openedAt(ids: readonly number[], opening: readonly number[]): number {
  for (let at = 0; at + opening.length <= Math.min(ids.length, OPENING); at++)
    if (opening.every((id, step) => ids[at + step] === id)) return at + opening.length;
  return 0;
}

/** Appended to cut thinking: left in the middle of a loop, the model comments on the loop instead of answering. */
export const ENOUGH = 'I have thought about this long enough, so I will answer the question now.';

/** Tokens searched for the end of a sentence. */
const SENTENCE = 48;

/** The end of the last sentence among `ids` before `end`, so that the cut is not in the middle of one; `end` if none is near. */
export function sentenceEnd({ tokenizer }: ModelText, ids: readonly number[], from: number, end: number): number {
  for (let at = end; at > Math.max(from, end - SENTENCE); at--)
    if (/[.!?。！？]["”)]?\s*$|\n\s*$/u.test(decode(tokenizer, ids.slice(Math.max(from, at - 4), at)))) return at;
  return end;
}

const concluding = /\b(?:so|therefore|thus|hence|answer|result|conclu\w*|means|gives|equals)\b|=/i;
const doubting = /\?|\b(?:wait|hmm|maybe|perhaps|let me|but|however|not sure|try)\b/i;
const LONGEST = 400;

/** The last conclusion of the thinking, for quoting; '' if there is none. */
export function conclusionOf(thinking: string): string {
  const sentences = thinking
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 8 && sentence.length <= LONGEST && !doubting.test(sentence));
  return sentences.findLast((sentence) => concluding.test(sentence)) ?? sentences.at(-1) ?? '';
}

/** Replaces an answer that relapsed into the loop. */
export function quotedAnswer(thinking: string): string {
  const settled = conclusionOf(thinking);
  return settled === ''
    ? 'The thinking did not end, and had settled on nothing so far.'
    : `The thinking did not end; so far: ${settled}${/[.!?…。！？]$/u.test(settled) ? '' : ' …'}`;
}
