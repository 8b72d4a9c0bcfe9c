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

/** After a rewind: a seed alone changes nothing at temperature 0, and what was said must cost more to say again. Each further
 *  rewind goes further away from it. */
export function otherwise(rewinds: number, temperature: number, breakers: readonly number[]): Addon.SamplingOptions {
  const structured = breakers.length > 0;
  return {
    temperature: Math.max(temperature, rewinds > 1 ? 0.9 : 0.6),
    dry: {
      multiplier: 0.8,
      base: 1.75,
      allowedLength: structured ? 4 : 2,
      window: WINDOW,
      breakers: [...breakers],
    },
  };
}

/** In JSON, code and tables: the tokens written so far that are brackets, quotes and separators. In prose none. */
export function breakersOf({ tokenizer }: ModelText, ids: readonly number[]): number[] {
  const recent = ids.slice(-WINDOW);
  if (!isStructured(decode(tokenizer, recent).slice(-LOOKED_AT))) return [];
  return [...new Set(recent)].filter((id) => structural.test(Buffer.from(tokenizer.bytes.of(id)).toString('utf8')));
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
