import type * as Addon from '../../../../native/addon/index.d.ts';
import type { LoopEvidence, PauseAction } from '../../../protocol/index.ts';
import { isProse } from '../../../text/loop/text-kind.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { decode } from '../../../text/tokenizer/detokenizer.ts';

//  How generation changes after a loop, so that the loop does not return.

/** Structural characters of data and code: their recurrence does not count as repetition. */
const structural = /[\n":,;{}[\]()<>|*&=\\`]/;
/** Characters examined to classify the text. */
const LOOKED_AT = 800;
const WINDOW = 1024;
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

/** The rewound loops: how many, the kind of the last one, and whether it was inside JSON. */
export type Rewound = { readonly times: number; readonly kind: LoopEvidence['kind']; readonly json: boolean };

/** Sampling after a rewind: a new seed changes nothing at temperature 0, and repeated text must be penalised. Each further
 *  rewind deviates more. An exhausted list repeats single words between numbers, which a phrase penalty
 *  (DRY) misses: there, every used word is penalised. */
export function otherwise(
  { times, kind }: Pick<Rewound, 'times' | 'kind'>,
  temperature: number,
  { structured, breakers }: Breakers,
): Addon.SamplingOptions {
  if (kind === 'entries')
    return { temperature: Math.max(temperature, times > 1 ? 1 : 0.8), presencePenalty: 0.8, penaltyWindow: WINDOW };
  return {
    temperature: Math.max(temperature, times > 1 ? 0.9 : 0.6),
    dry: { multiplier: 0.8, base: 1.75, allowedLength: structured ? 4 : 3, window: WINDOW, breakers: [...breakers] },
  };
}

export type Breakers = { readonly structured: boolean; readonly breakers: readonly number[] };

/** DRY breakers among the tokens so far: line ends, and in JSON, code and tables also brackets, quotes and
 *  separators too. */
export function breakersOf({ tokenizer }: ModelText, ids: readonly number[]): Breakers {
  const recent = ids.slice(-WINDOW);
  const structured = isStructured(decode(tokenizer, recent).slice(-LOOKED_AT));
  const breaks = structured ? structural : /\n/;
  const breakers = [...new Set(recent)].filter((id) =>
    breaks.test(Buffer.from(tokenizer.bytes.of(id)).toString('utf8')),
  );
  return { structured, breakers };
}

function isStructured(text: string): boolean {
  const fences = text.match(/^```/gm)?.length ?? 0;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (fences % 2 === 1 || /^\s*[[{]/.test(text)) return true;
  return lines.length > 0 && lines.filter((line) => !isProse(line)).length > lines.length / 2;
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
