import type { LoopEvidence, Message } from '../../app/protocol/index.ts';

/** The strip of the loop card: tokens that said something, copies, and what the rest of the budget would have cost. */
export type Strip = { fresh: number; repeated: number; saved: number; marks: number };

const MOST_MARKS = 24;

export function stripOf({ last, spentTokens, savedTokens, copies }: LoopEvidence): Strip {
  return {
    fresh: Math.max(0, last + 1 - spentTokens),
    repeated: spentTokens,
    saved: savedTokens,
    marks: Math.max(1, Math.min(MOST_MARKS, copies - 1)),
  };
}

/** Milliseconds that the saved tokens would have taken at the speed so far; null when that is not known. */
export function savedTime(evidence: LoopEvidence, writtenMs: number | null): number | null {
  if (writtenMs === null || writtenMs <= 0 || evidence.last <= 0) return null;
  return (evidence.savedTokens * writtenMs) / (evidence.last + 1);
}

/** One copy as it is shown: a run of blank text has no other name than its size. */
export const quoteOf = ({ text }: LoopEvidence): string => text.replace(/\s+/g, ' ').trim();

/** The loops of an answer that are history: all but the one that is asked about. */
export const decidedLoops = ({ loops, state }: Message): readonly LoopEvidence[] =>
  state.at === 'paused' && state.evidence ? loops.slice(0, -1) : loops;
