import type { LoopEvidence, Message } from '../../../../app/protocol/index.ts';

/** The strip of the loop card: tokens that said something, copies, and what the rest of the budget would have cost. */
export type Strip = { fresh: number; repeated: number; saved: number; marks: number };

const MAX_MARKS = 24;

export function stripOf({ endToken: last, spentTokens, savedTokens, repeats: copies }: LoopEvidence): Strip {
  return {
    fresh: Math.max(0, last + 1 - spentTokens),
    repeated: spentTokens,
    saved: savedTokens,
    marks: Math.max(1, Math.min(MAX_MARKS, copies - 1)),
  };
}

/** Milliseconds that the saved tokens would have taken at the speed so far; null when that is not known. */
export function savedTime(evidence: LoopEvidence, writtenMs: number | null): number | null {
  if (writtenMs === null || writtenMs <= 0 || evidence.endToken <= 0) return null;
  return (evidence.savedTokens * writtenMs) / (evidence.endToken + 1);
}

/** One copy as it is shown: a run of blank text has no other name than its size. A loop is found in the middle of a word as
 *  well as anywhere: since it goes round, it is shown from where a sentence begins in it. */
export function quoteOf({ text, kind }: LoopEvidence): string {
  if (kind === 'entries') return text.trim();
  const line = text.replace(/\s+/g, ' ').trim();
  const begin = sentenceIn(line);
  return begin === 0 ? line : `${line.slice(begin)} ${line.slice(0, begin)}`.trim();
}

const SENTENCE_END = /[.!?…。！？]["'”’)]*\s+(?=\S)/u;

/** Behind the first end of a sentence; 0 where the text begins with one, or has none. */
function sentenceIn(text: string): number {
  if (/^[\p{Lu}\p{N}#*>-]/u.test(text)) return 0;
  const end = SENTENCE_END.exec(text);
  return end ? end.index + end[0].length : 0;
}

/** A guess is told as one: 47 minutes are "about 45 minutes". */
export function roundTime(ms: number): number {
  const steps = [1000, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];
  const step = steps.findLast((size) => ms >= size * 4) ?? 1000;
  return Math.max(1000, Math.round(ms / step) * step);
}

/** The loops of an answer that are history: all but the one that is asked about. */
export const decidedLoops = ({ loops, state }: Message): readonly LoopEvidence[] =>
  state.status === 'paused' && state.evidence ? loops.slice(0, -1) : loops;
