import type { LoopEvidence, Message } from '../../../../app/protocol/index.ts';

/** The bar of the loop card: new tokens, repeated ones, and what the rest of the budget would have cost. */
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

/** One repetition as shown; blank text is described by its size. A detected loop may start in the middle of a word: since
 *  it is cyclic, it is shown from the start of a sentence in it. */
export function quoteOf({ text, kind }: LoopEvidence): string {
  if (kind === 'entries') return text.trim();
  const line = text.replace(/\s+/g, ' ').trim();
  const begin = sentenceIn(line);
  return begin === 0 ? line : `${line.slice(begin)} ${line.slice(0, begin)}`.trim();
}

const SENTENCE_END = /[.!?…。！？]["'”’)]*\s+(?=\S)/u;

/** The position after the first end of a sentence; 0 if the text begins with a sentence, or has none. */
function sentenceIn(text: string): number {
  if (/^[\p{Lu}\p{N}#*>-]/u.test(text)) return 0;
  const end = SENTENCE_END.exec(text);
  return end ? end.index + end[0].length : 0;
}

/** Rounds an estimate so that it reads as one: 47 minutes are "about 45 minutes". */
export function roundTime(ms: number): number {
  const steps = [1000, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];
  const step = steps.findLast((size) => ms >= size * 4) ?? 1000;
  return Math.max(1000, Math.round(ms / step) * step);
}

/** The loops of an answer that are settled: all but the one being asked about. */
export const decidedLoops = ({ loops, state }: Message): readonly LoopEvidence[] =>
  state.status === 'paused' && state.evidence ? loops.slice(0, -1) : loops;
