import type * as Addon from '../../../../native/addon/index.d.ts';
import type { LoopEvidence, PauseAction } from '../../../protocol/index.ts';
import { isProse } from '../../../text/loop/text-kind.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { decode } from '../../../text/tokenizer/detokenizer.ts';

//  What is done differently after a loop, so that it does not come again.

/** Marks that hold data and code together: to repeat them is no repetition. */
const structural = /[\n":,;{}[\]()<>|*&=\\`]/;
/** Characters in which the sort of the text is looked for. */
const LOOKED_AT = 800;
const WINDOW = 1024;
/** Tokens that can stand before thinking is opened: white space. */
const OPENING = 16;

/** Tokens of an answer in which a loop of its thinking is a relapse. */
export const RELAPSE = 200;

/** What can be chosen in a loop; without one, when thinking takes unusually long. */
export function choicesIn(loop: LoopEvidence | null): { choices: PauseAction[]; suggested: PauseAction } {
  if (!loop) return { choices: ['answer-now', 'keep-going', 'stop'], suggested: 'answer-now' };
  const suggested = loop.where === 'answer' ? 'stop' : 'answer-now';
  return { choices: [suggested, 'rewind', 'keep-going', 'loop-guard-off'], suggested };
}

/** What is known of the loops that were rewound: how many, of what kind the last one was, and whether it stood in JSON. */
export type Rewound = { readonly times: number; readonly kind: LoopEvidence['kind']; readonly json: boolean };

/** After a rewind: a seed alone changes nothing at temperature 0, and what was said must cost more to say again. Each further
 *  rewind goes further away from it. What repeats in a worn-out list is single words between numbers, of which a phrase that
 *  costs more does not know: there, every word that was used costs more. */
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

/** The tokens written so far after which a phrase begins anew: lines, and in JSON, code and tables brackets, quotes and
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

/** How many of the ids open the thinking, where the model opened it itself. */
export function openedAt(ids: readonly number[], opening: readonly number[]): number {
  for (let at = 0; at + opening.length <= Math.min(ids.length, OPENING); at++)
    if (opening.every((id, step) => ids[at + step] === id)) return at + opening.length;
  return 0;
}

/** What the model is made to think last: left in the middle of a loop, it comments on it instead of answering. */
export const ENOUGH = 'I have thought about this long enough, so I will answer the question now.';

/** Tokens that are looked through for the end of a sentence. */
const SENTENCE = 48;

/** The end of the last sentence among `ids` before `end`, so that what is kept does not break off in the middle; `end` where none is near. */
export function sentenceEnd({ tokenizer }: ModelText, ids: readonly number[], from: number, end: number): number {
  for (let at = end; at > Math.max(from, end - SENTENCE); at--)
    if (/[.!?。！？]["”)]?\s*$|\n\s*$/u.test(decode(tokenizer, ids.slice(Math.max(from, at - 4), at)))) return at;
  return end;
}

const concluding = /\b(?:so|therefore|thus|hence|answer|result|conclu\w*|means|gives|equals)\b|=/i;
const doubting = /\?|\b(?:wait|hmm|maybe|perhaps|let me|but|however|not sure|try)\b/i;
const LONGEST = 400;

/** The last thing that thinking settled on, to be quoted; '' when it settled on nothing. */
export function conclusionOf(thinking: string): string {
  const sentences = thinking
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 8 && sentence.length <= LONGEST && !doubting.test(sentence));
  return sentences.findLast((sentence) => concluding.test(sentence)) ?? sentences.at(-1) ?? '';
}

/** What stands in the place of an answer that fell back into the loop. */
export function quotedAnswer(thinking: string): string {
  const settled = conclusionOf(thinking);
  return settled === ''
    ? 'The thinking did not end, and had settled on nothing so far.'
    : `The thinking did not end; so far: ${settled}${/[.!?…。！？]$/u.test(settled) ? '' : ' …'}`;
}
